package clustering

import (
	"fmt"
	"math"
	"slices"

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
// Responsibilities below e^−60 count as zero.
//
// A mixture that its methods refuse, x of another width, and data that is not
// finite are an error. So is a component that ends up with less than 1e-10 of
// all rows, or with a covariance that is not positive definite: a
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
	return m.step(op, data)
}

func (m *GMM) step(op string, data weighted) (*GMM, float64, error) {
	gs, err := m.densities(op)
	if err != nil {
		return nil, math.NaN(), err
	}
	if data.D != m.dim() {
		return nil, math.NaN(), &lvm.ShapeError{Op: op, What: "columns of x", Got: data.D, Want: m.dim()}
	}
	s := newMoments(m.Shape, m.Means)
	logLik := s.sweep(data, gs)
	if math.IsNaN(logLik) || math.IsInf(logLik, 0) {
		return nil, logLik, farRow(op, m, data)
	}
	if s.offCentre() {
		s = newMoments(m.Shape, s.means())
		s.sweep(data, gs)
	}
	next, err := s.maximise(op, m.Shape, m.Floor)
	return next, logLik, err
}

// farRow is the error for a row whose distance to every component overflows.
func farRow(op string, m *GMM, data weighted) error {
	row := 0
	for i := range data.N {
		if data.w[i] > 0 && math.IsInf(m.LogProb(data.Row(i)), -1) {
			row = i
			break
		}
	}
	return &lvm.DataError{Op: op, Row: row, Col: -1, Problem: "its density is zero under every component", Try: "components nearer to the data, or wider ones"}
}

// moments are the sums over the rows that an M step needs, each component's
// about an origin of its own:
//
//	weight   N_k  = Σ γ
//	first    Σ γ y,          y = x − origin_k
//	second   Σ γ y yᵀ packed, or Σ γ y² where only the diagonal matters
//
// With the old mean for an origin, y is as small as the data allows, so
// one pass is as good as centring first, unless the mean moves far: see offCentre.
type moments struct {
	k, d    int
	full    bool // second holds packed matrices
	origin  *mat.Dense
	weight  []float64
	first   []float64
	second  []float64
	all     []float64 // the three above in one slice
	perComp int       // length of second per component
}

func newMoments(shape Shape, origin *mat.Dense) *moments {
	k, d := origin.Dims()
	s := &moments{k: k, d: d, full: shape == Full || shape == Tied, origin: origin, perComp: d}
	if s.full {
		s.perComp = num.PackedLen(d)
	}
	return s.over(make([]float64, k*(1+d+s.perComp)))
}

// over returns moments like s with their sums in buf.
func (s *moments) over(buf []float64) *moments {
	o := *s
	o.all = buf
	o.weight, buf = buf[:s.k], buf[s.k:]
	o.first, o.second = buf[:s.k*s.d], buf[s.k*s.d:]
	return &o
}

// sweep fills s in one pass over the data, E step and sums chunk by chunk, and
// returns the log-likelihood.
func (s *moments) sweep(data weighted, gs []gaussian) float64 {
	blocks := num.BlocksOf(data.N)
	parts := make([]float64, blocks.Count()*len(s.all))
	logLiks := make([]float64, blocks.Count())
	work := make([]*sweeper, blocks.Workers())
	for i := range work {
		work[i] = newSweeper(gs)
	}
	blocks.Each(func(worker, block, lo, hi int) {
		part := s.over(parts[block*len(s.all):][:len(s.all)])
		for ; lo < hi; lo += chunk {
			logLiks[block] += work[worker].run(part, data, lo, min(hi, lo+chunk))
		}
	})
	var logLik float64
	for block, l := range logLiks {
		logLik += l
		for i, v := range parts[block*len(s.all):][:len(s.all)] {
			s.all[i] += v
		}
	}
	return logLik
}

// sweeper is the work space of one goroutine.
type sweeper struct {
	*eStep
	y []float64 // the rows that belong to a component, about its origin
	w []float64 // w_i γ_ik of those rows
}

