package sampling

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Against distribution functions and quantiles in closed form or from gonum.
func TestTabulated(t *testing.T) {
	inf := math.Inf(1)
	type reference interface {
		CDF(x float64) float64
		LogProb(x float64) float64
	}
	twoNormals := mixedCDF{distuv.Normal{Mu: -40, Sigma: 0.1}, distuv.Normal{Mu: 300, Sigma: 2}}
	for _, c := range []struct {
		name         string
		lower, upper float64
		ref          reference
		logZ         float64 // added to the log density, to be found again
		points       []float64
		tol          float64
	}{
		{"normal", -inf, inf, distuv.Normal{Mu: 0, Sigma: 1}, 0, nil, 1e-10},
		{"normal far out", -inf, inf, distuv.Normal{Mu: 1e6, Sigma: 1}, 700, nil, 1e-8},
		{"normal narrow", -inf, inf, distuv.Normal{Mu: -3, Sigma: 1e-6}, -2000, nil, 1e-8},
		{"two normals", -inf, inf, twoNormals, 5, nil, 1e-10},
		{"Cauchy", -inf, inf, Cauchy{Location: 5, Scale: 2}, 0, nil, 1e-10},
		{"Laplace", -inf, inf, Laplace{Location: 5, Scale: 2}, 0, nil, 1e-10},
		{"gamma", 0, inf, distuv.Gamma{Alpha: 3, Beta: 2}, 1, nil, 1e-10},
		{"gamma far out", 0, inf, distuv.Gamma{Alpha: 1e6, Beta: 1}, 1, nil, 1e-8},
		{"exponential", 0, inf, Exponential{Rate: 1e-3}, 0, nil, 1e-10},
		{"mirrored exponential", -inf, 0, mirrored{Exponential{Rate: 4}}, 0, nil, 1e-10},
		{"beta", 0, 1, distuv.Beta{Alpha: 2, Beta: 2}, 0, nil, 1e-10},
		{"beta steep", 0, 1, distuv.Beta{Alpha: 1.2, Beta: 30}, 0, nil, 1e-10},
		{"triangular", -1, 2, Triangular{Lower: -1, Mode: 0.5, Upper: 2}, -3, []float64{0.5}, 1e-10},
		{"uniform in a wide interval", -100, 100, Triangular{Lower: 3, Mode: 3, Upper: 4}, -3, nil, 1e-10},
	} {
		d, err := NewTabulated(func(x float64) float64 { return c.ref.LogProb(x) + c.logZ }, c.lower, c.upper, &TabulatedOptions{Tol: c.tol, Points: c.points})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d.Error > c.tol || math.Abs(d.LogZ-c.logZ) > c.tol {
			t.Errorf("%s: error %v, log Z %v, want %v", c.name, d.Error, d.LogZ, c.logZ)
		}
		// The promise: |h(h⁻¹(u)) − u| ≤ Error, up to what the rounding of x
		// does to h and the accuracy of gonum's functions.
		for i := range 2000 {
			u := (float64(i) + 0.37) / 2000
			x := d.Quantile(u)
			tol := d.Error + 1e-13 + 4*epsilon*math.Abs(x)*math.Exp(c.ref.LogProb(x))
			if c.name == "gamma far out" {
				tol += 1e-8 // gonum's incomplete gamma function
			}
			if got := c.ref.CDF(x); math.Abs(got-u) > tol {
				t.Errorf("%s: u = %v comes back as %v, off by %.3g where %.3g is stated", c.name, u, got, got-u, d.Error)
				break
			}
			if got, want := d.CDF(x), c.ref.CDF(x); math.Abs(got-want) > tol {
				t.Errorf("%s: CDF(%v) = %v, want %v", c.name, x, got, want)
				break
			}
			if got, want := d.LogProb(x), c.ref.LogProb(x); math.Abs(got-want) > c.tol+1e-9*math.Abs(want) {
				t.Errorf("%s: LogProb(%v) = %v, want %v", c.name, x, got, want)
				break
			}
		}
		followsCDF(t, c.name, Draws(newRand(1), 20_000, d.Draw), c.ref.CDF)
		if d.CDF(-inf) != 0 || d.CDF(inf) != 1 {
			t.Errorf("%s: CDF from %v to %v", c.name, d.CDF(-inf), d.CDF(inf))
		}
		for _, u := range []float64{0, 0x1p-53, 1 - 0x1p-53, 1} {
			if x := d.Quantile(u); math.IsNaN(x) || x < c.lower || x > c.upper {
				t.Errorf("%s: Quantile(%v) = %v", c.name, u, x)
			}
		}
	}
}

type mixedCDF [2]distuv.Normal

