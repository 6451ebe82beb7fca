package clustering_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/clustering"
)

// Two habits of shopping, found from who bought what.
func ExampleFitBernoulliMixture() {
	bought := mat.NewDense(6, 4, []float64{ // bread, butter, nails, paint
		1, 1, 0, 0,
		1, 1, 0, 0,
		1, 0, 0, 0,
		0, 0, 1, 1,
		0, 0, 1, 1,
		1, 0, 1, 1,
	})
	model, _, err := clustering.FitBernoulliMixture(rand.New(rand.NewPCG(1, 2)), bought, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Assign(bought))
	fmt.Printf("%.2f\n", mat.Formatted(model.Probs))
	// Output:
	// [0 0 0 1 1 1]
	// ⎡1.00  0.67  0.00  0.00⎤
	// ⎣0.33  0.00  1.00  1.00⎦
}

// Quiet days and busy ones, from the number of calls.
func ExampleFitPoissonMixture() {
	calls := mat.NewDense(10, 1, []float64{2, 3, 1, 14, 2, 11, 3, 2, 12, 1})
	model, _, err := clustering.FitPoissonMixture(rand.New(rand.NewPCG(1, 2)), calls, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, weight := range model.Weights {
		fmt.Printf("%2.0f %% of the days: %.1f calls\n", 100*weight, model.Rates.At(k, 0))
	}
	// Unordered output:
	// 70 % of the days: 2.0 calls
	// 30 % of the days: 12.3 calls
}
