package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
)

// StudentMixture is a mixture of k multivariate Student-t distributions in d
// dimensions, what Bayesian mixtures predict for the next row:
//
//	p(x) = Σ_k π_k t(x | μ_k, S_k, ν_k),
//	t(x | μ, S, ν) ∝ |S|^{−½} (1 + (x−μ)ᵀS⁻¹(x−μ)/ν)^{−(ν+d)/2}
//
// A component with ν = +Inf is Gaussian with the covariance S. For ν > 2 the
// covariance is S·ν/(ν−2), for less it does not exist. The methods panic with
// a *lvm.DataError, *lvm.ShapeError or *lvm.DegenerateError if the parameters
// are not what they should be.
//
// Source: Bishop (2006), Pattern Recognition and Machine Learning, (B.68), (10.81).
type StudentMixture struct {
	Weights []float64       // π, k, sum to one
	Means   *mat.Dense      // μ, k×d
	Scales  []*mat.SymDense // S_k, d×d, positive definite
	DF      []float64       // ν, k, positive
}

// LogProb returns ln p(x) of one row, NaN if it has a NaN.
//
// It factors the scales on every call, O(k·d³); LogProbs and LogLikelihood do so
// once for all their rows.
func (m *StudentMixture) LogProb(x []float64) float64 {
	row := &mat.Dense{}
	if len(x) > 0 {
		row = mat.NewDense(1, len(x), x)
	}
	const op = "clustering: StudentMixture.LogProb"
	return logLikelihoodOf(op, m.mustPrepare(op), row)
}

// LogProbs returns ln p(x_i) of every row; NaN where a row has a NaN.
func (m *StudentMixture) LogProbs(x mat.Matrix) []float64 {
	const op = "clustering: StudentMixture.LogProbs"
	return logDensitiesOf(op, m.mustPrepare(op), x)
}

// LogLikelihood returns Σ_i ln p(x_i), larger is better; NaN if a row has a NaN.
//
// Cost: O(n·k·d²).
func (m *StudentMixture) LogLikelihood(x mat.Matrix) float64 {
	const op = "clustering: StudentMixture.LogLikelihood"
	return logLikelihoodOf(op, m.mustPrepare(op), x)
}

// Sample draws n rows with the components that they came from. It panics if
// rng is nil or n is negative.
func (m *StudentMixture) Sample(rng *rand.Rand, n int) (z []int, x *mat.Dense) {
	m.mustPrepare("clustering: StudentMixture.Sample")
	checkRand("StudentMixture.Sample", rng)
	g := GMM{Weights: m.Weights, Means: m.Means, Covs: m.Scales}
	z, x = g.Sample(rng, n)
	for i, k := range z {
		if math.IsInf(m.DF[k], 1) {
			continue
		}
		// t is N(0, S) divided by the root of χ²(ν)/ν
		shrink := math.Sqrt(distuv.Gamma{Alpha: m.DF[k] / 2, Beta: m.DF[k] / 2, Src: rng}.Rand())
		mean, row := m.Means.RawRowView(k), x.RawRowView(i)
		for j := range row {
			row[j] = mean[j] + (row[j]-mean[j])/shrink
		}
	}
	return z, x
}

// mustPrepare checks m and factors the scales. The bias is the log of the
// weight and of the density's constant.
func (m *StudentMixture) mustPrepare(op string) []gaussian {
	g := GMM{Weights: m.Weights, Means: m.Means, Covs: m.Scales}
	gs, err := g.densities(op)
	if err != nil {
		panic(err)
	}
	if len(m.DF) != len(m.Weights) {
		panic(&lvm.ShapeError{Op: op, What: "numbers in DF", Got: len(m.DF), Want: len(m.Weights)})
	}
	d := float64(g.dim())
	for k, df := range m.DF {
		if !(df > 0) {
			panic(&lvm.DegenerateError{Op: op, Component: k, Problem: fmt.Sprintf("has %v degrees of freedom", df), Try: "a positive number, or +Inf for a Gaussian"})
		}
		if !math.IsInf(df, 1) {
			gs[k].df = df
			gs[k].bias += lgamma((df+d)/2) - lgamma(df/2) - 0.5*d*math.Log(df/2)
		}
	}
	return gs
}
