package clustering_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm/clustering"
)

// Six components are offered for the two groups of Old Faithful.
func ExampleFitVBGMM() {
	x, _, _, err := datasets.Standardise(datasets.OldFaithful().X)
	if err != nil {
		fmt.Println(err)
		return
	}
	component, err := clustering.DataNIW(x)
	if err != nil {
		fmt.Println(err)
		return
	}
	component.Kappa = 1
	model, trace, err := clustering.FitVBGMM(rand.New(rand.NewPCG(1, 2)), x, 6, &clustering.VBGMMOptions{
		Prior: &clustering.MixturePrior{Alpha: 0.1, Component: component},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, n := range model.Counts() {
		if n > 1 {
			fmt.Printf("%.1f eruptions about %.2f\n", n, model.Components[k].Mean)
		}
	}
	fmt.Printf("bound %.2f, %v\n", trace.Final(), trace.Status)
	// Output:
	// 97.2 eruptions about [-1.26 -1.19]
	// 174.8 eruptions about [0.70 0.67]
	// bound -435.25, converged
}

// The bound of the means of two clusters, one step at a time.
func ExampleVBMeans_Step() {
	x := mat.NewDense(8, 1, []float64{-2.1, -1.4, -2.6, -1.9, 1.7, 2.2, 3.0, 2.5})
	model := &clustering.VBMeans{
		Weights: []float64{0.5, 0.5},
		Means:   mat.NewDense(2, 1, []float64{-0.5, 0.5}),
		Vars:    []float64{1, 1},
		Prior:   clustering.FixedVariance{Mean: []float64{0}, PriorVariance: 25, Variance: 1},
	}
	for range 5 {
		next, bound, err := model.Step(x)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("bound %8.4f  means %.3f ± %.3f\n", bound, mat.Formatted(model.Means.T()), model.Vars)
		model = next
	}
	// Output:
	// bound -30.3782  means [-0.500   0.500] ± [1.000 1.000]
	// bound -19.2842  means [-1.599   1.836] ± [0.256 0.240]
	// bound -18.5125  means [-1.976   2.321] ± [0.248 0.247]
	// bound -18.5124  means [-1.979   2.326] ± [0.248 0.248]
	// bound -18.5124  means [-1.979   2.326] ± [0.248 0.248]
}
