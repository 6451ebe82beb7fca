package sampling

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
)

// concave is a log-concave density with its slope and distribution function.
type concave struct {
	lower, upper float64
	h            func(x float64) (logp, slope float64)
	cdf          func(x float64) float64
}

func concaves() map[string]concave {
	inf := math.Inf(1)
	normal := func(mu, sigma float64) func(x float64) (float64, float64) {
		return func(x float64) (float64, float64) {
			z := (x - mu) / sigma
			return -0.5 * z * z, -z / sigma
		}
	}
	gamma := func(alpha, beta float64) func(x float64) (float64, float64) {
		return func(x float64) (float64, float64) {
			if x <= 0 {
				return -inf, 0
			}
			return (alpha-1)*math.Log(x) - beta*x, (alpha-1)/x - beta
		}
	}
	tail := math.Erfc(3/math.Sqrt2) / 2
	return map[string]concave{
		"normal":  {0, 0, normal(0, 1), normalCDF},
		"far out": {0, 0, normal(1e6, 1), func(x float64) float64 { return normalCDF(x - 1e6) }},
		"narrow":  {0, 0, normal(0.1234, 1e-6), func(x float64) float64 { return normalCDF((x - 0.1234) / 1e-6) }},
		"gamma":   {0, inf, gamma(2.5, 3), distuv.Gamma{Alpha: 2.5, Beta: 3}.CDF},
		"hidden end": {-inf, inf, func(x float64) (float64, float64) {
			if x < 0 || x > 3 {
				return -inf, 0
			}
			return -x, -1
		}, func(x float64) float64 { return math.Expm1(-min(max(x, 0), 3)) / math.Expm1(-3) }},
		"hidden bound":  {-inf, inf, gamma(2.5, 3), distuv.Gamma{Alpha: 2.5, Beta: 3}.CDF},
		"normal's tail": {3, inf, normal(0, 1), func(x float64) float64 { return 1 - math.Erfc(x/math.Sqrt2)/2/tail }},
		"logistic": {0, 0, func(x float64) (float64, float64) {
			return Logistic{Scale: 1}.LogProb(x), 1 - 2*sigmoid(x)
		}, Logistic{Scale: 1}.CDF},
		"exponential": {0, inf, func(x float64) (float64, float64) { return -2 * x, -2 }, Exponential{Rate: 2}.CDF},
		"Laplace": {0, 0, func(x float64) (float64, float64) { return -math.Abs(x - 0.3), -math.Copysign(1, x-0.3) },
			Laplace{Location: 0.3, Scale: 1}.CDF},
		"uniform": {-1, 3, func(x float64) (float64, float64) { return 0, 0 }, func(x float64) float64 { return (x + 1) / 4 }},
		"rising":  {-inf, 2, func(x float64) (float64, float64) { return x, 1 }, func(x float64) float64 { return math.Exp(x - 2) }},
		"beta": {0, 1, func(x float64) (float64, float64) {
			return math.Log(x) + 2*math.Log1p(-x), 1/x - 2/(1-x)
		}, distuv.Beta{Alpha: 2, Beta: 3}.CDF},
		"Gumbel": {0, 0, func(x float64) (float64, float64) { return x - math.Exp(x), 1 - math.Exp(x) },
			func(x float64) float64 { return -math.Expm1(-math.Exp(x)) }},
	}
}

func TestAdaptiveRejection(t *testing.T) {
	const n = 20_000
	for name, c := range concaves() {
		for _, a := range []*AdaptiveRejection{
			{Gradient: c.h, Lower: c.lower, Upper: c.upper},
			{LogDensity: func(x float64) float64 { h, _ := c.h(x); return h }, Lower: c.lower, Upper: c.upper},
			{Gradient: c.h, Lower: c.lower, Upper: c.upper, MaxPoints: 5},
		} {
			what := fmt.Sprintf("%s (chords: %v, points: %d)", name, a.Gradient == nil, a.MaxPoints)
			x, err := a.Sample(newRand(1), n)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if a.MaxPoints > 5 && (a.Acceptance() < 0.98 || a.Evaluations() > 300) {
				t.Errorf("%s: acceptance %v, %d evaluations for %d draws", what, a.Acceptance(), a.Evaluations(), n)
			}
			between(t, what, a, c.h, x)
			followsCDF(t, what, x, c.cdf)
		}
	}
	c := concaves()["gamma"]
	x, _ := (&AdaptiveRejection{Gradient: c.h, Upper: math.Inf(1)}).Sample(newRand(2), n)
	if p := kolmogorov(x, distuv.Gamma{Alpha: 2.6, Beta: 3}.CDF); p > tooUnlikely {
		t.Errorf("Gamma(2.5) passes for Gamma(2.6): p = %v", p)
	}
}

