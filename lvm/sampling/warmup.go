package sampling

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

var errNoStepSize = errors.New("sampling: a Hamiltonian kernel has no step size; set StepSize, or run it with BurnIn so that it finds one")

// tuner tunes a Hamiltonian kernel while it burns in.
type tuner struct {
	step    dualAveraging
	windows []int // the steps after which M⁻¹ is set from the states since the last
	states  moments
}

// adapt learns from step t of n, which ended in x with the given acceptance.
func (h *hamiltonian) adapt(rng *rand.Rand, t, n int, x []float64, acceptance, target float64, metric Metric) {
	if t == 0 {
		if h.eps == 0 {
			h.eps = 1
		}
		h.tuner = &tuner{}
		if metric != UnitMetric {
			h.tuner.windows = windows(n)
		}
		h.tuner.states.reset(len(x), metric == DenseMetric)
		h.restart(rng, x)
		return
	}
	u := h.tuner
	if u == nil {
		return // a step without its start, as in a Cycle whose first kernel failed
	}
	h.eps = u.step.update(acceptance, target)
	if w := u.windows; len(w) > 1 && t > w[0] {
		u.states.add(x)
		if t >= w[1] {
			u.windows = w[1:]
			if u.states.n >= 10 { // fewer only as part of a Mixture, which may pass the end over, too
				h.setMass(&u.states)
				u.states.reset(len(x), metric == DenseMetric)
				h.restart(rng, x)
			}
		}
	}
	if t == n {
		h.eps = u.step.settle()
		h.tuner = nil
	}
}

// restart finds a step size of the right order at x and aims the dual
// averaging a little above it.
func (h *hamiltonian) restart(rng *rand.Rand, x []float64) {
	if err := h.findStepSize(rng, x); err != nil {
		h.pending = err
		return
	}
	h.tuner.step.restart(h.eps)
}

// findStepSize doubles or halves ε until one leapfrog step from x crosses
// the acceptance 0.8 (Hoffman & Gelman 2014, Algorithm 4).
func (h *hamiltonian) findStepSize(rng *rand.Rand, x []float64) error {
	up, first := false, true
	for {
		start, _, err := h.begin(rng, &h.trial, x)
		if err != nil {
			return err
		}
		visit := h.visit
		h.visit = nil
		energy, err := h.leapfrog(&h.trial, h.eps)
		h.visit = visit
		if err != nil {
			return err
		}
		good := start-energy > math.Log(0.8)
		if first {
			up, first = good, false
		}
		if good != up {
			return nil
		}
		if up {
			h.eps *= 2
		} else {
			h.eps /= 2
		}
		if h.eps > 1e7 {
			return fmt.Errorf("%s: every step size is accepted at %.6g; the density is flat there and may not be normalisable", h.op, x[:min(len(x), 8)])
		}
		if h.eps < 1e-12 {
			return fmt.Errorf("%s: no step size is accepted at %.6g; try CheckGradient there, or a log density without jumps", h.op, x[:min(len(x), 8)])
		}
	}
}

// setMass sets M⁻¹ to the covariance of the states, shrunk towards a small
// multiple of the identity as in Stan.
func (h *hamiltonian) setMass(s *moments) {
	n := float64(s.n)
	keep, floor := n/(n+5), 1e-3*5/(n+5)
	d := len(s.mean)
	if !s.dense {
		for i, v := range s.m2 {
			s.m2[i] = keep*v/(n-1) + floor
		}
		h.mass.setDiagonal(s.m2)
		return
	}
	cov := make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			v := keep * s.m2[i*d+j] / (n - 1)
			cov[i*d+j], cov[j*d+i] = v, v
		}
		cov[i*d+i] += floor
	}
	lower, err := lowerFactor(h.op, mat.NewSymDense(d, cov), d)
	if err != nil {
		h.pending = err
		return
	}
	h.mass.setDense(cov, lower)
}

// windows returns the schedule of n burn-in steps: after 75 steps come
// windows of 25, 50, 100, … and at the end 50 steps for the step size alone.
// The first entry is where the first window begins. Shorter burn-ins scale
// it down; below 20 steps there is none.
func windows(n int) []int {
	if n < 20 {
		return nil
	}
	before, size, after := 75, 25, 50
	if before+size+after > n {
		before, after = 15*n/100, n/10
		size = n - before - after
	}
	w, last := []int{before}, n-after
	for end := before; end < last; size *= 2 {
		end += size
		if end+2*size > last { // no room for the next window: take what is left
			end = last
		}
		w = append(w, end)
	}
	return w
}

// dualAveraging tunes log ε so that the mean acceptance meets a target
// (Hoffman & Gelman 2014, §3.2.1, with their γ = 0.05, t₀ = 10, κ = 0.75).
type dualAveraging struct {
	mu     float64 // log of the step size shrunk towards
	errors float64 // H̄, the mean of target − acceptance
	mean   float64 // of log ε, later steps weighing more
	n      float64
}

func (a *dualAveraging) restart(eps float64) {
	*a = dualAveraging{mu: math.Log(10 * eps)}
}

func (a *dualAveraging) update(acceptance, target float64) (eps float64) {
	a.n++
	w := 1 / (a.n + 10)
	a.errors = (1-w)*a.errors + w*(target-acceptance)
	logEps := a.mu - math.Sqrt(a.n)/0.05*a.errors
	w = math.Pow(a.n, -0.75)
	a.mean = (1-w)*a.mean + w*logEps
	return math.Exp(logEps)
}

func (a *dualAveraging) settle() (eps float64) { return math.Exp(a.mean) }

// moments are running means and centred second moments (Welford 1962).
type moments struct {
	n     int
	mean  []float64
	m2    []float64 // d, or d×d by rows with its lower half
	diff  []float64
	dense bool
}

func (m *moments) reset(d int, dense bool) {
	size := d
	if dense {
		size = d * d
	}
	*m = moments{mean: make([]float64, d), m2: make([]float64, size), diff: make([]float64, d), dense: dense}
}

func (m *moments) add(x []float64) {
	m.n++
	d := len(x)
	for i, v := range x {
		m.diff[i] = v - m.mean[i]
		m.mean[i] += m.diff[i] / float64(m.n)
		if !m.dense {
			m.m2[i] += m.diff[i] * (v - m.mean[i])
			continue
		}
		for j, u := range m.diff[:i+1] {
			m.m2[i*d+j] += u * (v - m.mean[i])
		}
	}
}
