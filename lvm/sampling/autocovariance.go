package sampling

import (
	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// directLags is the number of lags computed as sums of products before a
// Fourier transform gives all of them: a chain that mixes needs only a few.
const directLags = 100

// autocovariance gives the lags of the mean autocovariance of several chains
// of n draws,
//
//	c_t = mean over chains of (1/n) Σ_i (x_i − x̄)(x_{i+t} − x̄)
//
// computing them when they are asked for, in order.
type autocovariance struct {
	n       int
	centred [][]float64
	lags    []float64
	block   []float64
	padded  []float64
	coef    []complex128
	power   []complex128
	fft     *fourier.FFT
}

// reset takes chains and returns their means.
func (a *autocovariance) reset(chains [][]float64) (means []float64) {
	a.n, a.lags, a.centred, a.block = len(chains[0]), a.lags[:0], a.centred[:0], a.block[:0]
	a.block = grow(a.block, len(chains)*a.n)
	means = make([]float64, len(chains))
	for c, x := range chains {
		y := a.block[c*a.n : (c+1)*a.n]
		means[c] = centre(y, x)
		a.centred = append(a.centred, y)
	}
	return means
}

// centre sets y = x − x̄ and returns x̄. For a constant x it is exact.
func centre(y, x []float64) float64 {
	mean := x[0]
	var s float64
	for _, v := range x {
		s += v - mean
	}
	mean += s / float64(len(x))
	s = 0
	for i, v := range x {
		y[i] = v - mean
		s += y[i]
	}
	mean += s / float64(len(x)) // the second pass removes the rounding of the first
	for i, v := range x {
		y[i] = v - mean
	}
	return mean
}

// at returns c_t for t < n.
func (a *autocovariance) at(t int) float64 {
	for len(a.lags) <= t {
		if len(a.lags) >= directLags {
			a.transform()
			break
		}
		lag := len(a.lags)
		var s float64
		for _, x := range a.centred {
			s += floats.Dot(x[:a.n-lag], x[lag:])
		}
		a.lags = append(a.lags, s/float64(a.n*len(a.centred)))
	}
	return a.lags[t]
}

// transform fills in all lags: the autocovariance of zero-padded draws is
// the inverse transform of their squared modulus, which may be summed over
// chains first.
func (a *autocovariance) transform() {
	size := 1
	for size < 2*a.n {
		size *= 2
	}
	if a.fft == nil || a.fft.Len() != size {
		a.fft = fourier.NewFFT(size)
		a.padded = make([]float64, size)
		a.coef, a.power = make([]complex128, size/2+1), make([]complex128, size/2+1)
	}
	clear(a.power)
	for _, x := range a.centred {
		clear(a.padded[copy(a.padded, x):])
		a.fft.Coefficients(a.coef, a.padded)
		for i, c := range a.coef {
			a.power[i] += complex(real(c)*real(c)+imag(c)*imag(c), 0)
		}
	}
	a.fft.Sequence(a.padded, a.power)
	scale := 1 / (float64(size) * float64(a.n*len(a.centred)))
	for t := len(a.lags); t < a.n; t++ {
		a.lags = append(a.lags, a.padded[t]*scale)
	}
}