// between checks that the hulls hold the log density between them.
func between(t *testing.T, what string, a *AdaptiveRejection, h func(float64) (float64, float64), x []float64) {
	t.Helper()
	for _, v := range x[:1000] {
		logp, _ := h(v)
		lower, upper := a.LowerHull(v), a.UpperHull(v)
		if tol := tolerance(logp); logp > upper+tol || logp < lower-tol {
			t.Errorf("%s: at %v the log density %v is not between %v and %v", what, v, logp, lower, upper)
			return
		}
	}
	for _, v := range a.Points() {
		if logp, _ := h(v); math.Abs(a.LowerHull(v)-logp) > tolerance(logp) {
			t.Errorf("%s: at the point %v the lower hull is %v, not %v", what, v, a.LowerHull(v), logp)
		}
	}
}

// The first proposals from a hull of three tangents are accepted with the
// probability ∫p̃/∫envelope, which has a closed form for the normal
// distribution and tangents at −1, 0 and 1.
func TestAdaptiveRejectionEnvelope(t *testing.T) {
	c := concaves()["normal"]
	a := &AdaptiveRejection{Gradient: c.h, Start: []float64{-1, 0, 1}}
	if err := a.begin(); err != nil {
		t.Fatal(err)
	}
	// It adds a point to either side. The tangents at ±2 meet those at ±1 at
	// ±1.5, and those meet that at 0 at ±½.
	if got := a.Points(); !slices.Equal(got, []float64{-2, -1, 0, 1, 2}) {
		t.Fatalf("points %v", got)
	}
	area := 2 * (0.5 + (1 - math.Exp(-1)) + math.Exp(-1)/2)
	want := math.Sqrt(2*math.Pi) / area
	rng := newRand(1)
	const n = 50_000
	var x []float64
	for range n {
		v, upper, lower := a.propose(rng)
		if math.Abs(upper-a.UpperHull(v)) > 1e-12 || lower != a.LowerHull(v) && math.Abs(lower-a.LowerHull(v)) > 1e-12 {
			t.Fatalf("the hulls at %v are %v and %v, not %v and %v", v, upper, lower, a.UpperHull(v), a.LowerHull(v))
		}
		if math.Log(openUniform(rng)) <= -0.5*v*v-upper {
			x = append(x, v)
		}
	}
	near(t, "acceptance", Estimate{float64(len(x)) / n, math.Sqrt(want * (1 - want) / n)}, want)
	followsCDF(t, "fixed envelope", x, normalCDF)
}

// Random concave functions: sums of −a|x − b|^p with p from 1, where they have
// kinks, to 4, over six orders of magnitude. The tabulated inversion is the
// other route.
func TestAdaptiveRejectionRandomDensities(t *testing.T) {
	rng := newRand(5)
	for trial := range 30 {
		k := 1 + rng.IntN(3)
		a, b, p := make([]float64, k), make([]float64, k), make([]float64, k)
		for i := range k {
			a[i], b[i], p[i] = math.Pow(10, 3*rng.NormFloat64()/2), 10*rng.NormFloat64(), 1+3*rng.Float64()*float64(rng.IntN(2))
		}
		h := func(x float64) (logp, slope float64) {
			for i := range k {
				z := math.Abs(x - b[i])
				logp -= a[i] * math.Pow(z, p[i])
				slope -= math.Copysign(a[i]*p[i]*math.Pow(z, p[i]-1), x-b[i])
			}
			return logp, slope
		}
		logp := func(x float64) float64 { l, _ := h(x); return l }
		table, err := NewTabulated(logp, math.Inf(-1), math.Inf(1), &TabulatedOptions{Points: b})
		if err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		for _, ars := range []*AdaptiveRejection{{Gradient: h}, {LogDensity: logp}} {
			x, err := ars.Sample(newRand(uint64(trial)), 3000)
			if err != nil {
				t.Errorf("trial %d, a = %v, b = %v, p = %v (chords: %v): %v", trial, a, b, p, ars.Gradient == nil, err)
				continue
			}
			followsCDF(t, fmt.Sprintf("trial %d, a = %v, b = %v, p = %v", trial, a, b, p), x, table.CDF)
		}
	}
}

