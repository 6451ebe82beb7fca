package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// AIS is annealed importance sampling: each draw walks from a distribution
// p_0 that is easy to draw from to the target p̃, through all temperatures
// in between, and collects its weight on the way,
//
//	p_β(s) ∝ p_0(s)^(1−β) p̃(s)^β,  0 = β_0 < β_1 < … < β_T = 1
//	log w = Σ_t (β_t − β_{t−1}) (log p̃(s_{t−1}) − log p_0(s_{t−1}))
//
// where s_0 ~ p_0 and s_t is s_{t−1} after a kernel that leaves p_{β_t}
// invariant. The mean weight is Z unbiased for p_0 normalised, whether or not the
// kernels mix; the more temperatures, the less the weights vary. With one
// step, T = 1, it is importance sampling from p_0.
//
// Neal 2001.
type AIS[S any] struct {
	// Draw draws from p_0 exactly.
	Draw func(rng *rand.Rand) S

	// LogPrior returns log p_0(s); up to a constant, LogZ lacks that constant.
	LogPrior func(s S) float64

	// LogDensity returns log p̃(s): for the evidence of a model, the log joint
	// density of parameters and data. It and LogPrior are called from several
	// goroutines.
	LogDensity func(s S) float64

	Betas []float64 // β, from 0 to 1, rising; see PowerBetas

	// NewKernel makes a kernel that leaves p_β invariant, for instance a
	// Metropolis with the log density Bridge(LogPrior, LogDensity, beta).
	NewKernel func(beta float64) Kernel[S]

	Steps int // of the kernel at each temperature; 0 means 1
}

// Bridge returns (1−β) log p_0 + β log p̃.
func Bridge[S any](logPrior, logDensity func(s S) float64, beta float64) func(s S) float64 {
	return func(s S) float64 {
		if beta == 0 {
			return logPrior(s)
		}
		l := logPrior(s)
		if math.IsInf(l, -1) {
			return l
		}
		return (1-beta)*l + beta*logDensity(s)
	}
}

// PowerBetas returns n inverse temperatures (i/(n−1))^power from 0 to 1. A
// power of 3 to 5 places most of them near 0, where a likelihood that is
// much narrower than the prior changes p_β fastest.
func PowerBetas(n int, power float64) []float64 {
	if n < 2 || !(power > 0) {
		panic(fmt.Sprintf("sampling: PowerBetas of %d temperatures with power %v", n, power))
	}
	betas := make([]float64, n)
	for i := range betas {
		betas[i] = math.Pow(float64(i)/float64(n-1), power)
	}
	return betas
}

// Run draws n weighted states, in parallel, with the same bits for every
// value of GOMAXPROCS. LogZ of the result estimates the log normalising
// constant of p̃, and its ESS says how far the weights agree.
//
// Errors are those of the densities, as in [Importance.Sample], and those of
// the kernels. Run panics if the temperatures do not rise from 0 to 1.
//
// Cost: n·T kernel steps and densities.
func (a *AIS[S]) Run(rng *rand.Rand, n int) (*Weighted[S], error) {
	checkRand("AIS.Run", rng)
	checkCount("AIS.Run", n)
	a.check()
	rngs := make([]*rand.Rand, n)
	for i := range rngs {
		rngs[i] = num.Split(rng)
	}
	workers := min(runtime.GOMAXPROCS(0), max(n, 1))
	kernels := make([][]Kernel[S], workers)
	for w := range kernels {
		kernels[w] = make([]Kernel[S], len(a.Betas))
		for t, beta := range a.Betas {
			if beta > 0 && beta < 1 {
				kernels[w][t] = a.NewKernel(beta)
			}
		}
	}

	w := &Weighted[S]{Draws: make([]S, n), LogWeights: make([]float64, n)}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := worker; i < n; i += workers {
				w.Draws[i], w.LogWeights[i], errs[i] = a.walk(rngs[i], kernels[worker])
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("draw %d: %w", i, err)
		}
	}
	if err := someWeight("sampling.AIS", w.LogWeights); err != nil {
		return nil, err
	}
	return w, nil
}

// walk takes one draw from p_0 to p̃.
func (a *AIS[S]) walk(rng *rand.Rand, kernels []Kernel[S]) (S, float64, error) {
	s := a.Draw(rng)
	var logW float64
	for t := 1; ; t++ {
		l, err := logWeight("sampling.AIS", s, a.LogDensity(s), a.LogPrior(s))
		if err != nil {
			return s, 0, err
		}
		logW += (a.Betas[t] - a.Betas[t-1]) * l
		if t == len(a.Betas)-1 || math.IsInf(logW, -1) {
			return Copy(s), logW, nil
		}
		for range max(a.Steps, 1) {
			var info Info
			if s, info = kernels[t].Step(rng, s); info.Err != nil {
				return s, 0, fmt.Errorf("β = %.4g: %w", a.Betas[t], info.Err)
			}
		}
	}
}

func (a *AIS[S]) check() {
	last := len(a.Betas) - 1
	if last < 1 || a.Betas[0] != 0 || a.Betas[last] != 1 || a.Steps < 0 {
		panic(fmt.Sprintf("sampling: AIS with %d temperatures and %d steps: they must rise from 0 to 1", len(a.Betas), a.Steps))
	}
	for t := range last {
		if !(a.Betas[t] < a.Betas[t+1]) {
			panic(fmt.Sprintf("sampling: AIS with β = %v before %v: they must rise", a.Betas[t], a.Betas[t+1]))
		}
	}
}
