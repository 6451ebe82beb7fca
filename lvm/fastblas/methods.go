package fastblas

import "gonum.org/v1/gonum/blas"

// Dgemm sets C ← α op(A) op(B) + βC for C m×n.
func (i Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsymm sets C ← αAB + βC, or αBA + βC, for A symmetric and C m×n.
func (i Implementation) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Dsymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsyrk sets one triangle of C ← α op(A) op(A)ᵀ + βC for C n×n.
func (i Implementation) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if !syrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc) {
		i.Implementation.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Dsyr2k sets one triangle of C ← α (op(A) op(B)ᵀ + op(B) op(A)ᵀ) + βC for C n×n.
func (i Implementation) Dsyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !syr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Dsyr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dtrsm sets B, m×n, to the solution X of op(A) X = αB or X op(A) = αB for A triangular.
func (i Implementation) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if !trsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Sgemm sets C ← α op(A) op(B) + βC for C m×n.
func (i Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ssymm sets C ← αAB + βC, or αBA + βC, for A symmetric and C m×n.
func (i Implementation) Ssymm(s blas.Side, ul blas.Uplo, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Ssymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ssyrk sets one triangle of C ← α op(A) op(A)ᵀ + βC for C n×n.
func (i Implementation) Ssyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	if !syrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc) {
		i.Implementation.Ssyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Ssyr2k sets one triangle of C ← α (op(A) op(B)ᵀ + op(B) op(A)ᵀ) + βC for C n×n.
func (i Implementation) Ssyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !syr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Ssyr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Strsm sets B, m×n, to the solution X of op(A) X = αB or X op(A) = αB for A triangular.
func (i Implementation) Strsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int) {
	if !trsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.Implementation.Strsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}
