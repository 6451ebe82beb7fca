package sampling_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/latent-lessons/latent/lvm/sampling"
)

// gamma3 is Gamma(3, 1).
func gamma3(x []float64) float64 {
	if x[0] <= 0 {
		return math.Inf(-1)
	}
	return 2*math.Log(x[0]) - x[0]
}

// banana is a ~ N(0, 1), b | a ~ N(a², ½²), with its gradient.
func banana(x, grad []float64) float64 {
	r := x[1] - x[0]*x[0]
	grad[0], grad[1] = -x[0]+8*r*x[0], -4*r
	return -0.5*x[0]*x[0] - 2*r*r
}

func coordinate(j int) func(x []float64) float64 {
	return func(x []float64) float64 { return x[j] }
}

func Example() {
	rng := rand.New(rand.NewPCG(1, 2))
	newKernel := func() *sampling.Metropolis { return &sampling.Metropolis{LogDensity: gamma3, Scale: 3} }
	starts := [][]float64{{1}, {2}, {5}, {9}}
	chains, err := sampling.RunChains(rng, newKernel, starts, 5000, &sampling.RunOptions{BurnIn: 500})
	if err != nil {
		panic(err)
	}
	fmt.Print(sampling.Summarise([]string{"x"}, sampling.Columns(chains)))
	// Output:
	//    mean    mcse    sd  median  mad     q5   q95  ess bulk  ess tail      R̂
	// x  3.01  0.0299  1.74    2.69  1.6  0.821  6.23      3812      4514  1.001
}

func ExampleWalk() {
	rng := rand.New(rand.NewPCG(1, 2))
	kernel := &sampling.Metropolis{LogDensity: gamma3, Scale: 3}
	steps := 0
	for x, info := range sampling.Walk(rng, kernel, []float64{1}) {
		fmt.Printf("proposed %5.2f, accepted with probability %.2f, now at %.2f\n", info.Proposal[0], info.Acceptance, x[0])
		if steps++; steps == 4 {
			break
		}
	}
	// Output:
	// proposed  2.14, accepted with probability 1.00, now at 2.14
	// proposed  2.36, accepted with probability 0.98, now at 2.36
	// proposed -1.01, accepted with probability 0.00, now at 2.36
	// proposed -6.89, accepted with probability 0.00, now at 2.36
}

func ExampleRun_stop() {
	// A context ends a run early; the draws so far are kept.
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	opts := &sampling.RunOptions{Context: ctx, Progress: func(done, total int) {
		if done >= total/4 {
			cancel()
		}
	}}
	kernel := &sampling.Metropolis{LogDensity: gamma3}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, []float64{1}, 1000, opts)
	fmt.Println(len(chain.States), err)
	// Output: 250 sampling.Run: stopped with 250 of 1000 draws: context canceled
}

func ExampleMetropolisHastings() {
	// A walk on {0, 1, 2, …} with target Poisson(3).
	kernel := &sampling.MetropolisHastings[int]{
		LogDensity: func(k int) float64 {
			if k < 0 {
				return math.Inf(-1)
			}
			l, _ := math.Lgamma(float64(k + 1))
			return float64(k)*math.Log(3) - l
		},
		Propose: func(rng *rand.Rand, k int) (int, float64) { return k + 2*rng.IntN(2) - 1, 0 },
	}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, 0, 500_000, nil)
	if err != nil {
		panic(err)
	}
	draws := sampling.Extract([]*sampling.Chain[int]{chain}, func(k int) float64 { return float64(k) })
	fmt.Printf("mean %.2f ± %.2f\n", stat.Mean(draws[0], nil), sampling.MCSEMean(draws))
	// Output: mean 3.00 ± 0.01
}

func ExampleIndependence() {
	kernel := &sampling.Independence[[]float64]{
		LogDensity:  gamma3,
		Draw:        func(rng *rand.Rand) []float64 { return []float64{6 * rng.ExpFloat64()} },
		LogProposal: func(x []float64) float64 { return -x[0] / 6 },
	}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, []float64{1}, 20_000, nil)
	if err != nil {
		panic(err)
	}
	draws := sampling.Extract([]*sampling.Chain[[]float64]{chain}, coordinate(0))
	fmt.Printf("mean %.2f ± %.2f\n", stat.Mean(draws[0], nil), sampling.MCSEMean(draws))
	// Output: mean 2.99 ± 0.02
}

