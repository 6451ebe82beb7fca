package sampling

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

func TestSliceInvariance(t *testing.T) {
	for name, g := range map[string]target{"Gaussian": correlated(), "funnel": funnel(), "banana": banana(), "modes": modes()} {
		for _, w := range []float64{0.2, 1, 10} {
			leavesInvariant(t, fmt.Sprintf("slice of width %v on %s", w, name), g, func() *Slice { return &Slice{LogDensity: g.logp, Width: w} })
		}
		// A bound on stepping out that is hit all the time.
		leavesInvariant(t, "slice with at most 2 widths on "+name, g, func() *Slice { return &Slice{LogDensity: g.logp, Width: 0.3, MaxSteps: 2} })
		longRun(t, "slice on "+name, g, func() *Slice { return &Slice{LogDensity: g.logp, Width: 2} }, 10_000, nil)
	}
}

// TestSliceSupport: a uniform distribution on an interval, where all the
// density says is inside or outside.
func TestSliceSupport(t *testing.T) {
	inside := func(x []float64) float64 {
		if x[0] < 2 || x[0] > 5 {
			return math.Inf(-1)
		}
		return 0
	}
	chain, err := Run(newRand(1), &Slice{LogDensity: inside}, []float64{2.1}, 20_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := Extract([]*Chain[vectors]{chain}, func(x []float64) float64 { return x[0] })
	if z := (mean(x[0]) - 3.5) / MCSEMean(x); math.Abs(z) > tooFar {
		t.Errorf("mean %v", mean(x[0]))
	}
	if v := variance(x[0]); math.Abs(v-0.75) > 0.03 {
		t.Errorf("variance %v, want 0.75", v)
	}
}

// TestEllipticalSlice: a Gaussian likelihood makes the posterior Gaussian,
// Σ' = (Σ⁻¹ + I/s²)⁻¹, μ' = Σ'(Σ⁻¹μ + y/s²).
func TestEllipticalSlice(t *testing.T) {
	const s2 = 0.3
	prior, mu, y := decaying(3, 0.8), []float64{1, 0, -1}, []float64{0.5, 2, -3}
	var chol mat.Cholesky
	chol.Factorize(prior)
	var q, post mat.SymDense
	if err := chol.InverseTo(&q); err != nil {
		t.Fatal(err)
	}
	b := mat.NewVecDense(3, nil)
	b.MulVec(&q, mat.NewVecDense(3, mu))
	for i := range 3 {
		q.SetSym(i, i, q.At(i, i)+1/s2)
		b.SetVec(i, b.AtVec(i)+y[i]/s2)
	}
	chol.Factorize(&q)
	if err := chol.InverseTo(&post); err != nil {
		t.Fatal(err)
	}
	b.MulVec(&post, b)
	g := gaussianTarget(b.RawVector().Data, &post)
	logl := func(x []float64) float64 {
		var s float64
		for i, v := range x {
			s -= (v - y[i]) * (v - y[i]) / (2 * s2)
		}
		return s
	}
	newKernel := func() *EllipticalSlice { return &EllipticalSlice{LogLikelihood: logl, Mean: mu, Cov: prior} }
	leavesInvariant(t, "elliptical slice", g, newKernel)
	longRun(t, "elliptical slice", g, newKernel, 20_000, nil)
	doesNotAllocate(t, "EllipticalSlice", newKernel(), mu)
	doesNotAllocate(t, "Slice", &Slice{LogDensity: g.logpNoAlloc()}, []float64{0, 0, 0})

	// The control: the prior mean forgotten.
	if z := afterSteps(g, func() *EllipticalSlice { return &EllipticalSlice{LogLikelihood: logl, Cov: prior} }, 20_000, 3); worst(z) < 2*tooFar {
		t.Errorf("a wrong prior mean goes unnoticed: %.2f", z)
	}
}

// logpNoAlloc is logp with scratch of its own.
func (g target) logpNoAlloc() func(x []float64) float64 {
	grad := make([]float64, 3)
	return func(x []float64) float64 { return g.grad(x, grad) }
}

func TestSliceBounded(t *testing.T) {
	// An improper density: the interval would be stepped out for ever.
	evals := 0
	flat := func([]float64) float64 { evals++; return 0 }
	if _, info := (&Slice{LogDensity: flat}).Step(newRand(1), []float64{0}); info.Err != nil || evals > 110 {
		t.Errorf("%d evaluations of a flat density, %v", evals, info.Err)
	}
	// Densities that are not functions: lower at every new call, and NaN
	// everywhere but at the start.
	down := 0.0
	falling := func([]float64) float64 { down -= 1000; return down }
	for name, f := range map[string]func([]float64) float64{
		"falling": falling,
		"NaN": func(x []float64) float64 {
			if x[0] == 0.5 {
				return 0
			}
			return math.NaN()
		},
	} {
		x, info := (&Slice{LogDensity: f}).Step(newRand(1), []float64{0.5})
		if info.Err != nil || !info.Invalid || math.Abs(x[0]-0.5) > 1e-9 || info.Evaluations > 3*maxShrink {
			t.Errorf("%s: state %v after %d evaluations, invalid %v, %v", name, x, info.Evaluations, info.Invalid, info.Err)
		}
		x, info = (&EllipticalSlice{LogLikelihood: f}).Step(newRand(1), []float64{0.5})
		if info.Err != nil || !info.Invalid || math.Abs(x[0]-0.5) > 1e-9 || info.Evaluations > 3*maxShrink {
			t.Errorf("elliptical, %s: state %v after %d evaluations, invalid %v, %v", name, x, info.Evaluations, info.Invalid, info.Err)
		}
	}
}

func TestSliceBadInput(t *testing.T) {
	var shape *lvm.ShapeError
	var density *DensityError
	nan := func([]float64) float64 { return math.NaN() }
	pole := func(x []float64) float64 {
		if x[0] != 0 {
			return math.Inf(1)
		}
		return 0
	}
	for _, k := range []Kernel[vectors]{&Slice{LogDensity: nan}, &EllipticalSlice{LogLikelihood: nan}, &Slice{LogDensity: pole}, &EllipticalSlice{LogLikelihood: pole}} {
		if _, info := k.Step(newRand(1), []float64{0}); !errors.As(info.Err, &density) {
			t.Errorf("%T: %v", k, info.Err)
		}
		if _, info := k.Step(newRand(1), nil); !errors.As(info.Err, &shape) {
			t.Errorf("%T without a state: %v", k, info.Err)
		}
	}
	if _, info := (&Slice{LogDensity: gauss2, Widths: []float64{1}}).Step(newRand(1), []float64{0, 0}); !errors.As(info.Err, &shape) {
		t.Errorf("too few widths: %v", info.Err)
	}
	if _, info := (&EllipticalSlice{LogLikelihood: gauss2, Mean: []float64{1}}).Step(newRand(1), []float64{0, 0}); !errors.As(info.Err, &shape) {
		t.Errorf("mean too short: %v", info.Err)
	}
}