func TestAdaptiveRejectionNotConcave(t *testing.T) {
	inf := math.Inf(1)
	for name, h := range map[string]func(x float64) (float64, float64){
		"Cauchy": func(x float64) (float64, float64) { return -math.Log1p(x * x), -2 * x / (1 + x*x) },
		"two modes": func(x float64) (float64, float64) {
			a, b := math.Exp(-0.5*(x-3)*(x-3)), math.Exp(-0.5*(x+3)*(x+3))
			return math.Log(a + b), (-(x-3)*a - (x+3)*b) / (a + b)
		},
		"a gap": func(x float64) (float64, float64) {
			if math.Abs(x) < 0.5 {
				return -inf, 0
			}
			return -0.5 * x * x, -x
		},
		"a notch": func(x float64) (float64, float64) {
			return -0.5*x*x - 0.1*math.Exp(-50*(x-1)*(x-1)), -x + 10*(x-1)*math.Exp(-50*(x-1)*(x-1))
		},
	} {
		for _, a := range []*AdaptiveRejection{
			{Gradient: h, MaxPoints: 200},
			{LogDensity: func(x float64) float64 { v, _ := h(x); return v }, MaxPoints: 200},
			{Gradient: h, MaxPoints: 5},
		} {
			if a.MaxPoints == 5 && name == "a notch" {
				continue // chords of five points pass below it
			}
			_, err := a.Sample(newRand(3), 100_000)
			var concavity *ConcavityError
			if !errors.As(err, &concavity) {
				t.Errorf("%s (chords: %v): %v", name, a.Gradient == nil, err)
				continue
			}
			if _, again := a.Draw(newRand(1)); again != err {
				t.Errorf("%s: the error does not stay: %v", name, again)
			}
		}
	}
}

func TestAdaptiveRejectionBadInput(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	constant := func(v float64) func(float64) (float64, float64) {
		return func(float64) (float64, float64) { return v, 0 }
	}
	for name, a := range map[string]*AdaptiveRejection{
		"constant":        {Gradient: constant(0)},
		"constant above":  {Gradient: constant(0), Upper: inf},
		"constant, chord": {LogDensity: func(float64) float64 { return 0 }},
		"growing":         {Gradient: func(x float64) (float64, float64) { return x, 1 }},
		"no mass":         {Gradient: constant(-inf)},
		"NaN":             {Gradient: constant(nan)},
		"NaN, chord":      {LogDensity: func(float64) float64 { return nan }},
		"infinite":        {Gradient: constant(inf)},
		"NaN slope":       {Gradient: func(x float64) (float64, float64) { return -x * x, nan }},
		"reversed":        {Gradient: constant(0), Lower: 1, Upper: 0},
		"start outside":   {Gradient: constant(0), Lower: 0, Upper: 1, Start: []float64{0.5, 2}},
		"start NaN":       {Gradient: constant(0), Lower: 0, Upper: 1, Start: []float64{nan}},
		"no room": {Gradient: func(x float64) (float64, float64) {
			if x == 0.5 {
				return 0, 0
			}
			return -inf, 0
		}, Lower: 0, Upper: 1, Start: []float64{0.5}},
	} {
		x, err := a.Draw(newRand(1))
		var data *lvm.DataError
		var density *DensityError
		if !math.IsNaN(x) || !errors.As(err, &data) && !errors.As(err, &density) {
			t.Errorf("%s: %v, %v", name, x, err)
		}
	}
}

// A density that turns bad where the draws come to later stops them there.
func TestAdaptiveRejectionMeetsNaN(t *testing.T) {
	h := func(x float64) (float64, float64) {
		if math.Abs(x-1.3) < 0.2 {
			return math.NaN(), 0
		}
		return -x * x / 2, -x
	}
	for _, a := range []*AdaptiveRejection{
		{Gradient: h, Start: []float64{-1, 1}}, {LogDensity: func(x float64) float64 { v, _ := h(x); return v }, Start: []float64{-2, -1, 1, 2}},
	} {
		x, err := a.Sample(newRand(1), 100_000)
		var density *DensityError
		if !errors.As(err, &density) || len(x) == 0 || math.Abs(density.At[0]-1.3) > 0.2 {
			t.Errorf("%d draws, then %v", len(x), err)
		}
	}
}

func TestAdaptiveRejectionDoesNotAllocate(t *testing.T) {
	a := &AdaptiveRejection{Gradient: concaves()["gamma"].h, Upper: math.Inf(1), MaxPoints: 10}
	rng := newRand(1)
	if _, err := a.Sample(rng, 1000); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() { _, _ = a.Draw(rng) }); n != 0 {
		t.Errorf("%v allocations per draw", n)
	}
}
