package clustering

import (
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/internal/kernels"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

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
	s.all = make([]float64, k*(1+d+s.perComp))
	s.weight, s.first, s.second = s.all[:k], s.all[k:][:k*d], s.all[k+k*d:]
	return s
}

// reset makes all sums zero, about another origin.
func (s *moments) reset(origin *mat.Dense) {
	clear(s.all)
	s.origin = origin
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

// sweeper is the work space of one goroutine.
type sweeper struct {
	*eStep
	w     []float64 // w_i γ_ik of one component, zero for the padding
	y, wy []float64 // the rows about its origin, and w times those
}

func newSweeper(gs []gaussian, rows int) *sweeper {
	e := newEStep(gs, rows)
	return &sweeper{e, make([]float64, e.size), make([]float64, len(e.x)), make([]float64, len(e.x))}
}

// run adds the rows from lo to hi to s, and returns their log-likelihood.
func (e *sweeper) run(s *moments, data weighted, lo, hi int, respond func(*eStep)) (logLik float64) {
	e.load(data.Rows, lo, hi)
	respond(e.eStep)
	rowWeights := data.w[lo:hi]
	for b, v := range rowWeights {
		if v == 0 {
			for c := range s.k {
				e.of(c)[b] = 0 // it may be NaN, which times zero is not zero
			}
			continue
		}
		logLik += v * e.logProb[b]
	}
	n := e.n
	w, y, wy := e.w[:n], e.y[:n*s.d], e.wy[:n*s.d]
	clear(w[len(rowWeights):])
	for c := range s.k {
		post := e.of(c)
		for b, v := range rowWeights {
			w[b] = v * post[b]
		}
		s.weight[c] += kernels.Sum(w)
		kernels.Centre(s.first[c*s.d:][:s.d], y, wy, e.x, s.origin.RawRowView(c), w)
		second := s.second[c*s.perComp:][:s.perComp]
		if s.full {
			kernels.AddPackedProduct(second, wy, y, s.d)
			continue
		}
		for j := range second {
			second[j] += kernels.Dot(wy[j*n:][:n], y[j*n:][:n])
		}
	}
	return logLik
}

// add counts in one row of component c with weight w.
func (s *moments) add(c int, w float64, row []float64) {
	s.weight[c] += w
	origin := s.origin.RawRowView(c)
	second := s.second[c*s.perComp:]
	for i, v := range row {
		wy := w * (v - origin[i])
		s.first[c*s.d+i] += wy
		if !s.full {
			second[i] += wy * (v - origin[i])
			continue
		}
		for j := range i + 1 {
			second[num.PackedLen(i)+j] += wy * (row[j] - origin[j])
		}
	}
}
