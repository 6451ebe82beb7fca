package fastblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/latent-lessons/latent/lvm/internal/kernels"
)

// The functions of this file return false, and have done nothing, for what they leave to
// gonum: arguments that do not fit, which it refuses, empty sums, and a destination that
// overlaps an operand.

func gemm[T kernels.Float](tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) bool {
	ma, okA := operand(tA, m, k, a, lda)
	mb, okB := operand(tB, k, n, b, ldb)
	mc, okC := matrix(m, n, c, ldc)
	if !okA || !okB || !okC || alpha == 0 || mc.Overlaps(ma) || mc.Overlaps(mb) {
		return false
	}
	kernels.Gemm(alpha, ma, mb, beta, mc)
	return true
}

func symm[T kernels.Float](s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) bool {
	order := m
	if s == blas.Right {
		order = n
	}
	ma, okA := matrix(order, order, a, lda)
	mb, okB := matrix(m, n, b, ldb)
	mc, okC := matrix(m, n, c, ldc)
	part, okPart := triangle(ul)
	if !okA || !okB || !okC || !okPart || alpha == 0 || mc.Overlaps(ma) || mc.Overlaps(mb) {
		return false
	}
	// Both triangles, once: the product reads each element often.
	full := make([]T, order*order)
	for i := range order {
		for j := range order {
			p, q := i, j
			if (part == kernels.Upper) == (i > j) {
				p, q = j, i
			}
			full[i*order+j] = a[p*lda+q]
		}
	}
	ma = kernels.Of(order, order, full, order)
	switch s {
	case blas.Left:
		kernels.Gemm(alpha, ma, mb, beta, mc)
	case blas.Right:
		kernels.Gemm(alpha, mb, ma, beta, mc)
	default:
		return false
	}
	return true
}

func syrk[T kernels.Float](ul blas.Uplo, tA blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) bool {
	ma, okA := operand(tA, n, k, a, lda)
	mc, okC := matrix(n, n, c, ldc)
	part, okPart := triangle(ul)
	if !okA || !okC || !okPart || alpha == 0 || mc.Overlaps(ma) {
		return false
	}
	kernels.Gemmt(part, alpha, ma, ma.T(), beta, mc)
	return true
}

func syr2k[T kernels.Float](ul blas.Uplo, tA blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) bool {
	ma, okA := operand(tA, n, k, a, lda)
	mb, okB := operand(tA, n, k, b, ldb)
	mc, okC := matrix(n, n, c, ldc)
	part, okPart := triangle(ul)
	if !okA || !okB || !okC || !okPart || alpha == 0 || mc.Overlaps(ma) || mc.Overlaps(mb) {
		return false
	}
	kernels.Gemmt(part, alpha, ma, mb.T(), beta, mc)
	kernels.Gemmt(part, alpha, mb, ma.T(), 1, mc)
	return true
}

func trsm[T kernels.Float](s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int) bool {
	order := m
	if s == blas.Right {
		order = n
	}
	ma, okA := operand(tA, order, order, a, lda)
	mb, okB := matrix(m, n, b, ldb)
	part, okPart := triangle(ul)
	if !okA || !okB || !okPart || alpha == 0 || mb.Overlaps(ma) || d != blas.Unit && d != blas.NonUnit {
		return false
	}
	if tA != blas.NoTrans {
		part = part.Transposed()
	}
	switch s {
	case blas.Left:
		kernels.Trsm(part, d == blas.Unit, alpha, ma, mb)
	case blas.Right:
		kernels.Trsm(part.Transposed(), d == blas.Unit, alpha, ma.T(), mb.T())
	default:
		return false
	}
	return true
}

// operand returns the view of op(A), rows×cols, and whether the arguments fit.
func operand[T kernels.Float](t blas.Transpose, rows, cols int, data []T, stride int) (kernels.Matrix[T], bool) {
	switch t {
	case blas.NoTrans:
		return matrix(rows, cols, data, stride)
	case blas.Trans, blas.ConjTrans:
		m, ok := matrix(cols, rows, data, stride)
		return m.T(), ok
	}
	return kernels.Matrix[T]{}, false
}

func matrix[T kernels.Float](rows, cols int, data []T, stride int) (kernels.Matrix[T], bool) {
	if rows <= 0 || cols <= 0 || stride < cols || len(data) < (rows-1)*stride+cols {
		return kernels.Matrix[T]{}, false
	}
	return kernels.Of(rows, cols, data, stride), true
}

func triangle(ul blas.Uplo) (kernels.Part, bool) {
	switch ul {
	case blas.Upper:
		return kernels.Upper, true
	case blas.Lower:
		return kernels.Lower, true
	}
	return 0, false
}
