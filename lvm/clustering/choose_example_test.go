package clustering_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm/clustering"
)

// The number of components and their shape by BIC, the number alone by
// cross-validation.
func ExampleSelectGMM() {
	x := datasets.OldFaithful().X
	table, err := clustering.SelectGMM(rand.New(rand.NewPCG(1, 2)), x, 4, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	best := table.Best()
	fmt.Printf("%d components, %v: BIC %.1f\n", best.K, best.Shape, best.BIC)

	for k := 1; k <= 3; k++ {
		// The same seed for every k: the same folds.
		held, err := clustering.CrossValidate(rand.New(rand.NewPCG(1, 2)), x, k, 10, clustering.Gaussians(nil))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("K = %d, full: held-out log-likelihood %.0f\n", k, held.LogLikelihood())
	}
	// Output:
	// 3 components, tied: BIC 2314.3
	// K = 1, full: held-out log-likelihood -1295
	// K = 2, full: held-out log-likelihood -1145
	// K = 3, full: held-out log-likelihood -1149
}
