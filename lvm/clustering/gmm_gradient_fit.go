package clustering

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// StepGradient returns the mixture after one step of steepest ascent of the
// log-likelihood, and the log-likelihood of the receiver:
//
//	θ ← θ + rate·∂ℓ/∂θ
//
// in the coordinates of [GMMGradient]. The rate is looked for along the
// gradient, afresh in every step: from 1/n it is doubled as long as the
// log-likelihood rises, or else halved until the log-likelihood gains at least
// 0.3 of what the slope promises, rate·‖∂ℓ/∂θ‖² (Armijo 1966). So the
// log-likelihood never falls, and a step costs two or more evaluations of it, each
// about as much as a Step of EM. Where no gain can be told from rounding, a copy
// of the receiver is returned. For a rate of your own, use Gradient and Ascend.
//
// The direction depends on the units of the columns: standardise them first. Even
// so the steps zigzag where the log-likelihood is much steeper in some directions
// than in others; see FitGradient.
//
// The errors are those of Gradient.
//
// Source: as GMMGradient, with the weights and covariances made free.
func (m *GMM) StepGradient(x mat.Matrix) (*GMM, float64, error) {
	const op = "clustering.GMM.StepGradient"
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return nil, math.NaN(), err
	}
	return newAscent(op, data).step(m)
}

// FitGradient returns the mixture of k Gaussians with the largest
// log-likelihood among the restarts, by StepGradient, repeated. The objective in
// the trace is the log-likelihood; it never falls.
//
// The options, starts and errors are those of FitGMM. The Floor is kept to a
// thousandth. A component that loses its rows fades instead of ending in an
// error.
//
// Columns that are not standardised can make its steps so small that it stops, by
// Tol, well below the maximum.
//
// It is here for comparison. Where components overlap it may take fewer steps than
// EM, but each costs several of EM's. A step of EM is also uphill, but scaled by
// Σ_k/N_k for the means and the like for the rest, so that neither units nor narrow
// components hold it up and no rate is needed (Xu and Jordan 1996, On
// convergence properties of the EM algorithm for Gaussian mixtures).
//
// Cost: that of StepGradient for every iteration.
//
// Source: as StepGradient.
func FitGradient(rng *rand.Rand, x mat.Matrix, k int, opts *GMMOptions) (*GMM, lvm.Trace, error) {
	return fitGMM("FitGradient", rng, x, k, opts, lvm.Options{MaxIter: 1000, Tol: 1e-9, Restarts: 4},
		func(op string, data weighted) stepper { return newAscent(op, data) })
}

// ascent is steepest ascent, with the E step of EM.
type ascent struct{ *em }

func newAscent(op string, data weighted) ascent { return ascent{newEM(op, data)} }

// step returns the next mixture, and the log-likelihood of m.
func (a ascent) step(m *GMM) (*GMM, float64, error) {
	_, s, logLik, err := a.expect(m)
	if err != nil {
		return nil, logLik, err
	}
	g, err := m.gradient(a.op, s)
	if err != nil {
		return nil, logLik, err
	}
	noise := a.noise
	next := a.search(m, g, logLik)
	a.noise = noise // that of the log-likelihood of m
	return next, logLik, nil
}

// search returns a mixture higher up along g.
func (a ascent) search(m *GMM, g *GMMGradient, logLik float64) *GMM {
	rate, slope := 1/floats.Sum(a.data.w), g.Norm()*g.Norm()
	least := max(a.noise, 0x1p-52*math.Abs(logLik))
	best, top := a.try(m, g, rate)
	if top >= logLik+0.3*rate*slope {
		for {
			rate *= 2
			next, l := a.try(m, g, rate)
			if !(l > top) {
				return best
			}
			best, top = next, l
		}
	}
	for !(top >= logLik+0.3*rate*slope) {
		rate /= 2
		if !(rate*slope > least) {
			return m.clone()
		}
		best, top = a.try(m, g, rate)
	}
	return best
}

// try returns the mixture at a rate, and its log-likelihood, −Inf if there is none.
func (a ascent) try(m *GMM, g *GMMGradient, rate float64) (*GMM, float64) {
	next, err := m.ascend(a.op, g, rate)
	if err != nil {
		return nil, math.Inf(-1)
	}
	_, _, logLik, err := a.expect(next)
	if err != nil {
		return nil, math.Inf(-1)
	}
	return next, logLik
}
