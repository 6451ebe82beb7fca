package clustering

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Step returns the mixture after one step of expectation maximisation, and the
// log-likelihood of the receiver.
//
//	E:  γ_ik = p(z=k | x_i)
//	M:  N_k  = Σ_i γ_ik
//	    π_k  = N_k / n
//	    μ_k  = (1/N_k) Σ_i γ_ik x_i
//	    Σ_k  = (1/N_k) Σ_i γ_ik (x_i − μ_k)(x_i − μ_k)ᵀ     with the new μ_k
//
// for Full; Tied averages the Σ_k with weights π_k, Diagonal keeps their diagonals
// and Spherical the means of those. With a Floor, Σ_k is instead the maximum
// of the expected log-likelihood Q among Σ_k ≽ diag(Floor), so that the
// log-likelihood never falls from a mixture that keeps to its floor.
//
// A mixture that its methods refuse, x of another width, and data that is not
// finite are an error. So is a component that ends up with less than 1e-100 of
// all rows, or with a covariance that is not positive definite, or so narrow
// that rounding moves its log densities by more than 0.01: a
// *lvm.DegenerateError.
//
// Cost: O(n·k·d²) time, for Diagonal and Spherical O(n·k·d); memory beyond x
// does not grow with n·k.
//
// Source: Dempster, Laird and Rubin (1977); Pilikos, Unsupervised Learning,
// (2.16)–(2.24), where N_k must be taken anew in every step and the M step
// comes after all rows.
func (m *GMM) Step(x mat.Matrix) (*GMM, float64, error) {
	return m.StepWeighted(x, nil)
}

// StepWeighted is Step with a weight w_i ≥ 0 for every row: a row of weight 2
// counts as two equal rows, one of weight 0 is not there. nil means ones.
func (m *GMM) StepWeighted(x mat.Matrix, w []float64) (*GMM, float64, error) {
	const op = "clustering.GMM.Step"
	data, err := newWeighted(op, x, w)
	if err != nil {
		return nil, math.NaN(), err
	}
	return newEM(op, data).step(m)
}

// MStep returns the mixture of the receiver's Shape and Floor with the largest
// expected log-likelihood Q under the responsibilities q, n×k; see
// [GMM.FreeEnergy]. Otherwise the receiver does not matter. With q = m.Posterior(x)
// it is Step, which does both halves in one pass.
//
// Besides the errors of Step, q of another shape is a *lvm.ShapeError, and one
// that is negative, not finite or whose rows do not sum to one within 1e-6 is a
// *lvm.DataError.
//
// Cost: that of Step.
func (m *GMM) MStep(x, q mat.Matrix) (*GMM, error) {
	const op = "clustering.GMM.MStep"
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return nil, err
	}
	e := newEM(op, data)
	gs, err := e.prepare(m)
	if err != nil {
		return nil, err
	}
	given, err := responsibilities(op, q, data.N, len(gs))
	if err != nil {
		return nil, err
	}
	e.respond = func(c *eStep) {
		for b := range c.logProb {
			for k, v := range given.Row(c.lo + b) {
				c.of(k)[b] = v
			}
		}
	}
	s, _ := e.sweep(gs, m.Shape, m.Means)
	return e.maximise(m, gs, s)
}

// em is what the steps of one climb share: the data and the work space.
type em struct {
	op      string
	data    weighted
	respond func(*eStep) // fills in the responsibilities of a chunk
	blocks  num.Blocks
	logLik  []float64  // of each block
	sums    []*moments // of each block
	workers []*sweeper
	noise   float64 // of the log-likelihood that the last step returned
}

func newEM(op string, data weighted) *em {
	return &em{op: op, data: data, respond: (*eStep).posterior, blocks: num.BlocksOf(data.N)}
}

func (e *em) rounding() float64 { return e.noise }

// step returns the next mixture, and the log-likelihood of m.
func (e *em) step(m *GMM) (*GMM, float64, error) {
	gs, s, logLik, err := e.expect(m)
	if err != nil {
		return nil, logLik, err
	}
	next, err := e.maximise(m, gs, s)
	return next, logLik, err
}

