package clustering_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/clustering"
)

// A mixture written by hand, its sample, and the mixture found again from the
// sample.
func ExampleFitGMM() {
	truth := &clustering.GMM{
		Weights: []float64{0.7, 0.3},
		Means:   mat.NewDense(2, 2, []float64{0, 0, 5, 5}),
		Covs: []*mat.SymDense{
			mat.NewSymDense(2, []float64{2, 1, 1, 1}),
			mat.NewSymDense(2, []float64{1, 0, 0, 1}),
		},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	_, x := truth.Sample(rng, 1000)

	model, trace, err := clustering.FitGMM(rng, x, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, weight := range model.Weights {
		fmt.Printf("π = %.2f  μ = %.1f\n", weight, model.Means.RawRowView(k))
	}
	fmt.Println(trace.Status)
	// Output:
	// π = 0.69  μ = [0.0 0.0]
	// π = 0.31  μ = [5.0 5.0]
	// converged
}

// One step at a time.
func ExampleGMM_Step() {
	x := mat.NewDense(4, 1, []float64{1, 3, 11, 13})
	model := &clustering.GMM{
		Weights: []float64{0.5, 0.5},
		Means:   mat.NewDense(2, 1, []float64{4, 7}),
		Covs:    []*mat.SymDense{mat.NewSymDense(1, []float64{9}), mat.NewSymDense(1, []float64{9})},
	}
	for range 5 {
		next, logLikelihood, err := model.Step(x)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("log-likelihood %8.4f  means %.3f\n", logLikelihood, mat.Formatted(model.Means.T()))
		model = next
	}
	// Output:
	// log-likelihood -13.4977  means [4.000  7.000]
	// log-likelihood -11.8318  means [3.131  9.944]
	// log-likelihood -10.9233  means [ 2.354  10.639]
	// log-likelihood  -9.2902  means [ 1.975  11.564]
	// log-likelihood  -8.4485  means [ 2.000  11.998]
}

// The responsibilities of two unit Gaussians at 0 and 2.
func ExampleGMM_Posterior() {
	model := &clustering.GMM{
		Weights: []float64{0.5, 0.5},
		Means:   mat.NewDense(2, 1, []float64{0, 2}),
		Covs:    []*mat.SymDense{mat.NewSymDense(1, []float64{1}), mat.NewSymDense(1, []float64{1})},
	}
	x := mat.NewDense(3, 1, []float64{0, 0.5, 1})
	fmt.Printf("%.3f\n", mat.Formatted(model.Posterior(x)))
	// Output:
	// ⎡0.881  0.119⎤
	// ⎢0.731  0.269⎥
	// ⎣0.500  0.500⎦
}

// The two halves of EM, each of which lifts the bound.
func ExampleGMM_FreeEnergy() {
	x := mat.NewDense(4, 1, []float64{1, 3, 11, 13})
	model := &clustering.GMM{
		Weights: []float64{0.5, 0.5},
		Means:   mat.NewDense(2, 1, []float64{4, 7}),
		Covs:    []*mat.SymDense{mat.NewSymDense(1, []float64{9}), mat.NewSymDense(1, []float64{9})},
	}
	q := mat.NewDense(4, 2, []float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5})
	show := func(what string) {
		f, err := model.FreeEnergy(x, q)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s bound %.3f + gap %.3f = %.3f\n", what, f.Bound(), f.Gap, f.Bound()+f.Gap)
	}
	show("start: ")
	for range 2 {
		q = model.Posterior(x)
		show("E step:")
		next, err := model.MStep(x, q)
		if err != nil {
			fmt.Println(err)
			return
		}
		model = next
		show("M step:")
	}
	// Output:
	// start:  bound -14.848 + gap 1.350 = -13.498
	// E step: bound -13.498 + gap 0.000 = -13.498
	// M step: bound -11.977 + gap 0.145 = -11.832
	// E step: bound -11.832 + gap 0.000 = -11.832
	// M step: bound -11.446 + gap 0.522 = -10.923
}

// Two groups at distance 2, each of variance 1: labels that are certain cut
// off their tails.
func ExampleFitICM() {
	truth := &clustering.GMM{
		Weights: []float64{0.5, 0.5},
		Means:   mat.NewDense(2, 1, []float64{-1, 1}),
		Covs:    []*mat.SymDense{mat.NewSymDense(1, []float64{1}), mat.NewSymDense(1, []float64{1})},
		Shape:   clustering.Tied,
	}
	_, x := truth.Sample(rand.New(rand.NewPCG(1, 2)), 10000)
	opts := &clustering.GMMOptions{Start: truth}
	soft, _, err := clustering.FitGMM(nil, x, 2, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	hard, _, err := clustering.FitICM(nil, x, 2, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("variance by EM %.1f, by hard EM %.1f\n", soft.Covs[0].At(0, 0), hard.Covs[0].At(0, 0))
	// Output: variance by EM 1.0, by hard EM 0.6
}
