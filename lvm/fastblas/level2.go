package fastblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/latent-lessons/latent/lvm/internal/kernels"
)

// Dgemv sets y ← αAx + βy, or αAᵀx + βy, for A m×n. The transpose, and vectors in pieces,
// are left to gonum.
func (i Implementation) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	ma, ok := matrix(m, n, a, lda)
	if !ok || tA != blas.NoTrans || incX != 1 || incY != 1 || alpha == 0 || len(x) < n || len(y) < m || kernels.Meet(y[:m], x[:n]) || kernels.Meet(y[:m], a) {
		i.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	kernels.Gemv(alpha, ma, x[:n], beta, y[:m])
}