func ExampleAdaptiveMetropolis() {
	// Standard deviations 1 and 100: the walk has to learn its shape.
	kernel := &sampling.AdaptiveMetropolis{LogDensity: func(x []float64) float64 {
		return -0.5*x[0]*x[0] - 0.5*x[1]*x[1]/1e4
	}}
	rng := rand.New(rand.NewPCG(1, 2))
	if _, err := sampling.BurnIn(rng, kernel, []float64{0, 0}, 20_000); err != nil {
		panic(err)
	}
	_, cov := kernel.Proposal()
	fmt.Printf("ratio of widths %.0f\n", math.Sqrt(cov.At(1, 1)/cov.At(0, 0)))
	// Output: ratio of widths 99
}

func ExampleCycle() {
	// Small steps within a mode, and jumps between them.
	modes := func(x []float64) float64 {
		return math.Log(math.Exp(-0.5*(x[0]-5)*(x[0]-5)) + 3*math.Exp(-0.5*(x[0]+5)*(x[0]+5)))
	}
	kernel := &sampling.Cycle[[]float64]{Kernels: []sampling.Kernel[[]float64]{
		&sampling.Metropolis{LogDensity: modes, Scale: 1},
		&sampling.Metropolis{LogDensity: modes, Scale: 10},
	}}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, []float64{5}, 50_000, nil)
	if err != nil {
		panic(err)
	}
	left := 0.0
	for _, x := range chain.States {
		if x[0] < 0 {
			left++
		}
	}
	fmt.Printf("%.2f of the draws in the left mode\n", left/50_000)
	// Output: 0.74 of the draws in the left mode
}

func ExampleGibbs() {
	// Two Gaussian coordinates of unit variance and correlation 0.9.
	const rho = 0.9
	redraw := func(j int) func(rng *rand.Rand, x []float64) {
		return func(rng *rand.Rand, x []float64) {
			x[j] = rho*x[1-j] + math.Sqrt(1-rho*rho)*rng.NormFloat64()
		}
	}
	kernel := &sampling.Gibbs[float64]{Conditionals: []func(*rand.Rand, []float64){redraw(0), redraw(1)}}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, []float64{0, 0}, 50_000, nil)
	if err != nil {
		panic(err)
	}
	draws := sampling.Extract([]*sampling.Chain[[]float64]{chain}, coordinate(0))
	fmt.Printf("lag-1 autocorrelation %.2f; ρ² is %.2f\n", sampling.Autocorrelation(draws[0], 1)[1], rho*rho)
	// Output: lag-1 autocorrelation 0.81; ρ² is 0.81
}

func ExampleGaussianGibbs() {
	// Blocks of two leave less correlation between them than single coordinates.
	cov := mat.NewSymDense(4, []float64{
		1, 0.9, 0.5, 0.5,
		0.9, 1, 0.5, 0.5,
		0.5, 0.5, 1, 0.9,
		0.5, 0.5, 0.9, 1,
	})
	for _, blocks := range [][][]int{{{0}, {1}, {2}, {3}}, {{0, 1}, {2, 3}}, {{0, 1, 2, 3}}} {
		kernel := &sampling.GaussianGibbs{Mean: make([]float64, 4), Cov: cov, Blocks: blocks}
		chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, make([]float64, 4), 20_000, nil)
		if err != nil {
			panic(err)
		}
		tau := sampling.AutocorrelationTime(sampling.Extract([]*sampling.Chain[[]float64]{chain}, coordinate(0)))
		fmt.Printf("blocks of %d: autocorrelation time %.1f\n", len(blocks[0]), tau)
	}
	// Output:
	// blocks of 1: autocorrelation time 12.6
	// blocks of 2: autocorrelation time 1.7
	// blocks of 4: autocorrelation time 1.0
}

func ExampleFactorGibbs() {
	// x₁ and x₂ like to be equal, x₂ and x₃ different.
	kernel := &sampling.FactorGibbs{
		Levels: []int{2, 2, 2},
		Factors: []sampling.Factor{
			{Vars: []int{0, 1}, Table: []float64{4, 1, 1, 4}},
			{Vars: []int{1, 2}, Table: []float64{1, 4, 4, 1}},
		},
	}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, []int{0, 0, 0}, 20_000, nil)
	if err != nil {
		panic(err)
	}
	equal := 0.0
	for _, x := range chain.States {
		if x[0] == x[2] {
			equal++
		}
	}
	fmt.Printf("p(x₂ = 1 | x₁ = 1, x₃ = 0) = %.3f\n", kernel.Conditional(1, []int{1, 0, 0})[1])
	fmt.Printf("p(x₁ = x₃) = %.2f\n", equal/20_000)
	// Output:
	// p(x₂ = 1 | x₁ = 1, x₃ = 0) = 0.941
	// p(x₁ = x₃) = 0.32
}

