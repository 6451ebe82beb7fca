package kernels

import "fmt"

// block is the number of inner indices that are summed before the sum is added to C.
// It is part of the bit contract; see the package comment.
const block = 256

// Gemm sets C ← αAB + βC for A m×k, B k×n and C m×n; transposed operands are a.T()
// and b.T(). As in BLAS, β = 0 means that C is not read, and α = 0 that A and B are
// not. It panics if the shapes disagree, if C shares memory with A or B, or if
// neither stride of C is 1.
//
// Each element is βc + αs₀ + αs₁ + …, added from the left, where s_b sums the products
// of 256 inner indices from the left, every step a fused multiply-add. 2mnk flops.
func Gemm[T Float](alpha T, a, b Matrix[T], beta T, c Matrix[T]) {
	if a.Cols != b.Rows || a.Rows != c.Rows || b.Cols != c.Cols {
		panic(fmt.Sprintf("kernels: product of %d×%d and %d×%d into %d×%d", a.Rows, a.Cols, b.Rows, b.Cols, c.Rows, c.Cols))
	}
	refuseOverlap("the product", c, a, b)
	gemm(product[T]{alpha: alpha, a: a, b: b, c: c}, beta)
}

func refuseOverlap[T Float](what string, c Matrix[T], operands ...Matrix[T]) {
	for _, m := range operands {
		if c.overlaps(m) {
			panic("kernels: " + what + " would overwrite its own operand; give it a destination of its own")
		}
	}
}

// gemm adds βC to a product and stores it, without the checks.
func gemm[T Float](p product[T], beta T) {
	if p.c.empty() {
		return
	}
	if p.c.ColStride != 1 {
		p.a, p.b, p.c, p.part = p.b.T(), p.a.T(), p.c.T(), p.part.transposed()
		if p.c.ColStride != 1 {
			panic("kernels: the destination has neither its rows nor its columns in one piece")
		}
	}
	none := p.a.Cols == 0 || p.alpha == 0
	if none || beta != 0 && beta != 1 {
		scale(beta, p.c, p.part)
	}
	if none {
		return
	}
	p.kernel, p.add = kernelOf[T](), beta != 0
	p.run()
}

// scale sets C ← βC on one part.
func scale[T Float](beta T, c Matrix[T], which part) {
	for i := range c.Rows {
		from, to := which.columns(i, c.Cols)
		row := c.row(i)[from:to]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

// addScaled sets C ← αS, or C + αS if add, on one part of a matrix in which c is
// down rows below the diagonal.
func addScaled[T Float](alpha T, s, c Matrix[T], add bool, which part, down int) {
	for i := range c.Rows {
		from, to := which.columns(i+down, c.Cols)
		row, sum := c.row(i)[from:to], s.row(i)[from:to]
		for j := range row {
			row[j] = final(alpha, sum[j], row[j], add)
		}
	}
}

// final returns αs, or c + αs if add, as all kernels do at the end of a block.
func final[T Float](alpha, s, c T, add bool) T {
	if add {
		return fma(alpha, s, c)
	}
	return alpha * s
}

// A part of a matrix is what an update may touch.
type part int

const (
	all   part = iota
	upper      // i ≤ j
	lower      // i ≥ j
)

// columns returns the range of row i, of n columns, that is in the part.
func (p part) columns(i, n int) (from, to int) {
	switch p {
	case upper:
		return min(max(i, 0), n), n
	case lower:
		return 0, min(max(i+1, 0), n)
	}
	return 0, n
}

func (p part) transposed() part { return [...]part{all, lower, upper}[p] }
