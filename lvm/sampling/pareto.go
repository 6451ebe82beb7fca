package sampling

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Pareto is what the largest importance weights tell about all: the shape of
// a generalised Pareto distribution fitted to them.
type Pareto struct {
	// K is k̂. Weights with k̂ < ½ have a finite variance; from 0.7 on, the
	// draws needed for a small error grow beyond reach. It is +Inf if the
	// tail has fewer than five weights, and NaN if the largest are all equal:
	// nothing can be fitted to those, and nothing is wrong with them.
	K float64

	// Threshold is min(1 − 1/log₁₀N, 0.7): with k̂ above it, N draws are too
	// few for the estimates, or for their standard errors, to be trusted.
	Threshold float64

	Tail int // number of weights fitted
}

// Err returns nil if the weights can be relied on, and otherwise an error that
// says why not and what to try.
func (p Pareto) Err() error {
	if p.K <= p.Threshold || math.IsNaN(p.K) {
		return nil
	}
	return &WeightError{p}
}

// WeightError reports importance weights with too heavy a tail.
type WeightError struct{ Pareto }

// Error tells k̂, and what to try.
func (e *WeightError) Error() string {
	try := "a proposal with heavier tails or closer to the target"
	switch {
	case math.IsInf(e.K, 1):
		return fmt.Sprintf("sampling.ParetoSmooth: only %d weights are in the tail, too few to judge the others by; try more draws, or %s", e.Tail, try)
	case e.K < 0.7:
		try = fmt.Sprintf("at least %.0f draws, or %s", math.Ceil(math.Pow(10, 1/(1-e.K))), try)
	}
	return fmt.Sprintf("sampling.ParetoSmooth: k̂ = %.2f is above %.2f: a few weights outweigh all others; try %s", e.K, e.Threshold, try)
}

// Smooth returns the draws with Pareto-smoothed weights, and what the fit
// tells about the weights; see [ParetoSmooth].
func (w *Weighted[S]) Smooth() (*Weighted[S], Pareto) {
	logWeights, p := ParetoSmooth(w.LogWeights)
	return &Weighted[S]{Draws: w.Draws, LogWeights: logWeights}, p
}

// ParetoSmooth fits a generalised Pareto distribution to the largest
// M = ⌈min(N/5, 3√N)⌉ of N weights and replaces them, in their order, by its
// quantiles (i − ½)/M, cut off at the largest weight. That takes most of the
// variance out of their sum at the price of a small bias. Weights are
// logarithms with any common factor, which they keep.
//
// Cost: O(N + M^(3/2)) after sorting.
//
// Vehtari et al. 2024.
func ParetoSmooth(logWeights []float64) ([]float64, Pareto) {
	n := len(logWeights)
	smoothed := slices.Clone(logWeights)
	p := Pareto{K: math.Inf(1), Threshold: min(1-1/math.Log10(float64(n)), 0.7)}
	if n < 2 || slices.ContainsFunc(smoothed, math.IsNaN) {
		return smoothed, p
	}
	sorted := slices.Clone(logWeights)
	slices.Sort(sorted)
	largest := sorted[n-1]
	if math.IsInf(largest, 0) {
		return smoothed, p
	}

	// The tail is what exceeds the largest weight that is not in it, which
	// must not underflow beside the largest of all.
	m := int(math.Ceil(min(float64(n)/5, 3*math.Sqrt(float64(n)))))
	cut := max(sorted[max(n-m-1, 0)]-largest, math.Log(0x1p-1022))
	var order []int // of the tail, ascending
	for i, l := range logWeights {
		if l-largest > cut {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(logWeights[a], logWeights[b]) })
	p.Tail = len(order)
	if p.Tail == 0 || logWeights[order[0]] == largest {
		if sorted[max(n-5, 0)] == largest {
			p.K = math.NaN()
		}
		return smoothed, p
	}
	if p.Tail < 5 {
		return smoothed, p
	}
	tail := make([]float64, p.Tail)
	for j, i := range order {
		tail[j] = math.Exp(logWeights[i]-largest) - math.Exp(cut)
	}
	k, sigma := FitPareto(tail)
	if k-k != 0 {
		return smoothed, p
	}
	p.K = k
	for j, i := range order {
		q := -math.Log1p(-(float64(j) + 0.5) / float64(p.Tail)) // of the exponential
		if math.Abs(k) > epsilon {
			q = math.Expm1(k*q) / k
		}
		smoothed[i] = min(math.Log(sigma*q+math.Exp(cut)), 0) + largest
	}
	return smoothed, p
}

// FitPareto fits a generalised Pareto distribution to values above 0 in
// ascending order, at least five,
//
//	p(y) = (1/σ) (1 + k y/σ)^(−1/k−1),  y > 0
//
// by the posterior mean of θ = −k/σ under a prior that the data set the scale
// of, over a grid of 30 + √n points. k is then drawn towards ½ as if by ten
// more values, which steadies small samples. The result is NaN if the
// values are too uneven to be fitted.
//
// Zhang & Stephens 2009; Vehtari et al. 2024, appendix G.
func FitPareto(y []float64) (k, sigma float64) {
	n := len(y)
	if n < 5 {
		panic(fmt.Sprintf("sampling: FitPareto of %d values", n))
	}
	size := float64(n)
	quartile := y[int(size/4+0.5)-1]
	grid := 30 + int(math.Sqrt(size))
	theta, logPost := make([]float64, grid), make([]float64, grid)
	for j := range grid {
		theta[j] = 1/y[n-1] + (1-math.Sqrt(float64(grid)/(float64(j)+0.5)))/(3*quartile)
		kj := shape(theta[j], y)
		logPost[j] = size * (math.Log(-theta[j]/kj) - kj - 1)
	}
	var mean float64
	for j, w := range normalise(logPost) {
		mean += w * theta[j]
	}
	k = shape(mean, y)
	sigma = -k / mean
	const prior, strength = 0.5, 10
	return (size*k + strength*prior) / (size + strength), sigma
}

// shape returns the most likely k for θ.
func shape(theta float64, y []float64) float64 {
	var sum float64
	for _, v := range y {
		sum += math.Log1p(-theta * v)
	}
	return sum / float64(len(y))
}
