package clustering

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// StepICM returns the mixture after one step of iterated conditional modes, also
// called hard EM or classification EM, and the objective of the receiver.
//
//	z_i = argmax_k π_k N(x_i | μ_k, Σ_k)           the label of row i, as Assign
//	θ   = argmax_θ Σ_i ln π_{z_i} N(x_i | μ_{z_i}, Σ_{z_i})
//
// The objective is the complete-data log-likelihood with the best labels,
//
//	max_z ln p(x, z | θ) = Σ_i max_k ln π_k N(x_i | μ_k, Σ_k),
//
// which never falls, since each half-step maximises it over one of z and θ. It is
// not the log-likelihood, which lies above it and may fall. Where components
// overlap each of them is fitted without the tail that others cut off, so
// the variances come out too small and the means too far apart.
//
// With equal weights and one common variance in all directions the labels and
// the new means are those of KMeans.Step.
//
// The M step, with its Floor, errors and cost are those of Step, and rows that
// belong to no component in part make components empty sooner: a
// *lvm.DegenerateError.
//
// Source: Celeux and Govaert (1992), A classification EM algorithm for
// clustering and two stochastic versions; Subakan, Latent Variable Models,
// variant 1, which maximises p(x, h | θ) where p(x | h, θ) is printed.
func (m *GMM) StepICM(x mat.Matrix) (*GMM, float64, error) {
	const op = "clustering.GMM.StepICM"
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return nil, math.NaN(), err
	}
	return newICM(op, data).step(m)
}

// FitICM returns the mixture of k Gaussians with the largest complete-data
// log-likelihood among the restarts, by StepICM, repeated. The objective in the
// trace is that of StepICM; it never falls.
//
// The options, starts and errors are those of FitGMM, except that Tol is 1e-12 by
// default: there are finitely many labellings, so that a climb ends, mostly
// after few steps, where no label changes.
//
// Cost: that of StepICM for every iteration.
//
// Source: as StepICM.
func FitICM(rng *rand.Rand, x mat.Matrix, k int, opts *GMMOptions) (*GMM, lvm.Trace, error) {
	return fitGMM("FitICM", rng, x, k, opts, lvm.Options{MaxIter: 1000, Tol: 1e-12, Restarts: 4},
		func(op string, data weighted) stepper { return newICM(op, data) })
}

// newICM is EM with responsibilities of zero and one.
func newICM(op string, data weighted) *em {
	e := newEM(op, data)
	e.respond = (*eStep).labels
	return e
}

// labels sets post to one for the most probable component and to zero for the
// others, and logProb to max_k ln p(x, z=k).
func (e *eStep) labels() {
	e.joint()
	copy(e.logProb, e.of(0))
	for c := range e.gs {
		for b, l := range e.of(c)[:len(e.logProb)] {
			e.logProb[b] = max(e.logProb[b], l)
		}
	}
	for b, top := range e.logProb {
		left := 1.0
		for at := b; at < len(e.post); at += e.n {
			if e.post[at] == top {
				e.post[at], left = left, 0 // the lowest among equals
			} else {
				e.post[at] = 0
			}
		}
	}
}
