package num

import (
	"math"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Packed lower triangles hold row i of a d×d matrix in [i(i+1)/2, i(i+1)/2+i],
// so that a row is contiguous and nothing above the diagonal is stored.

// PackedLen returns the length of a packed d×d triangle.
func PackedLen(d int) int { return d * (d + 1) / 2 }

// Cholesky is the factor L of a covariance Σ = L Lᵀ, made for solving with
// many right-hand sides.
type Cholesky struct {
	L      []float64 // packed; its diagonal holds the reciprocals 1/L_ii
	LogDet float64   // log |Σ|
	Cond   float64   // max Σ_ii/L_ii²: how nearly the columns determine each other, at least 1
}

// NewCholesky factors sigma. It reports false if sigma is not positive
// definite to working precision: L_ii²/Σ_ii, the share of a column's variance
// that the columns before it leave unexplained, must exceed the rounding of
// a sum of d squares. That test does not depend on the units of the columns.
func NewCholesky(sigma mat.Symmetric) (Cholesky, bool) {
	d := sigma.SymmetricDim()
	full := mat.NewSymDense(d, nil)
	full.CopySym(sigma)
	u, ok := lapack64.Potrf(full.RawSymmetric()) // Σ = Uᵀ U, U = Lᵀ
	if !ok {
		return Cholesky{}, false
	}
	c := Cholesky{L: make([]float64, PackedLen(d)), Cond: 1}
	tiny := 8 * float64(d) * 0x1p-52
	for i := range d {
		row := c.L[PackedLen(i):]
		for j := range i {
			row[j] = u.Data[j*u.Stride+i]
		}
		p := u.Data[i*u.Stride+i]
		if !(p*p > tiny*sigma.At(i, i)) || math.IsInf(p, 1) {
			return Cholesky{}, false
		}
		row[i] = 1 / p
		c.Cond = max(c.Cond, sigma.At(i, i)/(p*p))
		c.LogDet += 2 * math.Log(p)
	}
	return c, true
}
