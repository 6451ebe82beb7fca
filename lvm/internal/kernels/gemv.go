package kernels

import (
	"fmt"
	"math"
	"unsafe"
)

// Gemv sets y ← αAx + βy for a matrix whose rows are in one piece. As in BLAS, β = 0
// means that y is not read. It panics if the shapes disagree, if y shares memory with A
// or x, or if the column stride of A is not 1.
//
// Each element is βy_i + αs_i. The sum s_i has four lanes, l mod 4, which are added as
// (s₀ + s₂) + (s₁ + s₃), with fused multiply-adds. 2mn flops.
func Gemv(alpha float64, a Matrix[float64], x []float64, beta float64, y []float64) {
	if len(x) != a.Cols || len(y) != a.Rows {
		panic(fmt.Sprintf("kernels: product of %d×%d and %d into %d", a.Rows, a.Cols, len(x), len(y)))
	}
	if len(y) == 0 {
		return
	}
	if a.ColStride != 1 {
		panic("kernels: the rows of the matrix are not in one piece")
	}
	if Meet(y, x) || Meet(y, a.Data) {
		refuseOverlap("the product", Of(1, len(y), y, len(y)), a, Of(1, len(x), x, max(1, len(x))))
	}
	if beta == 0 {
		rowProducts(len(y), len(x), unsafe.SliceData(a.Data), a.RowStride, unsafe.SliceData(x), unsafe.SliceData(y))
		for i, s := range y {
			y[i] = alpha * (s + 0) // the paths need not agree on the sign of a zero
		}
		return
	}
	var sums [64]float64
	for i := 0; i < len(y); i += len(sums) {
		part := y[i:min(i+len(sums), len(y))]
		rows := a.Data[min(i*a.RowStride, len(a.Data)):] // none if there are no columns
		rowProducts(len(part), len(x), unsafe.SliceData(rows), a.RowStride, unsafe.SliceData(x), &sums[0])
		for j, s := range sums[:len(part)] {
			part[j] = math.FMA(alpha, s+0, beta*part[j])
		}
	}
}

// Meet reports whether two slices share memory.
func Meet(x, y []float64) bool {
	x0, y0 := uintptr(unsafe.Pointer(unsafe.SliceData(x))), uintptr(unsafe.Pointer(unsafe.SliceData(y)))
	return x0 < y0+8*uintptr(len(y)) && y0 < x0+8*uintptr(len(x))
}

// rowProductsPortable sets sums[i] = Σ_l a[i,l]·x[l] for m rows of n columns, stride apart.
func rowProductsPortable(m, n int, a *float64, stride int, x, sums *float64) {
	vx, out := unsafe.Slice(x, n), unsafe.Slice(sums, m)
	if n == 0 { // there are no rows to point at
		clear(out)
		return
	}
	for i := range out {
		var s [4]float64
		for l, v := range unsafe.Slice(offset(a, i*stride), n) {
			s[l%4] = math.FMA(v, vx[l], s[l%4])
		}
		out[i] = (s[0] + s[2]) + (s[1] + s[3])
	}
}
