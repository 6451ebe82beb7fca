package sampling

import (
	"fmt"
	"math"
	"slices"
)

// Autocorrelation returns the autocorrelations of one chain at lags
// 0, …, maxLag, for lags below its length,
//
//	ρ_t = Σ_i (x_i − x̄)(x_{i+t} − x̄) / Σ_i (x_i − x̄)²
//
// It is NaN for a constant chain and for one that is not finite.
//
// Cost: O(n·maxLag), and no more than O(n log n).
func Autocorrelation(x []float64, maxLag int) []float64 {
	if maxLag < 0 {
		panic(fmt.Sprintf("sampling: Autocorrelation up to lag %d", maxLag))
	}
	rho := make([]float64, min(maxLag+1, len(x)))
	if undefined(x) {
		for t := range rho {
			rho[t] = math.NaN()
		}
		return rho
	}
	var a autocovariance
	a.reset([][]float64{x})
	for t := range rho {
		rho[t] = a.at(t) / a.at(0)
	}
	return rho
}

// Geweke returns Geweke's z score of one chain: the difference of the means
// of its first and its last part in units of the standard error, which is
// that of the spectral density at frequency 0 of an autoregression fitted to
// each part. If the chain is stationary, z is about N(0, 1). first and last
// are the fractions, usually 0.1 and 0.5.
//
// It is NaN if a part has fewer than three draws or is not finite, and ±Inf
// or NaN if both are constant. It panics if the parts overlap.
//
// Geweke 1992; the parts and the autoregression (Yule–Walker, with its order
// chosen by AIC) are those of R's coda.
func Geweke(x []float64, first, last float64) float64 {
	if !(first > 0 && last > 0 && first+last <= 1) {
		panic(fmt.Sprintf("sampling: Geweke with the first %v and the last %v of the chain", first, last))
	}
	n := float64(len(x) - 1)
	if n < 1 {
		return math.NaN()
	}
	a := x[:min(len(x), int(math.Ceil(1+first*n)))]
	b := x[max(0, int(math.Floor(n+1-last*n))-1):]
	if len(a) < 3 || len(b) < 3 {
		return math.NaN()
	}
	va := spectrumAtZero(a) / float64(len(a))
	vb := spectrumAtZero(b) / float64(len(b))
	return (mean(a) - mean(b)) / math.Sqrt(va+vb)
}

// spectrumAtZero fits x_t = Σ_k φ_k x_{t−k} + ε by the recursion of Levinson
// and Durbin and returns Var(ε)/(1 − Σφ)² for the order of smallest AIC.
func spectrumAtZero(x []float64) float64 {
	n := len(x)
	if slices.ContainsFunc(x, func(v float64) bool { return v-v != 0 }) {
		return math.NaN()
	}
	if undefined(x) {
		return 0
	}
	var c autocovariance
	c.reset([][]float64{x})
	most := min(n-2, int(10*math.Log10(float64(n))))
	phi, old := make([]float64, 0, most), make([]float64, 0, most)
	v := c.at(0)
	best, spectrum := math.Inf(1), 0.0
	for order := 0; ; order++ {
		aic := float64(n)*math.Log(v) + 2*float64(order)
		if aic < best {
			best = aic
			gain := 1.0
			for _, f := range phi {
				gain -= f
			}
			spectrum = v * float64(n) / float64(n-order-1) / (gain * gain)
		}
		if order == most || v <= 0 {
			return spectrum
		}
		r := c.at(order + 1)
		for k, f := range phi {
			r -= f * c.at(order-k)
		}
		r /= v
		old = append(old[:0], phi...)
		for k := range phi {
			phi[k] -= r * old[len(old)-1-k]
		}
		phi = append(phi, r)
		v *= 1 - r*r
	}
}
