package clustering

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// NumParams returns the number of free parameters ν: k−1 weights, k·d means, and
// the covariances, k·d(d+1)/2 for Full, d(d+1)/2 for Tied, k·d for Diagonal and
// k for Spherical.
func (m *GMM) NumParams() int {
	if err := m.check("clustering: GMM.NumParams"); err != nil {
		panic(err)
	}
	k, d := m.Means.Dims()
	n := k - 1 + k*d
	switch m.Shape {
	case Full:
		n += k * d * (d + 1) / 2
	case Tied:
		n += d * (d + 1) / 2
	case Diagonal:
		n += k * d
	case Spherical:
		n += k
	}
	return n
}

// AIC returns Akaike's criterion −2 ln p(x) + 2ν: smaller is better.
//
// Source: Akaike (1974), A new look at the statistical model identification.
func (m *GMM) AIC(x mat.Matrix) float64 { return aic(m, x) }

// BIC returns the Bayesian information criterion −2 ln p(x) + ν ln n: smaller is
// better. Some programs print it with the other sign.
//
// Source: Schwarz (1978), Estimating the dimension of a model.
func (m *GMM) BIC(x mat.Matrix) float64 { return bic(m, x) }

// ICL returns the integrated completed likelihood criterion
//
//	−2 Σ_i ln π_{z_i} N(x_i | μ_{z_i}, Σ_{z_i}) + ν ln n  =  BIC − 2 Σ_i ln γ_{i,z_i},   z = Assign(x):
//
// smaller is better. It is BIC with the labels counted as data, so it charges
// for components that overlap: it looks for clusters where BIC looks for a
// density.
//
// Source: Biernacki, Celeux and Govaert (2000), Assessing a mixture model for
// clustering with the integrated completed likelihood, with the labels of
// largest posterior probability as there.
func (m *GMM) ICL(x mat.Matrix) float64 { return icl(m.BIC(x), m.Posterior(x)) }

func aic(m Mixture, x mat.Matrix) float64 {
	return -2*m.LogLikelihood(x) + 2*float64(m.NumParams())
}

func bic(m Mixture, x mat.Matrix) float64 {
	n, _ := x.Dims()
	return -2*m.LogLikelihood(x) + float64(m.NumParams())*math.Log(float64(n))
}

func icl(bic float64, post *mat.Dense) float64 {
	n, _ := post.Dims()
	var sum float64
	for i := range n {
		top := 0.0
		for _, p := range post.RawRowView(i) {
			top = max(top, p)
		}
		sum += math.Log(top)
	}
	return bic - 2*sum
}