// expect is the E step. It returns the moments about the means of m, which are
// valid until the next sweep, and the log-likelihood.
func (e *em) expect(m *GMM) ([]gaussian, *moments, float64, error) {
	gs, err := e.prepare(m)
	if err != nil {
		return nil, nil, math.NaN(), err
	}
	s, logLik := e.sweep(gs, m.Shape, m.Means)
	if math.IsNaN(logLik) || math.IsInf(logLik, 0) {
		return nil, nil, logLik, e.outOfRange(m)
	}
	e.noise = 0
	for k, n := range s.weight {
		if gs[k].noise > 0.01 {
			return nil, nil, logLik, tooTight(e.op, k)
		}
		e.noise += n * gs[k].noise
	}
	return gs, s, logLik, nil
}

// prepare checks m against the data.
func (e *em) prepare(m *GMM) ([]gaussian, error) {
	gs, err := m.densities(e.op)
	if err == nil && e.data.D != m.dim() {
		err = &lvm.ShapeError{Op: e.op, What: "columns of x", Got: e.data.D, Want: m.dim()}
	}
	return gs, err
}

// maximise is the M step, given the moments about the means of m.
func (e *em) maximise(m *GMM, gs []gaussian, s *moments) (*GMM, error) {
	if s.offCentre() {
		s, _ = e.sweep(gs, m.Shape, s.means())
	}
	return s.maximise(e.op, m.Shape, m.Floor)
}

// sweep goes over the data once, E step and sums chunk by chunk, and returns
// the moments about origin and the log-likelihood. The blocks are added in
// their order.
func (e *em) sweep(gs []gaussian, shape Shape, origin *mat.Dense) (*moments, float64) {
	if e.workers == nil {
		e.logLik = make([]float64, e.blocks.Count())
		for range e.blocks.Count() {
			e.sums = append(e.sums, newMoments(shape, origin))
		}
		for range e.blocks.Workers() {
			e.workers = append(e.workers, newSweeper(gs, e.data.N))
		}
	}
	for _, w := range e.workers {
		w.gs = gs
	}
	e.blocks.Each(func(worker, block, lo, hi int) {
		w, s := e.workers[worker], e.sums[block]
		s.reset(origin)
		e.logLik[block] = 0
		for ; lo < hi; lo += w.size {
			e.logLik[block] += w.run(s, e.data, lo, min(hi, lo+w.size), e.respond)
		}
	})
	total, logLik := e.sums[0], e.logLik[0]
	for block := 1; block < len(e.sums); block++ {
		floats.Add(total.all, e.sums[block].all)
		logLik += e.logLik[block]
	}
	return total, logLik
}

// tooTight is the error for a covariance that leaves no digits to work with.
func tooTight(op string, k int) error {
	return &lvm.DegenerateError{Op: op, Component: k, Problem: "is so narrow, for where it lies and how its columns depend on each other, that rounding decides its log densities", Try: "subtracting from each column its mean, a higher Floor, or dropping columns that others determine"}
}

// outOfRange is the error for a log-likelihood that is not finite.
func (e *em) outOfRange(m *GMM) error {
	err := &lvm.DataError{Op: e.op, Row: -1, Col: -1, Problem: "the log-likelihood overflows", Try: "components nearer to the data or wider ones, and row weights around 1"}
	for i, w := range e.data.w {
		if w > 0 && math.IsInf(m.LogProb(e.data.Row(i)), -1) {
			err.Row, err.Problem = i, "its density is zero under every component"
			break
		}
	}
	return err
}

// maximise returns the mixture of which the rows have these moments.
func (s *moments) maximise(op string, shape Shape, floor []float64) (*GMM, error) {
	var total float64
	for _, n := range s.weight {
		total += n
	}
	next := &GMM{Weights: make([]float64, s.k), Means: s.means(), Covs: make([]*mat.SymDense, s.k), Shape: shape, Floor: slices.Clone(floor)}
	for c, n := range s.weight {
		if !(n > 1e-100*total) {
			return nil, &lvm.DegenerateError{Op: op, Component: c, Problem: fmt.Sprintf("is empty: its responsibilities sum to %.3g of %.3g rows", n, total), Try: "fewer components, or a start with that one nearer to the data"}
		}
		next.Weights[c] = n / total
		next.Covs[c] = s.scatter(c)
	}
	next.constrain()
	for c, cov := range next.Covs {
		var g gaussian
		if (c == 0 || shape != Tied) && !g.factor(cov, shape) {
			return nil, notPositive(op, c, floor != nil)
		}
	}
	return next, nil
}
