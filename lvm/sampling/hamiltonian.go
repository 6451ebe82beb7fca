package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/kernels"
)

// Leapfrog moves a particle at x with momentum p by one step of size h of
// the leapfrog integrator with unit masses,
//
//	p ← p + (h/2) ∇log p̃(x),  x ← x + h p,  p ← p + (h/2) ∇log p̃(x)
//
// in place, and returns log p̃ of the new x. grad holds the gradient at x, and
// then that at the new x. The step is reversed by one of −h. It keeps volume
// exactly and the energy −log p̃(x) + |p|²/2 up to O(h³), on a path of fixed
// length up to O(h²). It does not allocate.
//
// Neal 2011, §2.3.
func Leapfrog(gradient func(x, grad []float64) float64, x, p, grad []float64, h float64) float64 {
	for i := range x {
		p[i] += 0.5 * h * grad[i]
		x[i] += h * p[i]
	}
	logp := gradient(x, grad)
	for i := range p {
		p[i] += 0.5 * h * grad[i]
	}
	return logp
}

// Metric is the form of the mass matrix M of a Hamiltonian kernel. M⁻¹ is
// best about the covariance of the target, so that it looks round.
type Metric int

const (
	// DiagonalMetric learns a variance for each coordinate.
	DiagonalMetric Metric = iota
	// DenseMetric learns a covariance. It costs O(d²) per leapfrog step.
	DenseMetric
	// UnitMetric keeps unit masses.
	UnitMetric
)

// phase is a point in phase space with what is known there.
type phase struct {
	x, p, grad []float64
	sharp      []float64 // M⁻¹p, the velocity
	accel      []float64 // M⁻¹grad, for a dense metric
	logp       float64
}

func newPhase(d int) phase {
	block := make([]float64, 5*d)
	at := func(i int) []float64 { return block[i*d : (i+1)*d : (i+1)*d] }
	return phase{x: at(0), p: at(1), grad: at(2), sharp: at(3), accel: at(4)}
}

func (z *phase) copyFrom(y *phase) {
	copy(z.x, y.x)
	copy(z.p, y.p)
	copy(z.grad, y.grad)
	copy(z.sharp, y.sharp)
	copy(z.accel, y.accel)
	z.logp = y.logp
}

// mass is M⁻¹ by its diagonal or, if lower is set, in full.
type mass struct {
	inv   []float64 // diagonal, or d×d by rows
	root  []float64 // 1/√diagonal, to draw p
	lower []float64 // Cholesky factor of the full M⁻¹
}

func unitMass(d int) mass {
	one := slices.Repeat([]float64{1}, d)
	return mass{inv: one, root: slices.Clone(one)}
}

// setDiagonal takes M⁻¹ from variances.
func (m *mass) setDiagonal(v []float64) {
	m.inv, m.root, m.lower = append(m.inv[:0], v...), m.root[:0], nil
	for _, s := range v {
		m.root = append(m.root, 1/math.Sqrt(s))
	}
}

// setDense takes M⁻¹ from a covariance with its factor, both d×d by rows.
func (m *mass) setDense(cov, lower []float64) {
	m.inv, m.lower = cov, lower
}

// draw sets p ~ N(0, M).
func (m *mass) draw(rng *rand.Rand, p []float64) {
	if m.lower == nil {
		for i, r := range m.root {
			p[i] = r * rng.NormFloat64()
		}
		return
	}
	d := len(p)
	for i := range p {
		p[i] = rng.NormFloat64()
	}
	for i := d - 1; i >= 0; i-- { // p ← L⁻ᵀp, so that Cov(p) = (LLᵀ)⁻¹ = M
		p[i] /= m.lower[i*d+i]
		for j := range i {
			p[j] -= m.lower[i*d+j] * p[i]
		}
	}
}

// times sets y = M⁻¹v for a dense metric.
func (m *mass) times(y, v []float64) {
	d := len(v)
	kernels.Gemv(1, kernels.Of(d, d, m.inv, d), v, 0, y)
}

// velocity sets what z has of M⁻¹ and returns the kinetic energy ½pᵀM⁻¹p.
func (m *mass) velocity(z *phase) float64 {
	if m.lower != nil {
		m.times(z.sharp, z.p)
		m.times(z.accel, z.grad)
		return floats.Dot(z.p, z.sharp) / 2
	}
	var k float64
	for i, p := range z.p {
		v := m.inv[i] * p
		z.sharp[i] = v
		k += v * p
	}
	return k / 2
}

// hamiltonian is what HMC and NUTS share: the energy, the integrator, the
// tuning, and the gradient at the state returned last.
type hamiltonian struct {
	op       string
	gradient func(x, grad []float64) float64
	visit    func(x []float64)
	eps      float64
	mass     mass
	tuner    *tuner
	buf      buffers
	last     phase // x, grad and logp of the state returned last; p is scratch
	trial    phase // scratch to find a step size
	pending  error // met while adapting, reported by the next step
}

// settings are the exported fields that HMC and NUTS share.
type settings struct {
	gradient    func(x, grad []float64) float64
	visit       func(x []float64)
	eps, target float64
	cov         mat.Symmetric
	metric      Metric
}

