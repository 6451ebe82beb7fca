package sampling_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm/sampling"
)

func ExampleAIS() {
	// The evidence of a rate with an exponential prior after 4 events in a unit
	// of time, on the logarithm x of the rate: exactly 2⁻⁵.
	logPrior := func(x []float64) float64 { return x[0] - math.Exp(x[0]) }
	logJoint := func(x []float64) float64 { return logPrior(x) + 4*x[0] - math.Exp(x[0]) - math.Log(24) }
	a := &sampling.AIS[[]float64]{
		Draw:     func(rng *rand.Rand) []float64 { return []float64{math.Log(rng.ExpFloat64())} },
		LogPrior: logPrior, LogDensity: logJoint,
		Betas: sampling.PowerBetas(30, 2),
		NewKernel: func(beta float64) sampling.Kernel[[]float64] {
			return &sampling.Metropolis{LogDensity: sampling.Bridge(logPrior, logJoint, beta)}
		},
	}
	w, err := a.Run(rand.New(rand.NewPCG(1, 2)), 2000)
	if err != nil {
		fmt.Println(err)
		return
	}
	z := w.LogZ()
	fmt.Printf("log Z = %.3f ± %.3f, exactly %.3f; ESS %.0f\n", z.Value, z.StdErr, -5*math.Ln2, w.ESS())
	// Output: log Z = -3.437 ± 0.017, exactly -3.466; ESS 1259
}

