package kernels

import (
	"fmt"
	"math"
)

// The functions of this file work on a block of n rows of d columns that is stored
// by columns: column j is x[j·n : (j+1)·n]. n is a multiple of RowLanes; a block
// that is not full is padded with rows of any finite values.

// RowLanes divides the number of rows in a block.
const RowLanes = 16

// WhitenedSquares sets q_b = ‖L⁻¹(x_b - μ)‖² for every row x_b of the block, by forward
// substitution. l holds the lower triangle of L row by row, with 1/L_ii in the place of
// L_ii; scratch has at least 16·d elements.
//
// In the order of j, t ← fma(-L_ij, z_j, t) from t = x_i - μ_i; z_i = t·(1/L_ii); and in
// the order of i, q ← fma(z_i, z_i, q).
func WhitenedSquares(q, x, mean, l, scratch []float64) {
	checkBlock(len(q), len(mean), len(x))
	if d := len(mean); len(l) != d*(d+1)/2 || len(scratch) < RowLanes*d {
		panic(fmt.Sprintf("kernels: a triangle of %d and scratch of %d elements for %d columns", len(l), len(scratch), d))
	}
	if len(q) > 0 {
		whitenedSquares(q, x, mean, l, scratch)
	}
}

// ScaledSquares sets q_b = Σ_j ((x_bj - μ_j)·scale_j)² for every row x_b of the block, by
// fused multiply-add in the order of j.
func ScaledSquares(q, x, mean, scale []float64) {
	checkBlock(len(q), len(mean), len(x))
	if len(scale) != len(mean) {
		panic(fmt.Sprintf("kernels: %d scales for %d columns", len(scale), len(mean)))
	}
	if len(q) > 0 {
		scaledSquares(q, x, mean, scale)
	}
}

// Centre sets y = x - μ and wy = w·y for every row, and adds the sum of wy over the
// rows to sums: four lanes, lane l the rows b with b mod 4 = l in their order, and then
// (s0+s1) + (s2+s3).
func Centre(sums, y, wy, x, mean, w []float64) {
	n, d := len(w), len(mean)
	checkBlock(n, d, len(x))
	if len(sums) != d || len(y) != len(x) || len(wy) != len(x) {
		panic(fmt.Sprintf("kernels: centring %d elements of %d columns into %d, %d and %d", len(x), d, len(y), len(wy), len(sums)))
	}
	if n == 0 {
		return
	}
	for j := range d {
		sums[j] += centre(y[j*n:][:n], wy[j*n:][:n], x[j*n:][:n], w, mean[j])
	}
}

// AddPackedProduct adds the inner products of the columns of a with those of b, both
// blocks of d columns, to the lower triangle dst, which is stored row by row: for j ≤ i,
// Σ_b a_bi b_bj to dst[i(i+1)/2 + j]. Each is summed in four lanes as in Centre, by fused
// multiply-add, before it is added.
func AddPackedProduct(dst, a, b []float64, d int) {
	if len(dst) != d*(d+1)/2 || d == 0 {
		panic(fmt.Sprintf("kernels: a triangle of %d elements for %d columns", len(dst), d))
	}
	n := len(a) / d
	checkBlock(n, d, len(a))
	checkBlock(n, d, len(b))
	if n == 0 {
		return
	}
	var p [8]float64
	for i := 0; i < d; i += 2 {
		i1 := min(i+1, d-1)
		for j := 0; j <= i1; j += 4 {
			products(&p, a[i*n:], a[i1*n:], b[j*n:], b[min(j+1, d-1)*n:], b[min(j+2, d-1)*n:], b[min(j+3, d-1)*n:], n)
			for r := i; r <= i1; r++ {
				for c := j; c <= min(j+3, r); c++ {
					dst[r*(r+1)/2+c] += p[(r-i)*4+c-j]
				}
			}
		}
	}
}

func checkBlock(n, d, elements int) {
	if n%RowLanes != 0 || n*d != elements {
		panic(fmt.Sprintf("kernels: %d elements for a block of %d rows and %d columns", elements, n, d))
	}
}

func whitenedSquaresPortable(q, x, mean, l, z []float64) {
	n := len(q)
	for b := range q {
		q[b] = 0
		row := l
		for i, m := range mean {
			t := x[i*n+b] - m
			for j := range i {
				t = math.FMA(-row[j], z[j], t)
			}
			z[i] = t * row[i]
			q[b] = math.FMA(z[i], z[i], q[b])
			row = row[i+1:]
		}
	}
}

func scaledSquaresPortable(q, x, mean, scale []float64) {
	n := len(q)
	for b := range q {
		q[b] = 0
		for j, m := range mean {
			t := (x[j*n+b] - m) * scale[j]
			q[b] = math.FMA(t, t, q[b])
		}
	}
}

func centrePortable(y, wy, x, w []float64, mean float64) float64 {
	var s [4]float64
	for b, v := range x {
		y[b] = v - mean
		wy[b] = w[b] * y[b]
		s[b%4] += float64(wy[b])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

func productsPortable(dst *[8]float64, a0, a1, b0, b1, b2, b3 []float64, n int) {
	for r, a := range [2][]float64{a0, a1} {
		for c, b := range [4][]float64{b0, b1, b2, b3} {
			var s [4]float64
			for i := 0; i < n; i += 4 {
				s[0] = math.FMA(a[i], b[i], s[0])
				s[1] = math.FMA(a[i+1], b[i+1], s[1])
				s[2] = math.FMA(a[i+2], b[i+2], s[2])
				s[3] = math.FMA(a[i+3], b[i+3], s[3])
			}
			dst[4*r+c] = (s[0] + s[1]) + (s[2] + s[3])
		}
	}
}
