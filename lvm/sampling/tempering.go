package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/latent-lessons/latent/lvm"
)

// Tempering runs replicas of a chain at several inverse temperatures β and
// lets neighbours swap their states, so that modes which a hot replica finds
// reach the cold one,
//
//	replica i ~ p̃(x)^β_i,  β_0 = 1 > β_1 > … ≥ 0
//	swap i, j with probability min{1, exp((β_i − β_j)(log p̃(x_j) − log p̃(x_i)))}
//
// A step moves every replica by its own kernel and then tries to swap either
// the pairs 01, 23, … or the pairs 12, 34, …, with equal probability. The
// state is the replicas, coldest first; only s[0] is a draw from p̃:
//
//	cold := sampling.Map(chain, sampling.Cold)
//
// With few temperatures swaps are rare, with many a state takes long to
// wander; between 20% and 60% of swaps accepted is good, see SwapRates. A
// geometric [Ladder] suits many targets.
//
// Cost per step: that of the kernels, and a log density for each replica.
//
// Geyer 1991; Hukushima & Nemoto 1996.
type Tempering struct {
	// LogDensity returns log p̃(x), up to a constant. It may be the log
	// likelihood alone if NewKernel keeps the prior at its own temperature.
	LogDensity func(x []float64) float64

	Betas []float64 // β, the first 1, falling

	// NewKernel makes the kernel that leaves p̃^β invariant, for instance
	// a Metropolis of [Tempered] with Scale ∝ 1/√β.
	NewKernel func(beta float64) Kernel[[]float64]

	kernels []Kernel[[]float64]
	infos   []Info
	buf     [2][][]float64
	logp    []float64
	tries   []int
	swaps   []float64 // Σ acceptance of each pair of neighbours
}

// Tempered returns β·log p̃.
func Tempered(logDensity func(x []float64) float64, beta float64) func(x []float64) float64 {
	return func(x []float64) float64 {
		l := logDensity(x)
		if math.IsInf(l, -1) {
			return l // also for β = 0: the support stays
		}
		return beta * l
	}
}

// TemperedGradient returns β·log p̃ with its gradient.
func TemperedGradient(gradient func(x, grad []float64) float64, beta float64) func(x, grad []float64) float64 {
	return func(x, grad []float64) float64 {
		l := gradient(x, grad)
		for i := range grad {
			grad[i] *= beta
		}
		if math.IsInf(l, -1) {
			return l
		}
		return beta * l
	}
}

// Ladder returns n inverse temperatures from 1 to the hottest, each the same
// factor below the one before.
func Ladder(n int, hottest float64) []float64 {
	if n < 2 || !(hottest > 0 && hottest < 1) {
		panic(fmt.Sprintf("sampling: Ladder of %d temperatures down to %v", n, hottest))
	}
	betas := make([]float64, n)
	for i := range betas {
		betas[i] = math.Pow(hottest, float64(i)/float64(n-1))
	}
	return betas
}

// Cold returns the replica at β = 1.
func Cold(s [][]float64) []float64 { return s[0] }

// SwapRates returns the mean acceptance of the swaps of replicas i and i+1
// that were tried so far, NaN for none.
func (k *Tempering) SwapRates() []float64 {
	rates := make([]float64, len(k.swaps))
	for i, s := range k.swaps {
		rates[i] = s / float64(k.tries[i])
	}
	return rates
}

// Step moves every replica and tries swaps. Info is that of the cold
// replica's kernel, with the evaluations of all; it is Accepted if the cold
// replica moved or was swapped.
func (k *Tempering) Step(rng *rand.Rand, s [][]float64) ([][]float64, Info) {
	if k.kernels == nil {
		k.init()
	}
	if len(s) != len(k.Betas) {
		return s, Info{LogDensity: math.NaN(), Err: &lvm.ShapeError{Op: "sampling.Tempering", What: "replicas in the state", Got: len(s), Want: len(k.Betas)}}
	}
	for _, x := range s {
		if want := max(len(s[0]), 1); len(x) != want {
			return s, Info{LogDensity: math.NaN(), Err: &lvm.ShapeError{Op: "sampling.Tempering", What: "length of a replica", Got: len(x), Want: want}}
		}
	}
	y := k.next(s)
	evals := 0
	for i, kernel := range k.kernels {
		x, info := kernel.Step(rng, s[i])
		copy(y[i], x)
		k.infos[i] = info
		evals += info.Evaluations
		if info.Err != nil {
			info.Err = fmt.Errorf("replica %d with β = %.3g: %w", i, k.Betas[i], info.Err)
			return s, info
		}
	}
	info := k.infos[0]
	for i, x := range y {
		k.logp[i] = k.LogDensity(x)
	}
	for i := rng.IntN(2); i+1 < len(y); i += 2 {
		a, invalid := acceptance((k.Betas[i] - k.Betas[i+1]) * (k.logp[i+1] - k.logp[i]))
		info.Invalid = info.Invalid || invalid
		k.tries[i]++
		k.swaps[i] += a
		if a == 1 || rng.Float64() < a {
			y[i], y[i+1] = y[i+1], y[i]
			k.logp[i], k.logp[i+1] = k.logp[i+1], k.logp[i]
			info.Accepted = info.Accepted || i == 0
		}
	}
	info.LogDensity, info.Evaluations = k.logp[0], evals+len(y)
	return y, info
}

// Adapt adapts the kernels that adapt.
func (k *Tempering) Adapt(rng *rand.Rand, t, n int, s [][]float64, info Info) {
	if k.kernels == nil {
		k.init()
	}
	for i, kernel := range k.kernels {
		if a, ok := kernel.(Adaptive[[]float64]); ok && i < len(s) {
			if t > 0 {
				info = k.infos[i]
			}
			a.Adapt(rng, t, n, s[i], info)
		}
	}
}

func (k *Tempering) init() {
	n := len(k.Betas)
	if n == 0 || k.Betas[0] != 1 {
		panic(fmt.Sprintf("sampling: Tempering with β = %v: the first must be 1", k.Betas))
	}
	for i, b := range k.Betas {
		if !(b >= 0) || math.IsInf(b, 1) || i > 0 && b >= k.Betas[i-1] {
			panic(fmt.Sprintf("sampling: Tempering with β = %v: they must fall and not be negative", k.Betas))
		}
		k.kernels = append(k.kernels, k.NewKernel(b))
	}
	k.infos, k.logp = make([]Info, n), make([]float64, n)
	k.tries, k.swaps = make([]int, n-1), make([]float64, n-1)
}

// next returns storage for a state that is not s.
func (k *Tempering) next(s [][]float64) [][]float64 {
	for b := range k.buf {
		if len(k.buf[b]) != len(s) {
			k.buf[b] = make([][]float64, len(s))
			for i := range s {
				k.buf[b][i] = make([]float64, len(s[i]))
			}
		}
	}
	if &k.buf[0][0] == &s[0] {
		return k.buf[1]
	}
	return k.buf[0]
}
