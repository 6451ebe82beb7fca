package clustering

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Step returns the posterior after one round of updates, and the bound ELBO of
// the receiver, with the q(z) that is best for it.
//
//	q(z):     r_ik as in Posterior
//	N_k     = Σ_i r_ik,   x̄_k = (1/N_k) Σ_i r_ik x_i,   S_k = Σ_i r_ik (x_i−x̄_k)(x_i−x̄_k)ᵀ
//	q(π):     α_k = α/k + N_k
//	q(μ, Σ):  the posterior of NIW with N_k rows of mean x̄_k and scatter S_k
//
// With q(z) eliminated the bound is
//
//	ELBO = Σ_i ln Σ_k exp E[ln π_k N(x_i | μ_k, Σ_k)] − KL(q(π)‖p(π)) − Σ_k KL(q(μ_k, Σ_k)‖p(μ_k, Σ_k))
//
// and it never falls. A posterior that its methods refuse, x of another width,
// and data that is not finite are an error.
//
// Cost: as GMM.Step, O(n·k·d²).
//
// Source: Bishop (2006), (10.46)–(10.63) and (10.71).
func (m *VBGMM) Step(x mat.Matrix) (*VBGMM, float64, error) { return m.StepWeighted(x, nil) }

// StepWeighted is Step with a weight w_i ≥ 0 for every row: a row of weight 2
// counts as two equal rows, one of weight 0 is not there. nil means ones.
func (m *VBGMM) StepWeighted(x mat.Matrix, w []float64) (*VBGMM, float64, error) {
	const op = "clustering.VBGMM.Step"
	data, err := newWeighted(op, x, w)
	if err != nil {
		return nil, math.NaN(), err
	}
	return vbStep(newEM(op, data), m)
}

// vbStep returns the next posterior, and the bound of m.
func vbStep(e *em, m *VBGMM) (*VBGMM, float64, error) {
	gs, err := m.prepare(e.op)
	if err != nil {
		return nil, math.NaN(), err
	}
	d := len(gs[0].mean)
	if e.data.D != d {
		return nil, math.NaN(), &lvm.ShapeError{Op: e.op, What: "columns of x", Got: e.data.D, Want: d}
	}
	origin := mat.NewDense(len(gs), d, nil)
	for c, g := range gs {
		origin.SetRow(c, g.mean)
	}
	s, bound := e.sweep(gs, Full, origin)
	bound -= m.divergence(gs)
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return nil, bound, &lvm.DataError{Op: e.op, Row: -1, Col: -1, Problem: "the bound overflows", Try: "a prior nearer to the data or with a wider Scale, and row weights around 1"}
	}
	// The divergence needs ln |Ψ_k| and traces with Ψ_k⁻¹, and a factor of Ψ_k gives
	// them up to a few d·u times its condition. ν_k of them count.
	e.noise = 0
	for c, n := range s.weight {
		e.noise += n*gs[c].noise + 4*float64(d)*0x1p-53*gs[c].chol.Cond*m.Components[c].Nu
	}
	next := m.Prior.posterior(s)
	if next.lostDigits(s) {
		s, _ = e.sweep(gs, Full, s.means())
		next = m.Prior.posterior(s)
	}
	return next, bound, nil
}

// posterior returns q(π) and q(μ, Σ) given the sums of the responsibilities.
func (p MixturePrior) posterior(s *moments) *VBGMM {
	m := &VBGMM{Alpha: p.weights(s.k).Alpha, Prior: p}
	for c, n := range s.weight {
		m.Alpha[c] += n
		m.Components = append(m.Components, p.Component.given(s, c))
	}
	return m
}

// lostDigits reports whether a mean moved so far from the origin of the sums, ten
// times what the scale of the posterior says, that taking the square of
// that move off the second moments cost more than two digits.
func (m *VBGMM) lostDigits(s *moments) bool {
	for c, n := range s.weight {
		for j := range s.d {
			first := s.first[c*s.d+j]
			if first*first > 100*n*m.Components[c].Scale.At(j, j) {
				return true
			}
		}
	}
	return false
}

// divergence returns KL(q‖p) of the parameters. The factors in gs are those of Ψ/ν.
func (m *VBGMM) divergence(gs []gaussian) float64 {
	kl := Dirichlet{Alpha: m.Alpha}.KL(m.Prior.weights(len(m.Alpha)))
	prior, _ := num.NewCholesky(m.Prior.Component.Scale)
	for _, q := range m.Components {
		c, _ := num.NewCholesky(q.Scale)
		kl += q.kl(m.Prior.Component, c, prior)
	}
	return kl
}
