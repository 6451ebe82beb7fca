package clustering_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm/clustering"
)

// A density of 173 eruptions of Old Faithful, calibrated with 99 others.
func ExampleDetector() {
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(272, 2, nil)
	for i, from := range rng.Perm(272) {
		x.SetRow(i, datasets.OldFaithful().X.RawRowView(from))
	}
	model, _, err := clustering.FitGMM(rng, x.Slice(99, 272, 0, 2), 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	detector, err := clustering.NewDetector(model, x.Slice(0, 99, 0, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	odd := mat.NewDense(2, 2, []float64{4.5, 80, 3, 95})
	alarm, _ := detector.Detect(odd, 0.05)
	p, _ := detector.PValues(odd)
	fmt.Println(alarm)
	fmt.Printf("%.2f\n", p)
	// Output:
	// [false true]
	// [0.88 0.01]
}