func ExampleAlias() {
	loaded, err := sampling.NewAlias([]float64{1, 1, 1, 1, 1, 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewPCG(1, 2))
	counts := make([]int, 6)
	for range 100_000 {
		counts[loaded.Draw(rng)]++
	}
	fmt.Println(counts)
	fmt.Printf("%.2f\n", loaded.Probs())
	// Output:
	// [10084 9904 9906 9936 10066 50104]
	// [0.10 0.10 0.10 0.10 0.10 0.50]
}

func ExampleAdaptiveRejection() {
	rng := rand.New(rand.NewPCG(1, 2))
	// The log odds θ after 7 heads in 10 throws, with a normal prior.
	a := &sampling.AdaptiveRejection{Gradient: func(theta float64) (float64, float64) {
		p := 1 / (1 + math.Exp(-theta))
		return 7*math.Log(p) + 3*math.Log1p(-p) - 0.5*theta*theta, 7 - 10*p - theta
	}}
	draws, err := a.Sample(rng, 10_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, _ := sampling.Expect(draws, func(x float64) float64 { return x })
	fmt.Printf("mean %.2f, %d draws, fewer than 100 evaluations: %v\n", mean.Value, len(draws), a.Evaluations() < 100)
	// Output: mean 0.60, 10000 draws, fewer than 100 evaluations: true
}

// The midpoint rule does not see what lies between its points and outside
// its box, and has nothing to say about it; random draws at least have a
// standard error.
func ExampleGrid() {
	g := &sampling.Grid{Lower: []float64{-5, -5}, Upper: []float64{5, 5}, Points: 40}
	logp := func(x []float64) float64 { return -0.5 * (x[0]*x[0] + x[1]*x[1]) }
	logZ, err := g.LogIntegrate(logp)
	radius, _ := g.Expect(logp, func(x []float64) float64 { return math.Hypot(x[0], x[1]) })
	fmt.Printf("Z/2π = %.6f, E‖x‖ = %.4f %v\n", math.Exp(logZ)/(2*math.Pi), radius, err)

	rng := rand.New(rand.NewPCG(1, 2))
	e, _ := sampling.Expect(sampling.Draws(rng, 1600, func(rng *rand.Rand) float64 {
		return math.Hypot(rng.NormFloat64(), rng.NormFloat64())
	}), func(r float64) float64 { return r })
	fmt.Printf("by draws E‖x‖ = %.3f ± %.3f, exactly %.4f\n", e.Value, e.StdErr, math.Sqrt(math.Pi/2))
	// Output:
	// Z/2π = 0.999999, E‖x‖ = 1.2535 <nil>
	// by draws E‖x‖ = 1.240 ± 0.016, exactly 1.2533
}

func ExampleWeighted_Smooth() {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, q := range []distuv.Normal{{Mu: 0, Sigma: 2}, {Mu: 4, Sigma: 1}} {
		w, err := (&sampling.Importance[float64]{
			LogDensity:  func(x float64) float64 { return -0.5 * x * x },
			Draw:        func(rng *rand.Rand) float64 { return q.Mu + q.Sigma*rng.NormFloat64() },
			LogProposal: q.LogProb,
		}).Sample(rng, 2000)
		if err != nil {
			fmt.Println(err)
			return
		}
		smooth, pareto := w.Smooth()
		second, _ := smooth.Expect(func(x float64) float64 { return x * x })
		fmt.Printf("N(%v, %v²): E[x²] = %.2f ± %.2f, ESS %.0f, k̂ = %.2f\n", q.Mu, q.Sigma, second.Value, second.StdErr, w.ESS(), pareto.K)
		fmt.Println(pareto.Err())
	}
	// Output:
	// N(0, 2²): E[x²] = 1.02 ± 0.03, ESS 1334, k̂ = -1.56
	// <nil>
	// N(4, 1²): E[x²] = 1.09 ± 0.29, ESS 6, k̂ = 1.57
	// sampling.ParetoSmooth: k̂ = 1.57 is above 0.70: a few weights outweigh all others; try a proposal with heavier tails or closer to the target
}

func ExampleInverseCDF() {
	rng := rand.New(rand.NewPCG(1, 2))
	waiting := sampling.Exponential{Rate: 0.5}
	draws := sampling.Draws(rng, 100_000, func(rng *rand.Rand) float64 {
		return sampling.InverseCDF(rng, func(u float64) float64 { return -math.Log1p(-u) / 0.5 })
	})
	mean, _ := sampling.Expect(draws, func(x float64) float64 { return x })
	late, _ := sampling.Expect(draws, func(x float64) float64 {
		if x > 5 {
			return 1
		}
		return 0
	})
	fmt.Printf("mean %.2f ± %.2f, P(x > 5) %.3f, exactly %.3f\n", mean.Value, mean.StdErr, late.Value, 1-waiting.CDF(5))
	// Output: mean 2.00 ± 0.01, P(x > 5) 0.082, exactly 0.082
}

func ExampleMarkovChain() {
	chain, err := sampling.NewMarkovChain(mat.NewDense(3, 3, []float64{
		0, 0, 1,
		0.6, 0, 0.4,
		0, 0.9, 0.1,
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range []int{1, 2, 10, 100} {
		fmt.Printf("after %3d steps %.4f\n", n, chain.After([]float64{0.5, 0.3, 0.2}, n))
	}
	p, err := chain.Invariant()
	fmt.Printf("invariant       %.4f %v\n", p, err)
	fmt.Printf("ergodic %v, mixing rate %.4f\n", chain.Ergodic(), chain.MixingRate())
	worst, _, _ := chain.DetailedBalance(p)
	fmt.Printf("flows to and fro differ by %.4f\n", worst)

	visits := make([]int, 3)
	for _, s := range chain.Simulate(rand.New(rand.NewPCG(1, 2)), 0, 10_000) {
		visits[s]++
	}
	fmt.Println("visits", visits)
	// Output:
	// after   1 steps [0.1800 0.1800 0.6400]
	// after   2 steps [0.1080 0.5760 0.3160]
	// after  10 steps [0.2071 0.3771 0.4158]
	// after 100 steps [0.2213 0.3689 0.4098]
	// invariant       [0.2213 0.3689 0.4098] <nil>
	// ergodic true, mixing rate 0.7348
	// flows to and fro differ by 0.2213
	// visits [2218 3704 4078]
}

func ExamplePageRank() {
	links := [][]int{
		{1, 2}, // the front page links to pages 1 and 2
		{0},
		{0, 1, 3},
		{}, // a page without links
	}
	rank, trace, err := sampling.PageRank(links, nil)
	fmt.Printf("%.3f in %d steps %v\n", rank, trace.Steps(), err)
	// Output: [0.368 0.284 0.221 0.127] in 43 steps <nil>
}

func ExampleExpect() {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{100, 10_000, 1_000_000} {
		points := sampling.Draws(rng, n, func(rng *rand.Rand) [2]float64 { return [2]float64{rng.Float64(), rng.Float64()} })
		pi, err := sampling.Expect(points, func(p [2]float64) float64 {
			if p[0]*p[0]+p[1]*p[1] < 1 {
				return 4
			}
			return 0
		})
		fmt.Printf("%.4f ± %.4f %v\n", pi.Value, pi.StdErr, err)
	}
	// Output:
	// 3.2800 ± 0.1544 <nil>
	// 3.1380 ± 0.0164 <nil>
	// 3.1408 ± 0.0016 <nil>
}

func ExamplePopulationMonteCarlo() {
	rng := rand.New(rand.NewPCG(1, 2))
	start := &sampling.MixtureProposal{Weights: []float64{1}, Means: mat.NewDense(1, 1, []float64{-5}), Covs: []*mat.SymDense{mat.NewSymDense(1, []float64{1})}}
	target := func(x []float64) float64 { return -0.5 * (x[0] - 3) * (x[0] - 3) / 0.25 }
	q, draws, perplexity, err := sampling.PopulationMonteCarlo(rng, target, start, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	z := draws.LogZ()
	fmt.Printf("perplexity %.2f\n", perplexity)
	fmt.Printf("proposal N(%.2f, %.3f), log Z = %.3f, exactly %.3f\n", q.Means.At(0, 0), q.Covs[0].At(0, 0), z.Value, 0.5*math.Log(2*math.Pi*0.25))
	// Output:
	// perplexity [0.00 0.00 0.00 0.00 0.00 0.27 0.88 0.99 1.00 1.00]
	// proposal N(2.99, 0.257), log Z = 0.227, exactly 0.226
}

func ExampleRejection() {
	rng := rand.New(rand.NewPCG(1, 2))
	r := &sampling.Rejection[float64]{
		LogDensity:  func(x float64) float64 { return math.Log(x * (1 - x)) },
		Draw:        func(rng *rand.Rand) float64 { return rng.Float64() },
		LogProposal: func(float64) float64 { return 0 },
		LogK:        math.Log(0.25),
	}
	s, err := r.Sample(rng, 10_000)
	fmt.Printf("accepted %.3f of the proposals, Z = %.3f %v\n", s.Acceptance(), math.Exp(s.LogZ().Value), err)

	r.LogK = math.Log(0.2)
	_, err = r.Sample(rng, 10_000)
	fmt.Println(strings.ReplaceAll(err.Error(), "; ", ";\n"))
	// Output:
	// accepted 0.666 of the proposals, Z = 0.167 <nil>
	// sampling.Rejection: log k = -1.60944 is too small: log p̃ − log q is -1.38629 at [0.49999], and p̃ is above k q at 5833 of 13116 proposals, so the draws follow min(p̃, k q);
	// try log k of at least -1.38629, or a proposal with heavier tails
}

func ExampleNewTabulated() {
	// The posterior of a rate after 3 events in 2 hours under a flat prior,
	// up to its constant.
	posterior, err := sampling.NewTabulated(func(rate float64) float64 { return 3*math.Log(rate) - 2*rate }, 0, math.Inf(1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("Z = %.6f = 3!/2⁴, median %.6f, 95%% below %.6f\n",
		math.Exp(posterior.LogZ), posterior.Quantile(0.5), posterior.Quantile(0.95))
	// Output: Z = 0.375000 = 3!/2⁴, median 1.836030, 95% below 3.876828
}

func ExampleBoxMuller() {
	rng := rand.New(rand.NewPCG(1, 2))
	// The points with one u lie on a circle.
	for range 3 {
		z1, z2 := sampling.BoxMuller(0.25, rng.Float64())
		fmt.Printf("(%5.2f, %5.2f) with ‖z‖ = %.3f\n", z1, z2, math.Hypot(z1, z2))
	}
	// Output:
	// (-0.74, -1.49) with ‖z‖ = 1.665
	// (-1.62,  0.40) with ‖z‖ = 1.665
	// (-1.66, -0.09) with ‖z‖ = 1.665
}

func ExampleImportance() {
	// P(x > 4) for a standard normal x: with draws of N(4, 1), half of which
	// are there.
	q := distuv.Normal{Mu: 4, Sigma: 1}
	im := &sampling.Importance[float64]{
		LogDensity:  distuv.UnitNormal.LogProb,
		Draw:        func(rng *rand.Rand) float64 { return 4 + rng.NormFloat64() },
		LogProposal: q.LogProb,
	}
	w, err := im.Sample(rand.New(rand.NewPCG(1, 2)), 10_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := w.ExpectPlain(func(x float64) float64 {
		if x > 4 {
			return 1
		}
		return 0
	})
	fmt.Printf("%.3g ± %.1g, exactly %.3g\n", p.Value, p.StdErr, distuv.UnitNormal.Survival(4))
	// Output: 3.14e-05 ± 7e-07, exactly 3.17e-05
}

func ExampleWeighted_Resample() {
	w := &sampling.Weighted[string]{
		Draws:      []string{"a", "b", "c"},
		LogWeights: []float64{math.Log(1), math.Log(5), math.Log(2)},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	fmt.Println(strings.Join(w.Resample(rng, 8, sampling.SystematicResampling), " "))
	fmt.Println(strings.Join(w.Resample(rng, 8, sampling.MultinomialResampling), " "))
	// Output:
	// a b b b b b c c
	// b c c b a b b b
}
