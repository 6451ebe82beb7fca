package sampling

import (
	"fmt"
	"math/rand/v2"
)

// Resampling says how weighted draws are turned into equal ones.
type Resampling int

const (
	// MultinomialResampling draws each state anew with probability
	// proportional to its weight.
	MultinomialResampling Resampling = iota
	// SystematicResampling lays one comb of n equidistant teeth with a random
	// offset over the weights: each state comes ⌊n s⌋ or ⌈n s⌉ times for its
	// normalised weight s, so that less noise is added.
	SystematicResampling
)

// Resample draws n states with probability proportional to their weights,
// with repetition: sampling–importance–resampling. The draws follow p up to
// the error of the weights, and many are the same where the weights are
// uneven: estimates from the weights themselves are better. It panics if no
// weight is positive.
//
// Rubin 1988; Kitagawa 1996 (systematic).
func (w *Weighted[S]) Resample(rng *rand.Rand, n int, how Resampling) []S {
	indices, err := ResampleIndices(rng, w.Weights(), n, how)
	if err != nil {
		panic("sampling: Resample: " + err.Error())
	}
	draws := make([]S, n)
	for i, at := range indices {
		draws[i] = Copy(w.Draws[at])
	}
	return draws
}

// ResampleIndices draws n indices with probability proportional to their
// weights. Weights that are negative, not finite or all zero give a
// *lvm.DataError.
//
// Cost: O(n + len(weights)).
func ResampleIndices(rng *rand.Rand, weights []float64, n int, how Resampling) ([]int, error) {
	checkRand("ResampleIndices", rng)
	checkCount("ResampleIndices", n)
	switch how {
	case MultinomialResampling:
		a, err := NewAlias(weights)
		if err != nil {
			return nil, err
		}
		return a.Sample(rng, n), nil
	case SystematicResampling:
		return systematic(rng, weights, n)
	}
	panic(fmt.Sprintf("sampling: Resampling(%d)", int(how)))
}

func systematic(rng *rand.Rand, weights []float64, n int) ([]int, error) {
	if err := checkMasses("sampling.ResampleIndices", weights); err != nil {
		return nil, err
	}
	var sum float64
	last := 0 // with weight, for a tooth that rounding puts beyond the sum
	for i, v := range weights {
		sum += v
		if v > 0 {
			last = i
		}
	}
	indices := make([]int, n)
	offset := rng.Float64()
	at, below := 0, weights[0]
	for i := range indices {
		tooth := (float64(i) + offset) / float64(n) * sum
		for tooth >= below && at < last {
			at++
			below += weights[at]
		}
		indices[i] = at
	}
	return indices, nil
}
