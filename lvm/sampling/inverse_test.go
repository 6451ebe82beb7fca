package sampling

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

type closedForm interface {
	LogProb(x float64) float64
	CDF(x float64) float64
	Quantile(u float64) float64
	Draw(rng *rand.Rand) float64
}

func closedForms() map[string]closedForm {
	return map[string]closedForm{
		"Exponential":      Exponential{Rate: 2.5},
		"Cauchy":           Cauchy{Location: -1, Scale: 0.5},
		"Laplace":          Laplace{Location: 3, Scale: 2},
		"Logistic":         Logistic{Location: 1, Scale: 0.7},
		"Triangular":       Triangular{Lower: -1, Mode: 0.5, Upper: 2},
		"Triangular left":  Triangular{Lower: 0, Mode: 0, Upper: 1},
		"Triangular right": Triangular{Lower: 0, Mode: 1, Upper: 1},
	}
}

// Where gonum has the distribution, it is the independent program.
func TestClosedFormsAgainstGonum(t *testing.T) {
	type reference interface {
		LogProb(x float64) float64
		CDF(x float64) float64
	}
	for name, ref := range map[string]reference{
		"Exponential":      distuv.Exponential{Rate: 2.5},
		"Cauchy":           distuv.StudentsT{Mu: -1, Sigma: 0.5, Nu: 1},
		"Laplace":          distuv.Laplace{Mu: 3, Scale: 2},
		"Logistic":         logistic{distuv.Logistic{Mu: 1, S: 0.7}},
		"Triangular":       distuv.NewTriangle(-1, 2, 0.5, nil),
		"Triangular left":  distuv.NewTriangle(0, 1, 0, nil),
		"Triangular right": distuv.NewTriangle(0, 1, 1, nil),
	} {
		d := closedForms()[name]
		for x := -5.0; x < 8; x += 0.0625 {
			// gonum's incomplete beta function, behind StudentsT, is good to
			// about twelve digits.
			if got, want := d.CDF(x), ref.CDF(x); math.Abs(got-want) > 1e-11 {
				t.Errorf("%s: CDF(%v) = %v, gonum has %v", name, x, got, want)
			}
			if got, want := d.LogProb(x), ref.LogProb(x); got != want && math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: LogProb(%v) = %v, gonum has %v", name, x, got, want)
			}
		}
	}
}

// logistic is gonum's, whose LogProb takes no notice of Mu and S.
type logistic struct{ distuv.Logistic }

func (l logistic) LogProb(x float64) float64 { return math.Log(l.Prob(x)) }

// CDF and Quantile are inverse to each other, also far out in the tails.
func TestClosedFormsInvert(t *testing.T) {
	for name, d := range closedForms() {
		for _, u := range []float64{1e-300, 1e-16, 1e-3, 0.1, 0.2499, 0.25, 0.4, 0.5, 0.6, 0.75, 0.7501, 0.9, 0.999} {
			x := d.Quantile(u)
			if x == d.Quantile(0) {
				continue // too close to the end of the support for float64
			}
			// (1+|x|)·p(x)/u says how much of the rounding of x, and of the
			// constants of order one in it, comes back in u.
			tol := 1e-14 * (1 + (1+math.Abs(x))*math.Exp(d.LogProb(x))/u)
			if got := d.CDF(x); math.Abs(got/u-1) > tol {
				t.Errorf("%s: CDF(Quantile(%v)) = %v", name, u, got)
			}
		}
		if lo, hi := d.Quantile(0), d.Quantile(1); d.CDF(lo) != 0 || d.CDF(hi) != 1 {
			t.Errorf("%s: quantiles 0 and 1 are %v and %v", name, lo, hi)
		}
	}
	// (5.11) of notes 000: the median of the exponential is ln 2/γ.
	if got := (Exponential{Rate: 3}).Quantile(0.5); math.Abs(got-math.Ln2/3) > 1e-16 {
		t.Errorf("median %v", got)
	}
}

func TestClosedFormsFollowCDF(t *testing.T) {
	rng := newRand(2)
	for name, d := range closedForms() {
		followsCDF(t, name, Draws(rng, 50_000, d.Draw), d.CDF)
		if p := kolmogorov(Draws(rng, 50_000, d.Draw), func(x float64) float64 { return d.CDF(x + 0.05) }); p > tooUnlikely {
			t.Errorf("%s: draws shifted by 0.05 pass with p = %v", name, p)
		}
	}
	// Any quantile function will do.
	beta := distuv.Beta{Alpha: 2, Beta: 2}
	followsCDF(t, "Beta", Draws(rng, 5000, func(rng *rand.Rand) float64 { return InverseCDF(rng, beta.Quantile) }), beta.CDF)
}

