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
	Gemmt(All, alpha, a, b, beta, c)
}

// Gemmt is Gemm on one part of C, Upper or Lower, for a result that is known to be
// symmetric; the rest of C is not touched. It takes half the time.
func Gemmt[T Float](part Part, alpha T, a, b Matrix[T], beta T, c Matrix[T]) {
	if a.Cols != b.Rows || a.Rows != c.Rows || b.Cols != c.Cols {
		panic(fmt.Sprintf("kernels: product of %d×%d and %d×%d into %d×%d", a.Rows, a.Cols, b.Rows, b.Cols, c.Rows, c.Cols))
	}
	refuseOverlap("the product", c, a, b)
	gemm(product[T]{alpha: alpha, a: a, b: b, c: c, part: part}, beta)
}

func refuseOverlap[T Float](what string, c Matrix[T], operands ...Matrix[T]) {
	for _, m := range operands {
		if c.Overlaps(m) {
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
		p.a, p.b, p.c, p.part = p.b.T(), p.a.T(), p.c.T(), p.part.Transposed()
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
func scale[T Float](beta T, c Matrix[T], which Part) {
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

// addScaled sets C ← αS, or C + αS if add, on one part of a matrix in which c starts
// so many rows down from the diagonal.
func (k *kernel[T]) addScaled(alpha T, s, c Matrix[T], add bool, which Part, down int) {
	for i := range c.Rows {
		if from, to := which.columns(i+down, c.Cols); from < to {
			k.addRow(to-from, alpha, s.at(i, from), c.at(i, from), add)
		}
	}
}

// A Part of a matrix is what an operation reads or writes.
type Part int

const (
	All   Part = iota
	Upper      // i ≤ j
	Lower      // i ≥ j
)

// columns returns the range of row i, of n columns, that is in the part.
func (p Part) columns(i, n int) (from, to int) {
	switch p {
	case Upper:
		return min(max(i, 0), n), n
	case Lower:
		return 0, min(max(i+1, 0), n)
	}
	return 0, n
}

// Transposed returns the part of the transpose.
func (p Part) Transposed() Part { return [...]Part{All, Lower, Upper}[p] }
