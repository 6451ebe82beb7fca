package sampling

import (
	"strings"
	"testing"
)

// TestCombinedKernelsAdapt: inside a cycle or a mixture each kernel is tuned
// by its own part of the steps, and settles.
func TestCombinedKernelsAdapt(t *testing.T) {
	g := correlated()
	for name, c := range map[string]func(a, b Kernel[vectors]) Kernel[vectors]{
		"cycle":   func(a, b Kernel[vectors]) Kernel[vectors] { return &Cycle[vectors]{Kernels: []Kernel[vectors]{a, b}} },
		"mixture": func(a, b Kernel[vectors]) Kernel[vectors] { return &Mixture[vectors]{Kernels: []Kernel[vectors]{a, b}} },
		"rare": func(a, b Kernel[vectors]) Kernel[vectors] {
			return &Mixture[vectors]{Kernels: []Kernel[vectors]{a, b}, Weights: []float64{0.01, 1}}
		},
	} {
		nuts, walk := &NUTS{Gradient: g.grad}, &AdaptiveMetropolis{LogDensity: g.logp, Scale: 50}
		kernel := c(nuts, walk)
		x, err := BurnIn(newRand(1), kernel, []float64{1, -1}, 2000)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		eps, _ := nuts.Tuning()
		scale, _ := walk.Proposal()
		if !(eps > 0.1 && eps < 10) || !(scale > 0.1 && scale < 30) {
			t.Errorf("%s: step size %v, scale %v", name, eps, scale)
		}
		if nuts.h.tuner != nil {
			t.Errorf("%s: NUTS has not settled", name)
		}
		chain, err := Run(newRand(2), kernel, x, 20_000, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if z := g.zScores([]*Chain[vectors]{chain}); worst(z) > tooFar {
			t.Errorf("%s: moments %.2f standard errors off", name, z)
		}
	}
}

func TestFixedDoesNotAdapt(t *testing.T) {
	g := correlated()
	nuts := &NUTS{Gradient: g.grad, StepSize: 0.3}
	if _, err := Run(newRand(1), Fixed[vectors]{nuts}, []float64{0, 0}, 10, &RunOptions{BurnIn: 200}); err != nil {
		t.Fatal(err)
	}
	if eps, cov := nuts.Tuning(); eps != 0.3 || cov.At(1, 1) != 1 {
		t.Errorf("step size %v, M⁻¹ %v", eps, cov)
	}
}

func TestProblems(t *testing.T) {
	var rising []Info // energies 1 … 8: jumps 7, spread 42
	for e := 1.0; e <= 8; e++ {
		rising = append(rising, Info{Energy: e})
	}
	chains := []*Chain[vectors]{{Steps: 8}, {Steps: 8, Divergences: 2}, {Steps: 8, Invalid: 1}, {Steps: 8, Infos: rising}}
	p := Problems(chains)
	for i, want := range []string{"chain 1: 2 of 8 trajectories diverged", "chain 2: the log density was NaN in 1 of 8", "chain 3: the energy fraction is 0.17"} {
		if len(p) != 3 || !strings.HasPrefix(p[i], want) {
			t.Fatalf("problems %q", p)
		}
	}
}
