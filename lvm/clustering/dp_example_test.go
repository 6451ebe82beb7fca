package clustering_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/clustering"
	"github.com/latent-lessons/latent/lvm/sampling"
)

// Guests 1 to 12, and what the next one does.
func ExampleCRP() {
	crp := clustering.CRP{Alpha: 1}
	z := crp.Sample(rand.New(rand.NewPCG(3, 4)), 12)
	fmt.Println("tables", z)
	fmt.Printf("next   %.3f\n", crp.Predictive([]int{3, 2, 1}))
	fmt.Printf("a thousand guests take %.2f tables on average\n", crp.TablesMean(1000))
	// Output:
	// tables [0 0 0 0 0 0 0 0 0 1 2 0]
	// next   [0.429 0.286 0.143 0.143]
	// a thousand guests take 7.49 tables on average
}

// A draw of G, cut off where a twentieth of the stick is left.
func ExampleDP_Draw() {
	dp := clustering.DP[float64]{Alpha: 2, Base: (*rand.Rand).NormFloat64}
	g := dp.Draw(rand.New(rand.NewPCG(1, 2)), 0.05)
	for l, w := range g.Weights {
		fmt.Printf("%.3f at %+.2f\n", w, g.Atoms[l])
	}
	fmt.Printf("left of zero: %.3f\n", g.Mass(func(x float64) bool { return x < 0 }))
	// Output:
	// 0.257 at +1.73
	// 0.025 at -0.12
	// 0.013 at -0.93
	// 0.499 at -0.05
	// 0.113 at +0.22
	// 0.034 at -1.84
	// 0.012 at +0.73
	// 0.048 at +0.88
	// left of zero: 0.572
}

// Three groups on a line, and the posterior of how many there are.
func ExampleDPGibbs() {
	x := mat.NewDense(9, 1, []float64{-4.1, -3.8, -4.4, 0.2, -0.1, 0.3, 3.7, 4.2, 4.0})
	kernel := &clustering.DPGibbs{
		X:          x,
		Prior:      clustering.NIW{Mean: []float64{0}, Kappa: 0.05, Nu: 3, Scale: mat.NewSymDense(1, []float64{0.2})},
		AlphaPrior: &clustering.GammaPrior{Shape: 2, Rate: 2},
	}
	start := clustering.DPState{Z: make([]int, 9), Alpha: 1}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, start, 2000, &sampling.RunOptions{BurnIn: 200})
	if err != nil {
		fmt.Println(err)
		return
	}
	draws := sampling.Map(chain, func(s clustering.DPState) []int { return s.Z }).States
	fmt.Printf("p(K = 1, 2, …) = %.2f\n", clustering.NumClustersProb(draws)[1:])
	z, loss := clustering.PointEstimate(draws, clustering.VariationOfInformation)
	fmt.Printf("%v, expected loss %.2f nats\n", z, loss)
	together := clustering.CoClustering(draws)
	fmt.Printf("rows 0 and 1 together: %.2f, rows 0 and 3: %.2f\n", together.At(0, 1), together.At(0, 3))
	// Output:
	// p(K = 1, 2, …) = [0.00 0.00 0.54 0.36 0.09 0.01 0.00]
	// [0 0 0 1 1 1 2 2 2], expected loss 0.12 nats
	// rows 0 and 1 together: 0.97, rows 0 and 3: 0.00
}

// Four groups in forty columns. No row of one big cluster dares to be the first
// of a new one, with forty numbers to predict; splits move many at once.
func ExampleDPGibbs_splitMerge() {
	rng, x := rand.New(rand.NewPCG(1, 2)), mat.NewDense(100, 40, nil)
	x.Apply(func(i, j int, _ float64) float64 { return 2*float64(i%4>>(j%2)&1) + rng.NormFloat64() }, x)
	prior := clustering.FixedVariance{Mean: make([]float64, 40), PriorVariance: 25, Variance: 1}
	for _, proposals := range []int{0, 1} {
		kernel := &clustering.DPGibbs{X: x, Prior: prior, SplitMerge: proposals}
		start := clustering.DPState{Z: make([]int, 100), Alpha: 1}
		chain, err := sampling.Run(rng, kernel, start, 50, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		last := chain.States[49]
		fmt.Printf("%d proposals: K = %d, ln p(x, z) = %.0f\n", proposals, clustering.NumClusters(last.Z), kernel.LogJoint(last))
	}
	// Output:
	// 0 proposals: K = 1, ln p(x, z) = -7731
	// 1 proposals: K = 4, ln p(x, z) = -6229
}

// Two kinds of days, by counts, without a conjugate prior.
func ExampleAuxiliaryGibbs() {
	x := mat.NewDense(8, 1, []float64{0, 2, 1, 1, 14, 17, 11, 15})
	kernel := &clustering.AuxiliaryGibbs[[]float64]{
		X:     x,
		Model: clustering.PoissonLogNormal{Mean: []float64{1}, SD: []float64{1.5}},
	}
	start := clustering.DPParams[[]float64]{Z: make([]int, 8), Alpha: 1}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, start, 2000, &sampling.RunOptions{BurnIn: 200})
	if err != nil {
		fmt.Println(err)
		return
	}
	draws := sampling.Map(chain, func(s clustering.DPParams[[]float64]) []int { return s.Z }).States
	z, _ := clustering.PointEstimate(draws, clustering.Binder)
	fmt.Println(z)
	// Output:
	// [0 0 0 0 1 1 1 1]
}

// Sweeps until the third row has left the others.
func ExampleMixtureGibbs() {
	x := mat.NewDense(3, 1, []float64{-1, -0.8, 2})
	kernel := &clustering.MixtureGibbs{
		X: x, K: 2, Alpha: 1,
		Prior: clustering.FixedVariance{Mean: []float64{0}, PriorVariance: 4, Variance: 0.5},
	}
	for z, info := range sampling.Walk(rand.New(rand.NewPCG(1, 2)), kernel, []int{0, 0, 0}) {
		fmt.Printf("%v  ln p(x, z) = %.4f, from scratch %.4f\n", z, info.LogDensity, kernel.LogJoint(z))
		if z[2] != z[0] {
			break
		}
	}
	// Output:
	// [0 0 1]  ln p(x, z) = -7.5646, from scratch -7.5646
}

// The evidence of three rows, and what they say about the next.
func ExampleNIW() {
	prior := clustering.NIW{Mean: []float64{0, 0}, Kappa: 0.1, Nu: 4, Scale: mat.NewSymDense(2, []float64{1, 0, 0, 1})}
	x := mat.NewDense(3, 2, []float64{1, 2, 1.5, 2.5, 0.5, 1.8})
	posterior := prior.Posterior(x)
	fmt.Printf("m = %.3f  κ = %.1f  ν = %.0f\n", posterior.Mean, posterior.Kappa, posterior.Nu)
	fmt.Printf("ln p(x) = %.4f\n", prior.LogMarginal(x))
	fmt.Printf("ln p(next) = %.4f\n", posterior.Predictive().LogProb([]float64{1, 2}))
	// Output:
	// m = [0.968 2.032]  κ = 3.1  ν = 7
	// ln p(x) = -7.8989
	// ln p(next) = -0.7666
}