// A source that only returns its smallest or its largest word.
type constantSource uint64

func (s constantSource) Uint64() uint64 { return uint64(s) }

func TestOpenUniform(t *testing.T) {
	lo, hi := openUniform(rand.New(constantSource(0))), openUniform(rand.New(constantSource(math.MaxUint64)))
	if lo != 0x1p-53 || hi != 1-0x1p-53 {
		t.Errorf("the interval is [%v, %v]", lo, hi)
	}
	for name, d := range closedForms() {
		for _, u := range []float64{lo, hi} {
			if x := d.Quantile(u); x-x != 0 {
				t.Errorf("%s: Quantile(%v) = %v", name, u, x)
			}
		}
	}
}

func TestClosedFormsPanic(t *testing.T) {
	for _, f := range []func(){
		func() { Exponential{}.Quantile(0.5) },
		func() { Exponential{Rate: math.NaN()}.LogProb(1) },
		func() { Cauchy{Scale: -1}.CDF(0) },
		func() { Laplace{Scale: math.Inf(1)}.CDF(0) },
		func() { Logistic{}.Draw(newRand(0)) },
		func() { Triangular{Lower: 1, Mode: 0, Upper: 2}.CDF(0) },
		func() { Triangular{}.CDF(0) },
		func() { Exponential{Rate: 1}.Quantile(1.5) },
		func() { Exponential{Rate: 1}.Quantile(math.NaN()) },
		func() { Draws(nil, 1, Exponential{Rate: 1}.Draw) },
		func() { Draws(newRand(0), -1, Exponential{Rate: 1}.Draw) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
}

func TestBoxMuller(t *testing.T) {
	// The determinant of the map is that of the change of variables:
	// N(z) |∂z/∂(u, v)| = 1. Central differences with h = 1e-5 err by about
	// h² times third derivatives, which are below 1e4 here.
	const h = 1e-5
	for _, p := range [][2]float64{{0.1, 0.2}, {0.5, 0.7}, {0.9, 0.01}, {0.3, 0.99}} {
		a1, a2 := BoxMuller(p[0]+h, p[1])
		b1, b2 := BoxMuller(p[0]-h, p[1])
		c1, c2 := BoxMuller(p[0], p[1]+h)
		d1, d2 := BoxMuller(p[0], p[1]-h)
		det := ((a1-b1)*(c2-d2) - (a2-b2)*(c1-d1)) / (4 * h * h)
		z1, z2 := BoxMuller(p[0], p[1])
		density := math.Exp(normalLogProb(z1) + normalLogProb(z2))
		if got := density * math.Abs(det); math.Abs(got-1) > 1e-6 {
			t.Errorf("at %v the densities multiply to %v", p, got)
		}
	}
}

func TestNormalPairs(t *testing.T) {
	const n = 100_000
	for name, pair := range map[string]func(*rand.Rand) (float64, float64){"Box–Muller": NormalPair, "polar": PolarPair} {
		rng := newRand(3)
		a, b, r2 := make([]float64, n), make([]float64, n), make([]float64, n)
		var product float64
		for i := range n {
			a[i], b[i] = pair(rng)
			r2[i] = a[i]*a[i] + b[i]*b[i]
			product += a[i] * b[i]
		}
		followsCDF(t, name+", first", a, normalCDF)
		followsCDF(t, name+", second", b, normalCDF)
		// Independence: ‖z‖² is exponential with mean 2, and E z_1 z_2 = 0
		// with variance 1.
		followsCDF(t, name+", radius", r2, Exponential{Rate: 0.5}.CDF)
		if z := product / math.Sqrt(n); math.Abs(z) > 4 {
			t.Errorf("%s: the pair is correlated, z = %.2f", name, z)
		}
	}
	// A source that never leaves the corner of the square ends all the same.
	if a, b := PolarPair(rand.New(constantSource(math.MaxUint64))); math.IsNaN(a + b) {
		t.Errorf("a broken source gives %v, %v", a, b)
	}
}