// init prepares for states of length d.
func (h *hamiltonian) init(op string, s settings, d int) error {
	if s.gradient == nil {
		panic(op + " without a Gradient")
	}
	if s.eps < 0 || s.eps-s.eps != 0 {
		panic(fmt.Sprintf("%s with step size %v", op, s.eps))
	}
	checkTarget(strings.TrimPrefix(op, "sampling."), s.target)
	if d == 0 {
		return &lvm.ShapeError{Op: op, What: "length of the state", Got: 0, Want: 1}
	}
	h.op, h.gradient, h.visit, h.eps = op, s.gradient, s.visit, s.eps
	h.mass = unitMass(d)
	if s.cov != nil {
		lower, err := lowerFactor(op, s.cov, d)
		if err != nil {
			return err
		}
		if s.metric == DenseMetric {
			cov := make([]float64, d*d)
			for i := range d {
				for j := range d {
					cov[i*d+j] = s.cov.At(i, j)
				}
			}
			h.mass.setDense(cov, lower)
		} else {
			v := make([]float64, d)
			for i := range v {
				v[i] = s.cov.At(i, i)
			}
			h.mass.setDiagonal(v)
		}
	}
	h.buf.resize(d)
	h.last, h.trial = newPhase(d), newPhase(d)
	h.last.x[0] = math.NaN() // equal to no state
	return nil
}

func (h *hamiltonian) ready(d int) bool { return d > 0 && len(h.last.x) == d }

// begin sets z to x with a fresh momentum, and returns the energy there.
func (h *hamiltonian) begin(rng *rand.Rand, z *phase, x []float64) (energy float64, evals int, err error) {
	if h.pending != nil {
		return 0, 0, h.pending
	}
	if !slices.Equal(h.last.x, x) {
		copy(h.last.x, x)
		h.last.logp = h.gradient(h.last.x, h.last.grad)
		evals = 1
	}
	if err := h.check(&h.last); err != nil {
		h.last.x[0] = math.NaN()
		return 0, evals, err
	}
	z.copyFrom(&h.last)
	h.mass.draw(rng, z.p)
	return h.mass.velocity(z) - z.logp, evals, nil
}

// check returns the error for a state that a trajectory cannot start from.
func (h *hamiltonian) check(z *phase) error {
	if err := checkDensity(h.op, z.x, z.logp); err != nil {
		return err
	}
	for i, g := range z.grad {
		if g-g != 0 {
			return &GradientError{Op: h.op, At: slices.Clone(z.x), Coordinate: i, Got: g, Want: math.NaN()}
		}
	}
	return nil
}

// finish makes z the state returned, in storage that is not x.
func (h *hamiltonian) finish(z *phase, x []float64) []float64 {
	copy(h.last.x, z.x)
	copy(h.last.grad, z.grad)
	h.last.logp = z.logp
	y := h.buf.other(x)
	copy(y, z.x)
	return y
}

// leapfrog moves z by one step of size eps and returns the energy, +Inf where
// it is not a number. An infinite density is an error. With a dense metric
// it keeps M⁻¹p and M⁻¹∇ up to date, for one product by M⁻¹ per step.
func (h *hamiltonian) leapfrog(z *phase, eps float64) (energy float64, err error) {
	half, m := 0.5*eps, &h.mass
	dense := m.lower != nil
	d := len(z.grad) // one length for all, so that the loops are free of checks
	grad, x, p, v, accel, inv := z.grad[:d], z.x[:d], z.p[:d], z.sharp[:d], z.accel[:d], m.inv[:d]
	if dense {
		for i, g := range grad {
			p[i] += half * g
			w := v[i] + half*accel[i]
			v[i] = w
			x[i] += eps * w
		}
	} else {
		for i, g := range grad {
			q := p[i] + half*g
			p[i] = q
			x[i] += eps * inv[i] * q
		}
	}
	z.logp = h.gradient(z.x, z.grad)
	if math.IsInf(z.logp, 1) {
		return 0, checkDensity(h.op, z.x, z.logp)
	}
	if h.visit != nil {
		h.visit(z.x)
	}
	var kinetic float64
	if dense {
		m.times(accel, grad)
		for i, g := range grad {
			q, w := p[i]+half*g, v[i]+half*accel[i]
			p[i], v[i] = q, w
			kinetic += w * q
		}
	} else {
		for i, g := range grad {
			q := p[i] + half*g
			w := inv[i] * q
			p[i], v[i] = q, w
			kinetic += w * q
		}
	}
	energy = kinetic/2 - z.logp
	if math.IsNaN(energy) {
		energy = math.Inf(1)
	}
	return energy, nil
}

// maxEnergyError is how far the energy may rise before a trajectory counts
// as divergent (Stan's value: the acceptance would be e^−1000).
const maxEnergyError = 1000

// covariance returns M⁻¹.
func (h *hamiltonian) covariance() *mat.SymDense {
	d := len(h.last.x)
	c := mat.NewSymDense(d, nil)
	for i := range d {
		if h.mass.lower == nil {
			c.SetSym(i, i, h.mass.inv[i])
			continue
		}
		for j := range i + 1 {
			c.SetSym(i, j, h.mass.inv[i*d+j])
		}
	}
	return c
}
