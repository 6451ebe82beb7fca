package clustering

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A line, three rows and two components: what the bound and the predictive
// density average over q are integrals over one weight, and over a mean and a
// variance. They are done here by the trapezoidal rule, with densities written
// out; at these widths it has converged beyond the tolerances.

// niwLine visits (μ, σ²) and the mass there of a normal–inverse-Wishart
// distribution in one dimension, σ² by its logarithm and μ in units of σ/√κ.
func niwLine(p NIW, f func(mu, v, mass float64)) {
	const h = 0.05
	psi := p.Scale.At(0, 0)
	for t := -9.0; t < 18; t += h {
		v := math.Exp(t)
		lg, _ := math.Lgamma(p.Nu / 2)
		logV := p.Nu/2*math.Log(psi/2) - lg - p.Nu/2*t - psi/(2*v) // of ln v
		for u := -9.0; u < 9; u += h {
			mass := math.Exp(logV-u*u/2) / math.Sqrt(2*math.Pi) * h * h
			f(p.Mean[0]+u*math.Sqrt(v/p.Kappa), v, mass)
		}
	}
}

// logNIWLine is ln p(μ, σ²).
func logNIWLine(p NIW, mu, v float64) float64 {
	psi := p.Scale.At(0, 0)
	lg, _ := math.Lgamma(p.Nu / 2)
	return p.Nu/2*math.Log(psi/2) - lg - (p.Nu/2+1)*math.Log(v) - psi/(2*v) + logNormalLine(mu, p.Mean[0], v/p.Kappa)
}

func logNormalLine(x, mean, v float64) float64 {
	return -0.5 * (math.Log(2*math.Pi*v) + (x-mean)*(x-mean)/v)
}

// betaLine visits ln π_1, ln π_2 and the mass there of a Beta distribution, by
// the logit of π_1.
func betaLine(a, b float64, f func(logP, logQ, mass float64)) {
	const h = 0.02
	for t := -60.0; t < 60; t += h {
		logP, logQ := -math.Log1p(math.Exp(-t)), -math.Log1p(math.Exp(t))
		f(logP, logQ, math.Exp(logBetaLine(a, b, logP, logQ)+logP+logQ)*h)
	}
}

func logBetaLine(a, b, logP, logQ float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return lab - la - lb + (a-1)*logP + (b-1)*logQ
}

func TestVBGMMIntegral(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{-1, 0.3, 1.8})
	niw := func(m, kappa, psi, nu float64) NIW {
		return NIW{Mean: []float64{m}, Kappa: kappa, Nu: nu, Scale: mat.NewSymDense(1, []float64{psi})}
	}
	m := &VBGMM{
		Alpha:      []float64{1.6, 2.9},
		Components: []NIW{niw(-0.7, 1.5, 1.2, 4.5), niw(1.1, 2.5, 2, 6)},
		Prior:      MixturePrior{Alpha: 1.5, Component: niw(0.2, 0.5, 1.5, 4)},
	}
	_, bound, err := m.Step(x)
	if err != nil {
		t.Fatal(err)
	}
	r := m.Posterior(x)

	// E_q[ln p(x, z, π, μ, Σ) − ln q(z, π, μ, Σ)]
	var elbo, mass float64
	betaLine(m.Alpha[0], m.Alpha[1], func(logP, logQ, w float64) {
		mass += w
		elbo += w * (logBetaLine(0.75, 0.75, logP, logQ) - logBetaLine(m.Alpha[0], m.Alpha[1], logP, logQ))
		for i := range 3 {
			elbo += w * (r.At(i, 0)*logP + r.At(i, 1)*logQ)
		}
	})
	if !(math.Abs(mass-1) < 1e-9) {
		t.Fatalf("q(π) has mass %v on the grid", mass)
	}
	next := []float64{0, 0} // E_q[N(0.5 | μ_k, σ²_k)]
	for k, q := range m.Components {
		mass = 0
		niwLine(q, func(mu, v, w float64) {
			mass += w
			elbo += w * (logNIWLine(m.Prior.Component, mu, v) - logNIWLine(q, mu, v))
			for i := range 3 {
				elbo += w * r.At(i, k) * logNormalLine(x.At(i, 0), mu, v)
			}
			next[k] += w * math.Exp(logNormalLine(0.5, mu, v))
		})
		if !(math.Abs(mass-1) < 1e-9) {
			t.Fatalf("q(μ, Σ) of component %d has mass %v on the grid", k, mass)
		}
	}
	for i := range 3 {
		for k := range 2 {
			elbo -= r.At(i, k) * math.Log(r.At(i, k))
		}
	}
	if !(math.Abs(bound-elbo) < 1e-8) {
		t.Errorf("bound %v, by its definition %v", bound, elbo)
	}
	if got, want := m.LogProb([]float64{0.5}), math.Log((1.6*next[0]+2.9*next[1])/4.5); !(math.Abs(got-want) < 1e-8) {
		t.Errorf("predictive density %v, want %v", got, want)
	}

	// The evidence is a sum over the labellings; for each, the weight and the
	// parameters of either component are integrated out on their own.
	var evidence float64
	for s := range 8 {
		part := 0.0
		ones := float64(s&1 + s>>1&1 + s>>2&1)
		betaLine(0.75, 0.75, func(logP, logQ, w float64) { part += w * math.Exp((3-ones)*logP+ones*logQ) })
		for k := range 2 {
			var rows float64
			niwLine(m.Prior.Component, func(mu, v, w float64) {
				for i := range 3 {
					if s>>i&1 == k {
						w *= math.Exp(logNormalLine(x.At(i, 0), mu, v))
					}
				}
				rows += w
			})
			part *= rows
		}
		evidence += part
	}
	g := &MixtureGibbs{X: x, K: 2, Alpha: 1.5, Prior: m.Prior.Component}
	if want := logEvidence(3, 2, g.LogJoint); !(math.Abs(math.Log(evidence)-want) < 1e-8) {
		t.Errorf("evidence %v by integrals, %v in closed form", math.Log(evidence), want)
	}
	_, trace, err := FitVBGMM(nil, x, 2, &VBGMMOptions{Options: settled, Start: m})
	if err != nil {
		t.Fatal(err)
	}
	if best := trace.Final(); !(bound < best && best < math.Log(evidence)) {
		t.Errorf("bounds %v and, fitted, %v, evidence %v", bound, best, math.Log(evidence))
	}
}
