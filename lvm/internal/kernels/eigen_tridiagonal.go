package kernels

import (
	"math"
	"unsafe"
)

// panel is the number of reflections that are gathered before the matrix is updated. It
// is part of the bit contract, as are the rows that a task of symmetric takes.
const (
	panel         = 32
	symmetricRows = 64
)

// A tridiagonal is QTQᵀ for a symmetric matrix. Q = H₀H₁…, H_i = I - τ_i v_i v_iᵀ, where
// v_i is row i of reflectors and zero up to column i.
type tridiagonal struct {
	diagonal, beside []float64 // T, n and n-1 elements
	reflectors       Matrix[float64]
	tau              []float64
}

// tridiagonalise reduces the upper triangle of a, which it overwrites.
//
// Row i of the matrix is brought up to date, reflected onto its first two elements, and
// the reflection noted: A ← A - vwᵀ - wvᵀ. A panel of such updates is done as one product.
func tridiagonalise(a Matrix[float64]) *tridiagonal {
	n := a.Rows
	t := &tridiagonal{
		diagonal: make([]float64, n), beside: make([]float64, max(0, n-1)), tau: make([]float64, n),
		reflectors: Of(n, n, make([]float64, n*n), max(1, n)),
	}
	// A ← A - vwᵀᵀ: the rows of vw are v₀, w₀, v₁, w₁, … and those of wv w₀, v₀, w₁, v₁, …
	vw := Of(2*panel, n, make([]float64, 2*panel*n), max(1, n))
	wv := Of(2*panel, n, make([]float64, 2*panel*n), max(1, n))
	p := Of(2*panel, 1, make([]float64, 2*panel), 1)
	for first := 0; first < n; first += panel {
		last := min(first+panel, n)
		for i := first; i < last; i++ {
			pending := 2 * (i - first)
			row := a.Slice(i, i+1, i, n)
			subtract(row, vw.Slice(0, pending, i, i+1).T(), wv.Slice(0, pending, i, n))
			t.diagonal[i] = row.Data[0]
			if i == n-1 {
				break
			}
			v := t.reflectors.row(i)[i+1:]
			copy(v, row.row(0)[1:])
			t.beside[i], t.tau[i] = reflector(v)

			// w = τ(Av - Σ…), then w - ½τ(wᵀv)v.
			w := wv.row(pending)[i+1:]
			symmetric(a.Slice(i+1, n, i+1, n), v, w)
			mv, mw, now := Of(1, n-i-1, v, n), Of(1, n-i-1, w, n), p.Slice(0, pending, 0, 1)
			gemm(product[float64]{alpha: 1, a: wv.Slice(0, pending, i+1, n), b: mv.T(), c: now, serial: true}, 0)
			subtract(mw, now.T(), vw.Slice(0, pending, i+1, n))
			for j := range w {
				w[j] *= t.tau[i]
			}
			c := -0.5 * t.tau[i] * Dot(w, v)
			for j := range w {
				w[j] = math.FMA(c, v[j], w[j])
			}
			copy(vw.row(pending)[i+1:], v)
			copy(vw.row(pending + 1)[i+1:], w)
			copy(wv.row(pending + 1)[i+1:], v)
		}
		if last < n {
			k := 2 * (last - first)
			gemm(product[float64]{alpha: -1, a: vw.Slice(0, k, last, n).T(), b: wv.Slice(0, k, last, n), c: a.Slice(last, n, last, n), part: Upper}, 1)
		}
	}
	return t
}

// subtract sets C ← C - AB on one processor.
func subtract(c, a, b Matrix[float64]) {
	gemm(product[float64]{alpha: -1, a: a, b: b, c: c, serial: true}, 1)
}

// reflector overwrites x with v, v₀ = 1, such that (I - τvvᵀ)x = (β, 0, …, 0)ᵀ.
func reflector(x []float64) (beta, tau float64) {
	rest := x[1:]
	square := Dot(rest, rest)
	alpha := x[0]
	x[0] = 1
	if square < 0x1p-960 { // rounding of a matrix near one is far above
		clear(rest)
		return alpha, 0
	}
	beta = -math.Copysign(math.Sqrt(math.FMA(alpha, alpha, square)), alpha)
	scale := 1 / (alpha - beta)
	for i := range rest {
		rest[i] *= scale
	}
	return beta, (beta - alpha) / beta
}

