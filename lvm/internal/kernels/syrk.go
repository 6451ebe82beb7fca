package kernels

import "fmt"

// Gram sets the symmetric d×d C ← α Σ_i w_i (x_i - m)(x_i - m)ᵀ + βC, the sum over the
// rows x_i of X, n×d, in one pass over X. A nil mean is no mean and nil weights are
// ones; weights may have any sign. Of C, only the upper triangle is read; both are
// written. It panics if the shapes disagree or if C shares memory with X.
//
// Element (j,k), j ≤ k, is that of Gemm for the operands (x_ij - m_j) and
// w_i·(x_ik - m_k), so centred sums of squares lose nothing to cancellation. nd² flops.
func Gram[T Float](alpha T, x Matrix[T], mean, weights []T, beta T, c Matrix[T]) {
	n, d := x.Rows, x.Cols
	switch {
	case c.Rows != d || c.Cols != d:
		panic(fmt.Sprintf("kernels: Gram matrix of %d columns into %d×%d", d, c.Rows, c.Cols))
	case c.ColStride != 1:
		panic("kernels: the rows of a Gram matrix must be in one piece")
	case mean != nil && len(mean) != d:
		panic(fmt.Sprintf("kernels: mean of %d elements for %d columns", len(mean), d))
	case weights != nil && len(weights) != n:
		panic(fmt.Sprintf("kernels: %d weights for %d rows", len(weights), n))
	}
	refuseOverlap("the Gram matrix", c, x)
	gemm(product[T]{alpha: alpha, a: x.T(), b: x, c: c, part: Upper, mean: mean, weights: weights}, beta)
	mirror(c)
}

// mirror copies the upper triangle of a square matrix to the lower one.
func mirror[T Float](c Matrix[T]) {
	const step = 32 // rows and columns that stay in the first-level cache
	for i0 := 0; i0 < c.Rows; i0 += step {
		for j0 := i0; j0 < c.Rows; j0 += step {
			for i := i0; i < min(i0+step, c.Rows); i++ {
				for j := max(i+1, j0); j < min(j0+step, c.Rows); j++ {
					*c.at(j, i) = *c.at(i, j)
				}
			}
		}
	}
}
