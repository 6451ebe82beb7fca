package sampling

import (
	"fmt"
	"math"
)

// ESSBulk returns the bulk effective sample size of draws, chains × draws of
// one quantity: how many independent draws would tell as much about the
// middle of the distribution. It is the effective sample size of the normal
// scores of the ranks of the split chains, so it exists for a distribution
// without moments. Vehtari et al. 2021 ask for at least 100 per chain.
//
// It is NaN for constant draws, for NaN among them and for fewer than six
// per chain, as in R's posterior.
//
// Cost: O(S·t) for S draws, and t lags until the autocorrelation has died
// out; O(S log S) if that is long.
func ESSBulk(draws [][]float64) float64 { return newAnalysis(draws).essBulk() }

// ESSTail returns the tail effective sample size, the smaller of those of
// the 5% and the 95% quantile. Conditions are those of [ESSQuantile].
func ESSTail(draws [][]float64) float64 { return newAnalysis(draws).essTail() }

// ESSMean returns the effective sample size for the mean. It is NaN where
// [ESSBulk] is, and for infinite draws.
func ESSMean(draws [][]float64) float64 { return newAnalysis(draws).essMean() }

// ESSSD returns the effective sample size for the standard deviation, that
// of |x − x̄|.
func ESSSD(draws [][]float64) float64 {
	a := newAnalysis(draws)
	mean, _ := a.moments()
	return a.essOf(func(x float64) float64 { return math.Abs(x - mean) })
}

// ESSQuantile returns the effective sample size for the p-quantile, that of
// the indicator of x ≤ quantile. It is NaN where [ESSBulk] is, for infinite
// draws, and where all draws lie on one side. It panics unless 0 ≤ p ≤ 1.
func ESSQuantile(draws [][]float64, p float64) float64 {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("sampling: ESSQuantile of %v", p))
	}
	return newAnalysis(draws).essQuantile(p)
}

// AutocorrelationTime returns the integrated autocorrelation time
// τ = 1 + 2 Σ_t ρ_t of the mean: how many draws are worth one independent
// draw. It is S/ESSMean for S draws in all.
func AutocorrelationTime(draws [][]float64) float64 {
	a := newAnalysis(draws)
	return float64(len(a.x)) / a.essMean()
}

func (a *analysis) essBulk() float64 {
	if a.hasNaN() {
		return math.NaN()
	}
	return a.ess(a.split(a.bulkScores()))
}

func (a *analysis) essTail() float64 {
	return min(a.essQuantile(0.05), a.essQuantile(0.95))
}

func (a *analysis) essMean() float64 { return a.ess(a.split(a.x)) }

func (a *analysis) essQuantile(p float64) float64 {
	if undefined(a.x) {
		return math.NaN()
	}
	if p == 1 {
		s := float64(len(a.x))
		p = (s - 0.5) / s
	}
	a.sort()
	q := quantile(a.sorted, p)
	return a.essOf(func(x float64) float64 {
		if x <= q {
			return 1
		}
		return 0
	})
}

// essOf returns the effective sample size for the mean of f(x).
func (a *analysis) essOf(f func(x float64) float64) float64 {
	a.z = grow(a.z, len(a.x))
	for i, x := range a.x {
		a.z[i] = f(x)
	}
	return a.ess(a.split(a.z))
}

// ess returns the effective sample size of chains for the mean,
//
//	S/τ,  τ = 1 + 2 Σ_{t≥1} ρ_t,  ρ_t = 1 − (W − c_t)/var⁺
//
// with W the mean variance within, var⁺ that of the pooled chains, and c_t
// the mean autocovariance. Sums of pairs ρ_{2t} + ρ_{2t+1} are positive and
// fall (Geyer 1992), so the sum ends where an estimate turns negative, and
// each pair is brought down to the one before. The autocorrelation time is
// held above 1/log₁₀S, where the estimate for antithetic chains is wild.
//
// Vehtari et al. 2021, §3.2; the ends of the sum are those of R's posterior.
func (a *analysis) ess(chains [][]float64) float64 {
	if undefinedChains(chains) || len(chains[0]) < 3 {
		return math.NaN()
	}
	n, s := len(chains[0]), float64(len(chains)*len(chains[0]))
	means := a.lags.reset(chains)
	within := a.lags.at(0) * float64(n) / float64(n-1)
	plus := a.lags.at(0) + variance(means)

	rho := func(t int) float64 { return 1 - (within-a.lags.at(t))/plus }
	even, odd := 1.0, rho(1)
	pairs := [][2]float64{{even, odd}}
	last := 0 // the lag where the sum ends, with what is left of its pair
	for last < n-5 && even+odd > 0 {
		last += 2
		even, odd = rho(last), rho(last+1)
		pairs = append(pairs, [2]float64{max(even, 0), 0})
		if even+odd >= 0 {
			pairs[last/2] = [2]float64{even, odd}
		}
	}
	for i := 1; i < last/2; i++ {
		if before := pairs[i-1][0] + pairs[i-1][1]; pairs[i][0]+pairs[i][1] > before {
			pairs[i] = [2]float64{before / 2, before / 2}
		}
	}

	tau := -1 + pairs[last/2][0]
	for _, p := range pairs[:last/2] {
		tau += 2 * (p[0] + p[1])
	}
	if last == 0 {
		tau = 2 // too short to estimate even one pair
	}
	return s / max(tau, 1/math.Log10(s))
}

func undefinedChains(chains [][]float64) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, chain := range chains {
		for _, x := range chain {
			if x-x != 0 {
				return true
			}
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	return !(hi-lo >= epsilon)
}

// variance returns the unbiased variance, 0 for a single value.
func variance(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	var mean, s, rest float64
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		s += (x - mean) * (x - mean)
		rest += x - mean
	}
	return (s - rest*rest/float64(len(v))) / float64(len(v)-1)
}
