package sampling

import "math"

// RHat returns the rank-normalised split R̂ of draws, chains × draws of one
// quantity: the potential scale reduction (Gelman & Rubin 1992) of the normal
// scores of the ranks of the half chains, or that of the draws folded about
// their median if it is larger. The first sees chains in different places,
// the second chains of different scale, and neither needs moments. Vehtari
// et al. 2021 ask for R̂ < 1.01.
//
// It is NaN for constant draws, for NaN among them and for fewer than four
// per chain, as in R's posterior, and +Inf for chains that are each constant
// but differ.
//
// Cost: O(S) for S draws in all.
func RHat(draws [][]float64) float64 { return newAnalysis(draws).rhat() }

// RHatBasic returns the split R̂ of the draws themselves, without ranks. It
// overlooks chains that differ in scale only, and means nothing for
// distributions without a variance; [RHat] is the one to use.
func RHatBasic(draws [][]float64) float64 {
	a := newAnalysis(draws)
	return scaleReduction(a.split(a.x))
}

func (a *analysis) rhat() float64 {
	if a.hasNaN() || len(a.x) == 0 {
		return math.NaN()
	}
	a.sort()
	if m := quantile(a.sorted, 0.5); m-m != 0 {
		return math.NaN() // nothing to fold about
	}
	bulk := scaleReduction(a.split(a.bulkScores()))
	tail := scaleReduction(a.split(a.tailScores()))
	return max(bulk, tail)
}

// scaleReduction returns √((B/W + n − 1)/n) for chains of n draws, with B/n
// the variance of their means and W the mean of their variances.
func scaleReduction(chains [][]float64) float64 {
	if undefinedChains(chains) || len(chains[0]) < 2 {
		return math.NaN()
	}
	n := float64(len(chains[0]))
	means := make([]float64, len(chains))
	var within float64
	for c, x := range chains {
		means[c], within = mean(x), within+variance(x)
	}
	within /= float64(len(chains))
	return math.Sqrt((n*variance(means)/within + n - 1) / n)
}

// mean returns the mean, exact for constant values.
func mean(v []float64) float64 {
	var s float64
	for _, x := range v {
		s += x - v[0]
	}
	return v[0] + s/float64(len(v))
}
