package kernels

import (
	"fmt"
	"math"
)

// Cholesky factorises the symmetric positive definite A, n×n, of which it reads and
// overwrites one part: Upper leaves U with A = UᵀU, Lower leaves L with A = LLᵀ. It
// returns -1, or the first i such that the leading i+1 rows and columns of A are not
// positive definite as far as rounding can tell; A is then half done. It panics if A
// is not square or if neither stride is 1.
//
// The matrix is cut in two: A₁₁ = U₁ᵀU₁, U₁₂ = U₁⁻ᵀA₁₂, A₂₂ - U₁₂ᵀU₁₂ = U₂ᵀU₂ (Golub and
// Van Loan 2013, §4.2.9, by halves). n³/3 flops.
func Cholesky[T Float](part Part, a Matrix[T]) int {
	switch {
	case a.Rows != a.Cols:
		panic(fmt.Sprintf("kernels: Cholesky factor of a matrix of %d×%d", a.Rows, a.Cols))
	case a.RowStride != 1 && a.ColStride != 1:
		panic("kernels: the matrix to factorise has neither its rows nor its columns in one piece")
	case part == Lower:
		a = a.T()
	case part != Upper:
		panic("kernels: a Cholesky factor is Upper or Lower")
	}
	return chol(a)
}

// chol factorises the upper part of a.
func chol[T Float](a Matrix[T]) int {
	n := a.Rows
	if n <= leaf {
		return cholLeaf(a)
	}
	h := half(n)
	a11, a12, a22 := a.Slice(0, h, 0, h), a.Slice(0, h, h, n), a.Slice(h, n, h, n)
	if i := chol(a11); i >= 0 {
		return i
	}
	trsm(Lower, false, 1, a11.T(), a12)
	gemm(product[T]{alpha: -1, a: a12.T(), b: a12, c: a22, part: Upper}, 1)
	if i := chol(a22); i >= 0 {
		return h + i
	}
	return -1
}

// cholLeaf is chol for n ≤ leaf, one row of U after the other: row i of A less what the
// rows above explain, divided by the root of its first element.
func cholLeaf[T Float](a Matrix[T]) int {
	n := a.Rows
	k := kernelOf[T]()
	buffer := borrow[T](leaf * leaf)
	defer giveBack(buffer)
	u := Of(n, n, *buffer, leaf)
	copyEach(a, u)
	failed := -1
	for i := range n {
		for j := i; j < n && i > 0; j += k.cols {
			k.product(1, min(k.cols, n-j), i, -1, u.at(0, i), 0, leaf, 0, u.at(0, j), leaf, u.at(i, j), leaf, true)
		}
		row := u.row(i)[i:]
		if !(row[0] > 0) {
			failed = i
			break
		}
		row[0] = T(math.Sqrt(float64(row[0]))) // rounded once, in float32 too
		for j := range row[1:] {
			row[1+j] /= row[0]
		}
	}
	for i := range n {
		for j := i; j < n; j++ {
			*a.at(i, j) = *u.at(i, j)
		}
	}
	return failed
}
