package kernels

import (
	"fmt"
	"runtime"
)

// leaf is the size of triangles that are solved and factorised row by row; larger
// ones are cut in two. It is part of the bit contract.
const leaf = 32

// half returns where a triangle of n > leaf rows is cut: in the middle, at a multiple
// of leaf.
func half(n int) int { return (n/2 + leaf - 1) / leaf * leaf }

// Trsm solves AX = αB for n right-hand sides, A m×m triangular and B m×n, and leaves X
// in B. Only the given part of A, Upper or Lower, is read, without its diagonal, taken
// as ones, if unit. Solutions for a transposed A are Trsm(the other part, …, a.T(), b);
// for XA = αB, Trsm(the other part, …, a.T(), b.T()). As in BLAS, a zero on the diagonal
// gives Inf or NaN. It panics if the shapes disagree, if A and B share memory, or if
// neither stride of B is 1.
//
// The triangle is cut in two, again and again, and what is off the diagonal goes through
// Gemm. m²n flops.
func Trsm[T Float](part Part, unit bool, alpha T, a, b Matrix[T]) {
	if a.Rows != a.Cols || a.Rows != b.Rows {
		panic(fmt.Sprintf("kernels: triangular solve with %d×%d and right-hand sides %d×%d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	if part != Upper && part != Lower {
		panic("kernels: a triangular solve needs Upper or Lower")
	}
	if b.RowStride != 1 && b.ColStride != 1 {
		panic("kernels: the right-hand sides have neither their rows nor their columns in one piece")
	}
	refuseOverlap("the triangular solve", b, a)
	trsm(part, unit, alpha, a, b)
}

func trsm[T Float](part Part, unit bool, alpha T, a, b Matrix[T]) {
	if b.empty() {
		return
	}
	if alpha != 1 {
		rows := b
		if rows.ColStride != 1 {
			rows = rows.T()
		}
		scale(alpha, rows, All)
		if alpha == 0 {
			return
		}
	}
	// Right-hand sides do not touch each other: processors take some each.
	n, procs := b.Cols, runtime.GOMAXPROCS(0)
	t := triangle[T]{kernel: kernelOf[T](), part: part, unit: unit, serial: true}
	width := n
	if a.Rows*a.Rows*n >= worthSharing {
		width = min(256, max(32, ceilDiv(ceilDiv(n, 2*procs), 8)*8))
		t.serial = n > width // one lot of right-hand sides: share out the products instead
	}
	parallel(ceilDiv(n, width), func(lot int) {
		t.solve(a, b.Slice(0, b.Rows, lot*width, min((lot+1)*width, n)))
	})
}

type triangle[T Float] struct {
	*kernel[T]
	part   Part
	unit   bool
	serial bool
}

func (t *triangle[T]) solve(a, b Matrix[T]) {
	m, n := b.Rows, b.Cols
	if m <= leaf {
		t.solveLeaf(a, b)
		return
	}
	h := half(m)
	top, bottom := b.Slice(0, h, 0, n), b.Slice(h, m, 0, n)
	if t.part == Lower {
		t.solve(a.Slice(0, h, 0, h), top)
		gemm(product[T]{alpha: -1, a: a.Slice(h, m, 0, h), b: top, c: bottom, serial: t.serial}, 1)
		t.solve(a.Slice(h, m, h, m), bottom)
	} else {
		t.solve(a.Slice(h, m, h, m), bottom)
		gemm(product[T]{alpha: -1, a: a.Slice(0, h, h, m), b: bottom, c: top, serial: t.serial}, 1)
		t.solve(a.Slice(0, h, 0, h), top)
	}
}

// solveLeaf finds one unknown after the other.
func (t *triangle[T]) solveLeaf(a, b Matrix[T]) {
	m, n := b.Rows, b.Cols
	x := b
	if b.ColStride != 1 {
		buffer := borrow[T](m * n)
		defer giveBack(buffer)
		x = Of(m, n, *buffer, n)
		t.copyColumns(b, x)
	}
	if t.part == Lower {
		t.substitute(m, n, a.at(0, 0), a.RowStride, a.ColStride, x.at(0, 0), x.RowStride, t.unit)
	} else { // from the last unknown backwards, the same
		t.substitute(m, n, a.at(m-1, m-1), -a.RowStride, -a.ColStride, x.at(m-1, 0), -x.RowStride, t.unit)
	}
	if b.ColStride != 1 {
		t.copyColumns(x.T(), b.T())
	}
}