func ExampleIsing() {
	// A square of ten by ten, with 15% of its pixels flipped.
	const size, flip = 20, 0.15
	rng := rand.New(rand.NewPCG(1, 2))
	clean, noisy, field := make([]int8, size*size), make([]int8, size*size), make([]float64, size*size)
	for i := range clean {
		clean[i] = -1
		if r, c := i/size, i%size; r >= 5 && r < 15 && c >= 5 && c < 15 {
			clean[i] = 1
		}
		noisy[i] = clean[i]
		if rng.Float64() < flip {
			noisy[i] = -clean[i]
		}
		field[i] = 0.5 * float64(noisy[i]) * math.Log((1-flip)/flip)
	}
	kernel := &sampling.Ising{Rows: size, Cols: size, Coupling: 0.6, Field: field}
	chain, err := sampling.Run(rng, kernel, noisy, 500, &sampling.RunOptions{BurnIn: 50})
	if err != nil {
		panic(err)
	}
	sum := make([]int, size*size)
	for _, s := range chain.States {
		for i, v := range s {
			sum[i] += int(v)
		}
	}
	before, after := 0, 0
	for i, v := range clean {
		if noisy[i] != v {
			before++
		}
		if sum[i]*int(v) < 0 {
			after++
		}
	}
	fmt.Printf("wrong pixels: %d of the noisy image, %d of the posterior vote\n", before, after)
	// Output: wrong pixels: 54 of the noisy image, 6 of the posterior vote
}

func ExampleSlice() {
	kernel := &sampling.Slice{LogDensity: gamma3, Width: 2}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, []float64{1}, 20_000, nil)
	if err != nil {
		panic(err)
	}
	draws := sampling.Extract([]*sampling.Chain[[]float64]{chain}, coordinate(0))
	fmt.Printf("mean %.2f ± %.2f, sd %.2f ± %.2f\n", stat.Mean(draws[0], nil), sampling.MCSEMean(draws), stat.StdDev(draws[0], nil), sampling.MCSESD(draws))
	// Output: mean 2.99 ± 0.02, sd 1.73 ± 0.02
}

func ExampleEllipticalSlice() {
	// Prior N(0, 1), and an observation 1 with variance 1.
	kernel := &sampling.EllipticalSlice{LogLikelihood: func(x []float64) float64 { return -0.5 * (x[0] - 1) * (x[0] - 1) }}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, []float64{0}, 20_000, nil)
	if err != nil {
		panic(err)
	}
	draws := sampling.Extract([]*sampling.Chain[[]float64]{chain}, coordinate(0))
	fmt.Printf("mean %.2f, variance %.2f\n", stat.Mean(draws[0], nil), stat.Variance(draws[0], nil))
	// Output: mean 0.51, variance 0.49
}

func ExampleHMC() {
	kernel := &sampling.HMC{Gradient: banana, Jitter: 0.2}
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, []float64{0, 0}, 20_000, &sampling.RunOptions{BurnIn: 1000})
	if err != nil {
		panic(err)
	}
	b := sampling.Extract([]*sampling.Chain[[]float64]{chain}, coordinate(1))
	fmt.Printf("E b = %.2f ± %.2f\n", stat.Mean(b[0], nil), sampling.MCSEMean(b))
	// Output: E b = 0.97 ± 0.02
}

