package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// AdaptiveMetropolis is a random walk that learns the scale σ and the shape
// Σ of its proposal while the chain burns in,
//
//	log σ ← log σ + t^(−0.6) (α − α*)
//	μ ← μ + γ_t (x − μ),  Σ ← (1 − γ_t) Σ + γ_t (1 − γ_t) (x − μ)(x − μ)ᵀ
//
// with α the acceptance probability of step t. The gains γ_t ≈ 2/t weigh
// later states more, so that the way from the start is soon forgotten. They
// shrink, as the theory of adaptation without an end asks; here it does end
// with burn-in, and the chain that is kept is a plain [Metropolis]. A walk
// that runs away, as on a density that cannot be normalised, ends with
// Info.Err.
//
// Cost per step: that of Metropolis with a covariance, and O(d²) for a
// rank-one update of its factor while it adapts.
//
// Haario, Saksman & Tamminen 2001 for Σ, Andrieu & Thoms 2008, §4, for σ;
// named in notes 000, §5.4.
type AdaptiveMetropolis struct {
	// LogDensity returns log p̃(x), up to a constant, as for Metropolis.
	LogDensity func(x []float64) float64

	// Target is the acceptance rate α* aimed at. 0 means 0.44 for d = 1 and
	// 0.234 else.
	Target float64

	// Scale and Cov are σ and Σ at the start. 0 means 2.38/√d, nil the
	// identity.
	Scale float64
	Cov   mat.Symmetric

	walk       Metropolis
	mean, diff []float64
	lost       error // met while adapting, reported by the next step
}

// Step proposes one move from x.
func (m *AdaptiveMetropolis) Step(rng *rand.Rand, x []float64) ([]float64, Info) {
	if m.walk.LogDensity == nil {
		checkTarget("AdaptiveMetropolis", m.Target)
		m.walk = Metropolis{LogDensity: m.LogDensity, Scale: m.Scale, Cov: m.Cov}
	}
	if m.lost != nil {
		return x, Info{LogDensity: math.NaN(), Err: m.lost}
	}
	return m.walk.Step(rng, x)
}

// farthest bounds the scale and the states of a walk that adapts. A walk on a
// density that cannot be normalised has no scale at which it is refused.
const farthest = 1e100

// Adapt learns from step t of n.
func (m *AdaptiveMetropolis) Adapt(_ *rand.Rand, t, _ int, x []float64, info Info) {
	d := len(x)
	w := &m.walk
	if t == 0 || info.Err != nil {
		m.mean, m.diff = append(m.mean[:0], x...), grow(m.diff, d)
		return
	}
	if w.lower == nil {
		w.lower = make([]float64, d*d)
		for i := range d {
			w.lower[i*d+i] = 1
		}
	}
	target := m.Target
	if target == 0 {
		target = 0.234
		if d == 1 {
			target = 0.44
		}
	}
	if w.Scale > farthest || !(floats.Norm(x, 2) <= farthest) {
		m.lost = &lvm.DataError{Op: "sampling.AdaptiveMetropolis", Row: -1, Col: -1, Problem: fmt.Sprintf("after %d steps the walk is at %.3g with steps of %.3g", t, x[:min(d, 8)], w.Scale), Try: "a density that can be normalised"}
		return
	}
	w.Scale *= math.Exp(math.Pow(float64(t), -0.6) * (info.Acceptance - target))

	// The Σ of the start counts as 10d states, so that directions which the
	// chain has not seen yet keep their width.
	gain := 2 / float64(t+2+10*d)
	var moved float64
	for i, v := range x {
		diff := v - m.mean[i]
		m.mean[i] += gain * diff
		m.diff[i] = math.Sqrt(gain) * diff
		moved += diff * diff
	}
	shrink := math.Sqrt(1 - gain)
	for i := range w.lower {
		w.lower[i] *= shrink
	}
	if moved > 0 {
		for i := range m.diff {
			m.diff[i] *= shrink
		}
		rankOneUpdate(w.lower, m.diff)
	}
}

// Proposal returns the scale and the shape of the proposal as they are now;
// the shape is nil for the identity.
func (m *AdaptiveMetropolis) Proposal() (scale float64, cov *mat.SymDense) {
	w := &m.walk
	if w.LogDensity == nil {
		return m.Scale, symCopy(m.Cov)
	}
	if w.lower == nil {
		return w.Scale, nil
	}
	d := len(w.z)
	cov = mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			var s float64
			for k := range j + 1 {
				s += w.lower[i*d+k] * w.lower[j*d+k]
			}
			cov.SetSym(i, j, s)
		}
	}
	return w.Scale, cov
}

func symCopy(a mat.Symmetric) *mat.SymDense {
	if a == nil {
		return nil
	}
	s := mat.NewSymDense(a.SymmetricDim(), nil)
	s.CopySym(a)
	return s
}
