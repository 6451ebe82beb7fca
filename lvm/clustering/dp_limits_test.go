package clustering

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/sampling"
)

// A single row, equal rows, data far from zero or in odd units, α of any size:
// the samplers go on, and what they report are numbers.
func TestDPLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 50} {
		for _, unit := range []float64{0, 1, 1e-120, 1e120} {
			for _, far := range []float64{0, 1e12} {
				x, u := mat.NewDense(n, 2, nil), max(unit, 1e-120)
				x.Apply(func(_, _ int, _ float64) float64 { return far + unit*rng.NormFloat64() }, x)
				conjugate := NIW{Mean: []float64{far, far}, Kappa: 0.1, Nu: 4, Scale: mat.NewSymDense(2, []float64{u * u, 0, 0, u * u})}
				other := DiagonalGaussian{Mean: []float64{far, far}, SD: []float64{u, u}, Shape: 2, Rate: []float64{u * u, u * u}}
				for _, alpha := range []float64{1e-300, 1e-3, 1, 1e6, 1e300} {
					a := &DPGibbs{X: x, Prior: conjugate, SplitMerge: 3}
					steps(t, rng, a, DPState{Z: make([]int, n), Alpha: alpha})
					b := &AuxiliaryGibbs[DiagonalParams]{X: x, Model: other, AlphaPrior: &GammaPrior{1, 1}}
					steps(t, rng, b, DPParams[DiagonalParams]{Z: make([]int, n), Alpha: alpha})
				}
			}
		}
	}
}

// steps takes five steps.
func steps[S any](t *testing.T, rng *rand.Rand, k sampling.Kernel[S], s S) {
	t.Helper()
	for range 5 {
		next, info := k.Step(rng, s)
		if info.Err != nil || math.IsNaN(info.LogDensity) || !(info.Acceptance >= 0 && info.Acceptance < 1+1e-12) {
			t.Fatalf("%+v", info)
		}
		s = next
	}
}

// With all rows in one cluster and a vague prior of α, half of its draws are below
// the smallest float64, and so it is with draws of a precision. The chains go on.
func TestVaguePriors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(30, 1, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	prior, err := DataNIW(x)
	if err != nil {
		t.Fatal(err)
	}
	vague := &GammaPrior{0.001, 0.001}
	a := &DPGibbs{X: x, Prior: prior, AlphaPrior: vague, SplitMerge: 1}
	b := &AuxiliaryGibbs[DiagonalParams]{X: x, Model: DiagonalGaussian{Mean: []float64{0}, SD: []float64{1}, Shape: 0.001, Rate: []float64{0.001}}, AlphaPrior: vague, Auxiliary: 1}
	for range 20 {
		steps(t, rng, a, DPState{Z: make([]int, 30), Alpha: 1})
		steps(t, rng, b, DPParams[DiagonalParams]{Z: make([]int, 30), Alpha: 1})
	}
}