// symmetric sets y = Ax from the upper triangle of A. Tasks take some rows each, use each
// element for both triangles, and their vectors are added in order.
func symmetric(a Matrix[float64], x, y []float64) {
	n := a.Rows
	tasks := ceilDiv(n, symmetricRows)
	buffer := borrow[float64](tasks * n)
	defer giveBack(buffer)
	part := func(task int) []float64 { return (*buffer)[task*n:][task*symmetricRows : n] }
	run := func(task int) {
		r0, r1 := task*symmetricRows, min((task+1)*symmetricRows, n)
		sum := part(task)
		clear(sum)
		symmetricPart(a.Slice(r0, n, r0, n), r1-r0, x[r0:], sum)
	}
	if n*n < worthSharing {
		for task := range tasks {
			run(task)
		}
	} else {
		parallel(tasks, run)
	}
	copy(y, part(0))
	for task := 1; task < tasks; task++ {
		sum := part(task)
		to := y[n-len(sum):]
		for j, v := range sum {
			to[j] += v
		}
	}
}

// symmetricPart adds to y what the first rows of the upper triangle of a contribute.
func symmetricPart(a Matrix[float64], rows int, x, y []float64) {
	n := a.Rows
	var work [8]float64
	for i := 0; i < rows; i += 4 {
		four := min(4, rows-i)
		for r := i; r < i+four; r++ { // the corner on the diagonal
			y[r] = math.FMA(*a.at(r, r), x[r], y[r])
			to := i + 4
			if four < 4 {
				to = n
			}
			for c := r + 1; c < min(to, n); c++ {
				v := *a.at(r, c)
				y[r] = math.FMA(v, x[c], y[r])
				y[c] = math.FMA(v, x[r], y[c])
			}
		}
		if rest := n - i - 4; four == 4 && rest > 0 {
			head, sums := work[:4], work[4:]
			copy(head, x[i:])
			fourRows(rest, a.at(i, i+4), a.RowStride, &head[0], &x[i+4], &y[i+4], &sums[0])
			for r, s := range sums {
				y[i+r] += s
			}
		}
	}
}

// fourRowsPortable multiplies four rows of n columns, stride apart, by x from the right
// and by head from the left:
//
//	sums[r] = Σ_j a[r,j]·x[j]    y[j] ← y[j] + Σ_r head[r]·a[r,j]
//
// The sums have four lanes, j mod 4, added as (s₀ + s₂) + (s₁ + s₃).
func fourRowsPortable(n int, a *float64, stride int, head, x, y, sums *float64) {
	h, out := unsafe.Slice(head, 4), unsafe.Slice(sums, 4)
	vx, vy := unsafe.Slice(x, n), unsafe.Slice(y, n)
	for r := range 4 {
		var s [4]float64
		row := unsafe.Slice(offset(a, r*stride), n)
		for j, v := range row {
			vy[j] = math.FMA(h[r], v, vy[j])
			s[j%4] = math.FMA(v, vx[j], s[j%4])
		}
		out[r] = (s[0] + s[2]) + (s[1] + s[3])
	}
}

// apply sets each row x of vectors, in the coordinates of T, to Qx, some reflections at a
// time: H_f … H_l = I - VᵀSV for the rows V of reflectors (Schreiber and Van Loan 1989).
func (t *tridiagonal) apply(vectors Matrix[float64]) {
	n := len(t.diagonal)
	s := Of(panel, panel, make([]float64, panel*panel), panel)
	gram := Of(panel, panel, make([]float64, panel*panel), panel)
	projected := Of(vectors.Rows, panel, make([]float64, vectors.Rows*panel), panel)
	weighted := Of(vectors.Rows, panel, make([]float64, vectors.Rows*panel), panel)
	for first := (n - 1) / panel * panel; first >= 0; first -= panel {
		b := min(panel, n-1-first)
		if b <= 0 {
			continue
		}
		v := t.reflectors.Slice(first, first+b, first+1, n)
		x := vectors.Slice(0, vectors.Rows, first+1, n)
		g, factor := gram.Slice(0, b, 0, b), s.Slice(0, b, 0, b)
		gemm(product[float64]{alpha: 1, a: v, b: v.T(), c: g}, 0)
		// S is upper triangular: column j is -τ_j S (V v_j) above τ_j.
		for j := range b {
			tau := t.tau[first+j]
			for i := range b {
				sum := 0.0
				for l := i; l < j; l++ {
					sum = math.FMA(*factor.at(i, l), *g.at(l, j), sum)
				}
				*factor.at(i, j) = -tau * sum
			}
			*factor.at(j, j) = tau
		}
		// x ← x - x Vᵀ Sᵀ V
		px, wx := projected.Slice(0, x.Rows, 0, b), weighted.Slice(0, x.Rows, 0, b)
		gemm(product[float64]{alpha: 1, a: x, b: v.T(), c: px}, 0)
		gemm(product[float64]{alpha: 1, a: px, b: factor.T(), c: wx}, 0)
		gemm(product[float64]{alpha: -1, a: wx, b: v, c: x}, 1)
	}
}