func ExampleNUTS() {
	// A linear regression y = a + bx + ε with noise of unknown scale.
	xs, ys := []float64{1, 2, 3, 4, 5, 6}, []float64{1.2, 1.9, 3.2, 3.8, 5.1, 6.1}
	posterior := func(p, grad []float64) float64 { // p is (a, b, log σ), flat priors
		a, b, w := p[0], p[1], math.Exp(-2*p[2])
		l := -6 * p[2]
		grad[0], grad[1], grad[2] = 0, 0, -6
		for i, x := range xs {
			r := ys[i] - a - b*x
			l -= 0.5 * r * r * w
			grad[0] += r * w
			grad[1] += r * w * x
			grad[2] += r * r * w
		}
		return l
	}
	newKernel := func() *sampling.NUTS { return &sampling.NUTS{Gradient: posterior} }
	starts := [][]float64{{0, 0, 0}, {1, 1, 0}, {-1, 0, 1}, {0, 2, 1}}
	chains, err := sampling.RunChains(rand.New(rand.NewPCG(1, 2)), newKernel, starts, 1000, &sampling.RunOptions{BurnIn: 1000})
	if err != nil {
		panic(err)
	}
	s := sampling.Summarise([]string{"a", "b", "log σ"}, sampling.Columns(chains))
	for _, r := range s.Rows {
		fmt.Printf("%-5s %5.2f ± %.2f\n", r.Name, r.Mean, r.SD)
	}
	fmt.Println("problems:", append(s.Problems(), sampling.Problems(chains)...))
	// Output:
	// a      0.09 ± 0.25
	// b      0.99 ± 0.06
	// log σ -1.55 ± 0.40
	// problems: []
}

func ExampleLeapfrog() {
	x, p, grad := []float64{0, 0}, []float64{1, 0.5}, make([]float64, 2)
	logp := banana(x, grad)
	energy := func() float64 { return 0.5*(p[0]*p[0]+p[1]*p[1]) - logp }
	fmt.Printf("energy %.4f", energy())
	for range 100 {
		logp = sampling.Leapfrog(banana, x, p, grad, 0.02)
	}
	fmt.Printf(", after 100 steps %.4f", energy())
	for range 100 {
		logp = sampling.Leapfrog(banana, x, p, grad, -0.02)
	}
	fmt.Printf(", and back at (%.4f, %.4f)\n", math.Abs(x[0]), math.Abs(x[1]))
	// Output: energy 0.6250, after 100 steps 0.6250, and back at (0.0000, 0.0000)
}

func ExampleCheckGradient() {
	wrong := func(x, grad []float64) float64 {
		grad[0] = x[0] // the sign
		return -0.5 * x[0] * x[0]
	}
	fmt.Println(sampling.CheckGradient(wrong, []float64{2}))
	// Output: sampling.CheckGradient: component 0 of the gradient is 2 at [2], by finite differences -2; try deriving it again, or a log density without kinks
}

func ExampleTempering() {
	// Two modes 16 standard deviations apart: a walk alone stays in one.
	farModes := func(x []float64) float64 {
		a, b := math.Log(0.3)-0.5*(x[0]+8)*(x[0]+8), math.Log(0.7)-0.5*(x[0]-8)*(x[0]-8)
		return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
	}
	kernel := &sampling.Tempering{
		LogDensity: farModes,
		Betas:      sampling.Ladder(6, 0.02),
		NewKernel: func(beta float64) sampling.Kernel[[]float64] {
			return &sampling.Metropolis{LogDensity: sampling.Tempered(farModes, beta), Scale: 2 / math.Sqrt(beta)}
		},
	}
	start := slices.Repeat([][]float64{{-8}}, 6)
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), kernel, start, 100_000, &sampling.RunOptions{BurnIn: 1000})
	if err != nil {
		panic(err)
	}
	right := 0.0
	for _, x := range sampling.Map(chain, sampling.Cold).States {
		if x[0] > 0 {
			right++
		}
	}
	fmt.Printf("right mode %.2f of the time\n", right/100_000)
	// Output: right mode 0.70 of the time
}

func ExampleRHat() {
	// Two chains about 0 and one about 2.
	rng := rand.New(rand.NewPCG(1, 2))
	draws := make([][]float64, 3)
	for c := range draws {
		for range 500 {
			draws[c] = append(draws[c], 2*float64(c/2)+rng.NormFloat64())
		}
	}
	fmt.Printf("R̂ = %.2f of three chains, %.2f of the first two\n", sampling.RHat(draws), sampling.RHat(draws[:2]))
	// Output: R̂ = 1.41 of three chains, 1.01 of the first two
}

func ExampleMetropolisMatrix() {
	uniform := mat.NewDense(3, 3, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})
	uniform.Scale(1.0/3, uniform)
	t := sampling.MetropolisMatrix([]float64{0.1, 0.3, 0.6}, uniform)
	fmt.Printf("%.3f\n", mat.Formatted(t))
	// Output:
	// ⎡0.333  0.333  0.333⎤
	// ⎢0.111  0.556  0.333⎥
	// ⎣0.056  0.167  0.778⎦
}
