package clustering

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// MixturePrior is the prior of a mixture of k Gaussians:
//
//	π         ~ Dirichlet(α/k, …, α/k)
//	(μ, Σ)_k  ~ Component
//
// All weights together are worth α rows. As k grows it goes over into a
// Dirichlet process with concentration α. Small α favour few components, and
// those that are not needed empty out; α ≥ k keeps them all.
type MixturePrior struct {
	Alpha     float64 // α, positive
	Component NIW
}

func (p MixturePrior) check(op string, d int) error {
	if err := checkPositive(op, "Alpha of the prior", p.Alpha); err != nil {
		return err
	}
	return p.Component.check(op, "the prior", d)
}

// weights returns the Dirichlet distribution of k weights.
func (p MixturePrior) weights(k int) Dirichlet {
	d := Dirichlet{Alpha: make([]float64, k)}
	for c := range d.Alpha {
		d.Alpha[c] = p.Alpha / float64(k)
	}
	return d
}

// VBGMM is the variational posterior of a Bayesian mixture of k Gaussians with
// a [MixturePrior], under the assumption that the labels are independent of the
// parameters:
//
//	p(π, μ, Σ, z | x) ≈ q(π) Π_k q(μ_k, Σ_k) Π_i q(z_i)
//	q(π)        = Dirichlet(α_1, …, α_k)
//	q(μ_k, Σ_k) = NIW(m_k, κ_k, Ψ_k, ν_k)
//
// q(z) is not stored: it follows from the rest, see Posterior. Step improves
// the bound
//
//	ELBO = E_q[ln p(x, z, π, μ, Σ)] − E_q[ln q] ≤ ln p(x),
//
// which is computed with all its constants, so that values for different k and
// priors compare. Such a posterior covers one of the k! labellings; for a
// comparison add ln k! (Bishop 2006, §10.2.4).
//
// A VBGMM can be written by hand. Step returns what is wrong with it as an
// error; the methods without an error result panic with that error, a
// *lvm.DataError, *lvm.ShapeError or *lvm.DegenerateError, and with a
// *lvm.ShapeError if x has another width.
//
// Source: Attias (1999), Inferring parameters and structure of latent variable
// models by variational Bayes; Bishop (2006), Pattern Recognition and Machine
// Learning, §10.2, with α_0 = α/k, β = κ and W = Ψ⁻¹.
type VBGMM struct {
	Alpha      []float64 // α_k, k
	Components []NIW     // q(μ_k, Σ_k), k
	Prior      MixturePrior
}

// Counts returns how many rows each component accounts for, N_k = α_k − α/k. One
// with N_k near zero is empty: its posterior is its prior.
func (m *VBGMM) Counts() []float64 {
	m.mustPrepare("Counts")
	n := make([]float64, len(m.Alpha))
	for k, a := range m.Alpha {
		n[k] = max(0, a-m.Prior.Alpha/float64(len(m.Alpha)))
	}
	return n
}

// Mixture returns the mixture at the posterior means: weights E[π_k], means
// m_k, and covariances E[Σ_k⁻¹]⁻¹ = Ψ_k/ν_k.
func (m *VBGMM) Mixture() *GMM {
	m.mustPrepare("Mixture")
	k, d := len(m.Components), len(m.Components[0].Mean)
	g := &GMM{Weights: Dirichlet{Alpha: m.Alpha}.Mean(), Means: mat.NewDense(k, d, nil)}
	for c, p := range m.Components {
		g.Means.SetRow(c, p.Mean)
		cov := mat.NewSymDense(d, nil)
		cov.ScaleSym(1/p.Nu, p.Scale)
		g.Covs = append(g.Covs, cov)
	}
	return g
}

// Predictive returns the density of the next row, the parameters integrated
// out under q: a mixture of Student-t distributions with weights E[π_k].
func (m *VBGMM) Predictive() *StudentMixture {
	m.mustPrepare("Predictive")
	return predictive(Dirichlet{Alpha: m.Alpha}.Mean(), m.Components)
}

// LogProb returns ln p(x) of one row under Predictive, NaN if it has a NaN.
func (m *VBGMM) LogProb(x []float64) float64 { return m.Predictive().LogProb(x) }

// LogProbs returns ln p(x_i) of every row under Predictive; NaN where a row has a NaN.
func (m *VBGMM) LogProbs(x mat.Matrix) []float64 { return m.Predictive().LogProbs(x) }

// LogLikelihood returns Σ_i ln p(x_i) under Predictive, larger is better; NaN if
// a row has a NaN. It is meant for rows that were not fitted.
func (m *VBGMM) LogLikelihood(x mat.Matrix) float64 { return m.Predictive().LogLikelihood(x) }

// Posterior returns the responsibilities r_ik = q(z_i = k), n×k:
//
//	ln r_ik = E[ln π_k] + ½E[ln |Σ_k⁻¹|] − ½(d/κ_k + ν_k (x_i−m_k)ᵀΨ_k⁻¹(x_i−m_k)) + const
//
// Each row sums to one. A row with a NaN or an infinity gets NaN.
func (m *VBGMM) Posterior(x mat.Matrix) *mat.Dense {
	return posteriorOf("clustering: VBGMM.Posterior", m.mustPrepare("Posterior"), x)
}

// Assign returns the most probable component of every row, the lowest among
// equals. A row with a NaN or an infinity gets −1.
func (m *VBGMM) Assign(x mat.Matrix) []int {
	return assignOf("clustering: VBGMM.Assign", m.mustPrepare("Assign"), x)
}

func (m *VBGMM) mustPrepare(name string) []gaussian {
	gs, err := m.prepare("clustering: VBGMM." + name)
	if err != nil {
		panic(err)
	}
	return gs
}

// prepare checks m and returns E_q[ln π_k N(x | μ_k, Σ_k)] as Gaussians, whose
// covariances are Ψ_k/ν_k and whose biases hold the rest.
func (m *VBGMM) prepare(op string) ([]gaussian, error) {
	k := len(m.Components)
	if k == 0 {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "the mixture has no components", Try: "giving Alpha, Components and Prior, or FitVBGMM"}
	}
	if len(m.Alpha) != k {
		return nil, &lvm.ShapeError{Op: op, What: "numbers in Alpha", Got: len(m.Alpha), Want: k}
	}
	d := len(m.Components[0].Mean)
	if err := m.Prior.check(op, d); err != nil {
		return nil, err
	}
	for c, a := range m.Alpha {
		if !(a > 0) || math.IsInf(a, 1) {
			return nil, &lvm.DegenerateError{Op: op, Component: c, Problem: fmt.Sprintf("has α_k = %v", a), Try: "positive numbers"}
		}
	}
	gs, logs := make([]gaussian, k), Dirichlet{Alpha: m.Alpha}.MeanLog()
	for c, p := range m.Components {
		if err := p.check(op, fmt.Sprintf("component %d", c), d); err != nil {
			return nil, err
		}
		cov := mat.NewSymDense(d, nil)
		cov.ScaleSym(1/p.Nu, p.Scale)
		if !gs[c].factor(cov, Full) {
			return nil, notPositive(op, c, false)
		}
		gs[c].mean = p.Mean
		gs[c].noise = noise(p.Mean, cov, gs[c].chol.Cond, false)
		logDet := gs[c].chol.LogDet + float64(d)*math.Log(p.Nu) // ln |Ψ|
		gs[c].bias = logs[c] + 0.5*p.meanLogDet(logDet) - 0.5*float64(d)*(math.Log(2*math.Pi)+1/p.Kappa)
	}
	return gs, nil
}