func newSweeper(gs []gaussian) *sweeper {
	return &sweeper{newEStep(gs, chunk), make([]float64, (chunk+3)*len(gs[0].mean)), make([]float64, chunk+3)}
}

// least is e^−60. Terms smaller than that by comparison do not show in a sum.
const least = 8.75651076269652e-27

// run adds the rows from lo to hi to s, and returns their log-likelihood.
func (e *sweeper) run(s *moments, data weighted, lo, hi int) float64 {
	e.eStep.run(data.Rows, lo, hi)
	var logLik float64
	for b, w := range data.w[lo:hi] {
		if w > 0 {
			logLik += w * e.logProb[b]
		}
	}
	for c := range s.k {
		e.gather(s, data, lo, hi, c)
		s.add(c, e.w, e.y)
	}
	return logLik
}

// gather collects the rows with a share in component c.
func (e *sweeper) gather(s *moments, data weighted, lo, hi, c int) {
	y, w, d := e.y[:0], e.w[:0], s.d
	origin := s.origin.RawRowView(c)
	for i := lo; i < hi; i++ {
		p := e.post[(i-lo)*s.k+c]
		if p < least || data.w[i] == 0 {
			continue
		}
		w = append(w, p*data.w[i])
		y = y[:len(y)+d]
		to := y[len(y)-d:]
		for j, v := range data.Row(i) {
			to[j] = v - origin[j]
		}
	}
	for len(w)%4 != 0 {
		w = append(w, 0)
		y = y[:len(y)+d]
		clear(y[len(y)-d:])
	}
	e.y, e.w = y, w
}

// add counts in the rows y with weights w.
func (s *moments) add(c int, w, y []float64) {
	for _, v := range w {
		s.weight[c] += v
	}
	first, second := s.first[c*s.d:][:s.d], s.second[c*s.perComp:][:s.perComp]
	if s.full {
		num.AddScatter(first, second, w, y)
		return
	}
	for _, v := range w {
		for j, u := range y[:s.d] {
			first[j] += v * u
			second[j] += v * u * u
		}
		y = y[s.d:]
	}
}

// means returns the weighted means of the rows; the origin where there are none.
func (s *moments) means() *mat.Dense {
	m := mat.DenseCopyOf(s.origin)
	for c, n := range s.weight {
		row := m.RawRowView(c)
		for j := range row {
			if n > 0 {
				row[j] += s.first[c*s.d+j] / n
			}
		}
	}
	return m
}

// offCentre reports whether a mean moved so far from its origin, ten standard
// deviations, that taking the square of that move off the second moments would cost
// more than two digits. The sums are then worth taking again about the new
// means.
func (s *moments) offCentre() bool {
	for c, n := range s.weight {
		for j := range s.d {
			at := c*s.perComp + j
			if s.full {
				at = c*s.perComp + num.PackedLen(j+1) - 1
			}
			move := s.first[c*s.d+j] / n
			if spread := s.second[at]/n - move*move; move*move > 100*spread {
				return true
			}
		}
	}
	return false
}

// maximise is the M step.
func (s *moments) maximise(op string, shape Shape, floor []float64) (*GMM, error) {
	var total float64
	for _, n := range s.weight {
		total += n
	}
	next := &GMM{Weights: make([]float64, s.k), Means: s.means(), Covs: make([]*mat.SymDense, s.k), Shape: shape, Floor: slices.Clone(floor)}
	for c, n := range s.weight {
		if !(n > 1e-10*total) {
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

// scatter returns the covariance of the rows of component c about their mean.
func (s *moments) scatter(c int) *mat.SymDense {
	n, cov := s.weight[c], mat.NewSymDense(s.d, nil)
	first, second := s.first[c*s.d:], s.second[c*s.perComp:]
	for i := range s.d {
		mi := first[i] / n
		if !s.full {
			cov.SetSym(i, i, max(0, second[i]/n-mi*mi))
			continue
		}
		for j, v := range second[num.PackedLen(i):][:i+1] {
			cov.SetSym(i, j, v/n-mi*(first[j]/n))
		}
	}
	return cov
}
