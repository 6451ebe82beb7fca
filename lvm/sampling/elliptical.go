package sampling

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// EllipticalSlice samples a posterior with a Gaussian prior,
//
//	p(x) ∝ N(x | μ, Σ) L(x)
//
// by drawing ν ~ N(0, Σ) and slice sampling the angle on the ellipse through
// x and ν, along which the prior is constant:
//
//	x' = μ + (x − μ) cos θ + ν sin θ
//
// It has nothing to tune and suits correlated priors such as those of
// Gaussian processes; a likelihood much narrower than the prior makes it
// slow. The log likelihood may be −Inf; else it is as a log density for
// [Metropolis].
//
// Cost per step: O(d²) for ν, and a few log likelihoods; it allocates
// nothing after the first.
//
// Murray, Adams & MacKay 2010.
type EllipticalSlice struct {
	// LogLikelihood returns log L(x), up to a constant.
	LogLikelihood func(x []float64) float64

	Mean []float64     // μ, nil for zero
	Cov  mat.Symmetric // Σ, d×d, positive definite; nil for the identity

	buf        [2][]float64
	memo       memo
	zero, z, v []float64
	lower      []float64
}

// Step redraws x. Info.LogDensity is the log likelihood.
func (k *EllipticalSlice) Step(rng *rand.Rand, x []float64) ([]float64, Info) {
	const op = "sampling.EllipticalSlice"
	info := Info{LogDensity: math.NaN(), Acceptance: 1}
	if len(k.z) != len(x) || len(x) == 0 {
		if info.Err = k.init(len(x)); info.Err != nil {
			return x, info
		}
	}
	logl, evals := k.memo.at(k.LogLikelihood, x)
	info.LogDensity, info.Evaluations = logl, evals
	if info.Err = checkDensity(op, x, logl); info.Err != nil {
		return x, info
	}
	mean := k.Mean
	if mean == nil {
		mean = k.zero
	}

	gaussianStep(rng, k.v, k.zero, k.z, 1, k.lower)
	height := logl - rng.ExpFloat64()
	theta := 2 * math.Pi * rng.Float64()
	lo, hi := theta-2*math.Pi, theta
	y := nextBuffer(&k.buf, x)
	for range maxShrink {
		sin, cos := math.Sincos(theta)
		for i, v := range k.v {
			y[i] = mean[i] + (x[i]-mean[i])*cos + v*sin
		}
		l := k.LogLikelihood(y)
		info.Evaluations++
		switch {
		case math.IsInf(l, 1):
			info.Err = checkDensity(op, y, l)
			return x, info
		case math.IsNaN(l):
			info.Invalid = true
		case l >= height:
			k.memo.set(y, l)
			info.LogDensity, info.Accepted = l, true
			return y, info
		}
		if theta < 0 {
			lo = theta
		} else {
			hi = theta
		}
		theta = lo + rng.Float64()*(hi-lo)
	}
	info.Invalid = true // the log likelihood changes its mind about x
	return x, info
}

func (k *EllipticalSlice) init(d int) error {
	const op = "sampling.EllipticalSlice"
	if d == 0 {
		return &lvm.ShapeError{Op: op, What: "length of the state", Got: 0, Want: 1}
	}
	if k.Mean != nil && len(k.Mean) != d {
		return &lvm.ShapeError{Op: op, What: "length of the state", Got: d, Want: len(k.Mean)}
	}
	if k.Cov != nil {
		var err error
		if k.lower, err = lowerFactor(op, k.Cov, d); err != nil {
			return err
		}
	}
	k.zero, k.z, k.v = make([]float64, d), make([]float64, d), make([]float64, d)
	return nil
}
