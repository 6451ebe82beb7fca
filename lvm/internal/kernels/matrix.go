package kernels

import (
	"fmt"
	"unsafe"
)

// A Matrix is a view of numbers that belong to somebody else: element (i, j) is
// Data[i·RowStride + j·ColStride]. A view costs nothing to transpose or to slice.
type Matrix[T Float] struct {
	Rows, Cols           int
	RowStride, ColStride int
	Data                 []T
}

// Of returns the view of a row-major matrix whose rows start stride elements apart.
// It panics if the sizes do not fit the data.
func Of[T Float](rows, cols int, data []T, stride int) Matrix[T] {
	switch {
	case rows < 0 || cols < 0:
		panic(fmt.Sprintf("kernels: a matrix of %d×%d", rows, cols))
	case stride < max(1, cols):
		panic(fmt.Sprintf("kernels: rows of %d elements, %d apart", cols, stride))
	case rows > 0 && cols > 0 && len(data) < (rows-1)*stride+cols:
		panic(fmt.Sprintf("kernels: %d numbers for a matrix of %d×%d with stride %d", len(data), rows, cols, stride))
	}
	return Matrix[T]{Rows: rows, Cols: cols, RowStride: stride, ColStride: 1, Data: data}
}

// T returns the transpose.
func (m Matrix[T]) T() Matrix[T] {
	m.Rows, m.Cols = m.Cols, m.Rows
	m.RowStride, m.ColStride = m.ColStride, m.RowStride
	return m
}

// Slice returns rows i0 to i1 and columns j0 to j1, the ends excluded.
func (m Matrix[T]) Slice(i0, i1, j0, j1 int) Matrix[T] {
	if i0 < 0 || i1 < i0 || m.Rows < i1 || j0 < 0 || j1 < j0 || m.Cols < j1 {
		panic(fmt.Sprintf("kernels: rows %d to %d, columns %d to %d of a matrix of %d×%d", i0, i1, j0, j1, m.Rows, m.Cols))
	}
	m.Rows, m.Cols = i1-i0, j1-j0
	if m.empty() {
		m.Data = nil
	} else {
		m.Data = m.Data[i0*m.RowStride+j0*m.ColStride:]
	}
	return m
}

func (m Matrix[T]) empty() bool { return m.Rows == 0 || m.Cols == 0 }

// at returns the address of element (i, j), for the assembly.
func (m Matrix[T]) at(i, j int) *T { return &m.Data[i*m.RowStride+j*m.ColStride] }

// row returns row i of a matrix with ColStride 1.
func (m Matrix[T]) row(i int) []T { return m.Data[i*m.RowStride:][:m.Cols:m.Cols] }

// Overlaps reports whether a and b share an element. Of two views with different
// strides in one block of memory it says yes when their extents meet.
func (a Matrix[T]) Overlaps(b Matrix[T]) bool {
	if a.empty() || b.empty() {
		return false
	}
	size := unsafe.Sizeof(a.Data[0])
	extent := func(m Matrix[T]) uintptr { return uintptr((m.Rows-1)*m.RowStride+(m.Cols-1)*m.ColStride+1) * size }
	a0, b0 := uintptr(unsafe.Pointer(&a.Data[0])), uintptr(unsafe.Pointer(&b.Data[0]))
	if a0+extent(a) <= b0 || b0+extent(b) <= a0 {
		return false
	}
	if a.ColStride != 1 && a.RowStride == 1 {
		a = a.T()
	}
	if b.ColStride != 1 && b.RowStride == 1 {
		b = b.T()
	}
	if a.Rows == 1 {
		a.RowStride = b.RowStride
	} else if b.Rows == 1 {
		b.RowStride = a.RowStride
	}
	if a.ColStride != 1 || b.ColStride != 1 || a.RowStride != b.RowStride {
		return true
	}
	// Two rectangles of one matrix: they meet unless their columns are apart.
	if b0 < a0 {
		a, b, a0, b0 = b, a, b0, a0
	}
	shift := int((b0-a0)/size) % a.RowStride // columns from a's left edge to b's
	return shift < a.Cols || shift+b.Cols > a.RowStride
}
