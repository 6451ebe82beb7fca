package main

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	_ "github.com/latent-lessons/latent/lvm/fastblas" // makes blas64.Gemv fast
)

var (
	schoolsY     = [8]float64{28, 8, -3, 7, -1, 1, 18, 12}
	schoolsSigma = [8]float64{15, 10, 16, 11, 9, 11, 10, 18}
)

// schools are the eight schools of Rubin 1981 with the state (μ, log τ, η) and
// effects μ + τη; μ ~ N(0, 5²), τ ~ Cauchy⁺(0, 5).
func schools(x, grad []float64) float64 {
	mu, tau := x[0], math.Exp(x[1])
	logp := -mu*mu/50 + x[1] - math.Log1p(tau*tau/25)
	grad[0], grad[1] = -mu/25, 1-2*tau*tau/(25+tau*tau)
	for j, y := range schoolsY {
		eta, w := x[2+j], 1/(schoolsSigma[j]*schoolsSigma[j])
		r := y - mu - tau*eta
		logp -= 0.5 * (r*r*w + eta*eta)
		grad[0] += r * w
		grad[1] += r * w * tau * eta
		grad[2+j] = r*w*tau - eta
	}
	return logp
}

// The Gaussian has unit variances and correlations ρ^|i−j|, so its precision has
// three diagonals: (1, 1+ρ², …, 1+ρ², 1)/(1−ρ²) with −ρ/(1−ρ²) next to them.
const (
	dim = 100
	rho = 0.9
)

// fullGaussian multiplies by the precision as a full matrix, as one does for a
// precision without structure.
func fullGaussian() func(x, grad []float64) float64 {
	q := blas64.General{Rows: dim, Cols: dim, Stride: dim, Data: make([]float64, dim*dim)}
	for i := range dim {
		q.Data[i*dim+i] = (1 + rho*rho) / (1 - rho*rho)
		if i == 0 || i == dim-1 {
			q.Data[i*dim+i] = 1 / (1 - rho*rho)
		}
		if i > 0 {
			q.Data[i*dim+i-1] = -rho / (1 - rho*rho)
			q.Data[(i-1)*dim+i] = -rho / (1 - rho*rho)
		}
	}
	return func(x, grad []float64) float64 {
		v, g := blas64.Vector{N: dim, Inc: 1, Data: x}, blas64.Vector{N: dim, Inc: 1, Data: grad}
		blas64.Gemv(blas.NoTrans, -1, q, v, 0, g)
		return 0.5 * blas64.Dot(v, g)
	}
}

// bandedGaussian uses x₀ and the innovations xᵢ − ρxᵢ₋₁ instead.
func bandedGaussian() func(x, grad []float64) float64 {
	const w = 1 / (1 - rho*rho)
	return func(x, grad []float64) float64 {
		grad[0] = -x[0]
		logp := -0.5 * x[0] * x[0]
		for i := 1; i < len(x); i++ {
			r := x[i] - rho*x[i-1]
			logp -= 0.5 * w * r * r
			grad[i] = -w * r
			grad[i-1] += w * rho * r
		}
		return logp
	}
}