func (m mixedCDF) CDF(x float64) float64 { return 0.5 * (m[0].CDF(x) + m[1].CDF(x)) }
func (m mixedCDF) LogProb(x float64) float64 {
	a, b := m[0].LogProb(x), m[1].LogProb(x)
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b))) - math.Ln2
}

type mirrored struct{ Exponential }

func (m mirrored) CDF(x float64) float64     { return 1 - m.Exponential.CDF(-x) }
func (m mirrored) LogProb(x float64) float64 { return m.Exponential.LogProb(-x) }

// Mixtures of a few components with scales over six orders of magnitude, and
// jumps where a component is cut off.
func TestTabulatedRandomDensities(t *testing.T) {
	rng := newRand(9)
	for trial := range 50 {
		k := 1 + rng.IntN(4)
		parts, points := make([]closedForm, k), make([]float64, k)
		for i := range parts {
			at, scale := 100*rng.NormFloat64(), math.Pow(10, 6*rng.Float64()-3)
			points[i] = at
			switch rng.IntN(4) {
			case 0:
				parts[i] = Logistic{at, scale}
			case 1:
				parts[i] = Laplace{at, scale}
			case 2:
				parts[i] = Cauchy{at, scale}
			case 3:
				parts[i] = Triangular{at - scale, at, at}
			}
		}
		logs := make([]float64, k)
		logp := func(x float64) float64 {
			for i, p := range parts {
				logs[i] = p.LogProb(x)
			}
			return num.LogSumExp(logs)
		}
		d, err := NewTabulated(logp, math.Inf(-1), math.Inf(1), &TabulatedOptions{Points: points})
		if err != nil {
			t.Errorf("trial %d, %+v: %v", trial, parts, err)
			continue
		}
		if want := math.Log(float64(k)); math.Abs(d.LogZ-want) > 1e-8 {
			t.Errorf("trial %d, %+v: log Z = %v, want %v", trial, parts, d.LogZ, want)
		}
		before := math.Inf(-1)
		for i := range 500 {
			u := (float64(i) + 0.5) / 500
			x := d.Quantile(u)
			var got, slope float64
			for _, p := range parts {
				got += p.CDF(x) / float64(k)
				slope += math.Exp(p.LogProb(x)) / float64(k)
			}
			if math.Abs(got-u) > 1.1*d.Error+4*epsilon*math.Abs(x)*slope || !(x > before) {
				t.Errorf("trial %d, %+v: u = %v becomes %v after %v and comes back as %v", trial, parts, u, x, before, got)
				break
			}
			before = x
		}
	}
}

func TestTabulatedTolerance(t *testing.T) {
	before := 0
	for _, tol := range []float64{1e-4, 1e-7, 1e-10, 1e-12} {
		d, err := NewTabulated(normalLogProb, math.Inf(-1), math.Inf(1), &TabulatedOptions{Tol: tol})
		if err != nil {
			t.Fatal(err)
		}
		if d.Error > tol || d.Len() <= before {
			t.Errorf("tolerance %v: error %v with %d cells, %d before", tol, d.Error, d.Len(), before)
		}
		before = d.Len()
	}
}

func TestTabulatedBadInput(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, c := range map[string]struct {
		f            func(x float64) float64
		lower, upper float64
		density      bool // a *DensityError, otherwise a *lvm.DataError
	}{
		"constant":         {func(float64) float64 { return 0 }, -inf, inf, false},
		"constant above 0": {func(float64) float64 { return 0 }, 0, inf, false},
		"1/x":              {func(x float64) float64 { return -math.Log(x) }, 1, inf, false},
		"growing":          {func(x float64) float64 { return x }, 0, inf, false},
		"heavy tail":       {func(x float64) float64 { return -1.01 * math.Log(x) }, 1, inf, false},
		"no mass":          {func(x float64) float64 { return -inf }, -inf, inf, false},
		"no mass, finite":  {func(x float64) float64 { return -inf }, 0, 1, false},
		"reversed":         {normalLogProb, 1, 0, false},
		"empty":            {normalLogProb, 1, 1, false},
		"NaN bound":        {normalLogProb, nan, 1, false},
		"NaN":              {func(x float64) float64 { return nan }, 0, 1, true},
		"NaN somewhere":    {func(x float64) float64 { return math.Log(x) - x*x }, -inf, inf, true},
		"pole":             {func(x float64) float64 { return -0.5 * math.Log(x) }, 0, 1, true},
		"pole inside":      {func(x float64) float64 { return -0.5*math.Log(math.Abs(x-0.123)) - x*x }, -inf, inf, true},
	} {
		d, err := NewTabulated(c.f, c.lower, c.upper, nil)
		var density *DensityError
		var data *lvm.DataError
		if d != nil || c.density && !errors.As(err, &density) || !c.density && !errors.As(err, &data) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
