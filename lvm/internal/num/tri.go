package num

import (
	"math"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Packed lower triangles hold row i of a d×d matrix in [i(i+1)/2, i(i+1)/2+i],
// so that a row is contiguous and nothing above the diagonal is stored.

// PackedLen returns the length of a packed d×d triangle.
func PackedLen(d int) int { return d * (d + 1) / 2 }

// Cholesky is the factor L of a covariance Σ = L Lᵀ, made for solving with
// many right-hand sides.
type Cholesky struct {
	D      int
	L      []float64 // packed; its diagonal holds the reciprocals 1/L_ii
	LogDet float64   // log |Σ|
}

// NewCholesky factors sigma. It reports false if sigma is not positive
// definite to working precision: L_ii²/Σ_ii, the share of a column's variance
// that the columns before it leave unexplained, must exceed the rounding of
// a sum of d squares. That test does not depend on the units of the columns.
func NewCholesky(sigma mat.Symmetric) (Cholesky, bool) {
	d := sigma.SymmetricDim()
	full := mat.NewSymDense(d, nil)
	full.CopySym(sigma)
	u, ok := lapack64.Potrf(full.RawSymmetric()) // Σ = Uᵀ U, U = Lᵀ
	if !ok {
		return Cholesky{}, false
	}
	c := Cholesky{D: d, L: make([]float64, PackedLen(d))}
	tiny := 8 * float64(d) * 0x1p-52
	for i := range d {
		row := c.L[PackedLen(i):]
		for j := range i {
			row[j] = u.Data[j*u.Stride+i]
		}
		p := u.Data[i*u.Stride+i]
		if !(p*p > tiny*sigma.At(i, i)) || math.IsInf(p, 1) {
			return Cholesky{}, false
		}
		row[i] = 1 / p
		c.LogDet += 2 * math.Log(p)
	}
	return c, true
}

// LogDensities sets dst[b·stride] to bias − ½ (x_b−μ)ᵀ Σ⁻¹ (x_b−μ) for the rows
// x_b, lo ≤ b+lo < hi, by solving L z = x_b−μ. Four rows are solved together,
// so that one load of L serves four of them; the result for a row does not
// depend on the rows beside it. scratch has at least 4d values.
func (c Cholesky) LogDensities(dst []float64, stride int, bias float64, x Rows, lo, hi int, mean, scratch []float64) {
	z := scratch[:4*c.D]
	for b := lo; b < hi; b += 4 {
		x0, x1, x2, x3 := x.Row(b), x.Row(min(b+1, hi-1)), x.Row(min(b+2, hi-1)), x.Row(min(b+3, hi-1))
		var q [4]float64
		for i, m := range mean {
			l := c.L[PackedLen(i):][:i+1]
			a0, a1, a2, a3 := x0[i]-m, x1[i]-m, x2[i]-m, x3[i]-m
			zz := z
			for _, v := range l[:i] {
				a0 -= v * zz[0]
				a1 -= v * zz[1]
				a2 -= v * zz[2]
				a3 -= v * zz[3]
				zz = zz[4:]
			}
			inv := l[i]
			a0, a1, a2, a3 = a0*inv, a1*inv, a2*inv, a3*inv
			zz[0], zz[1], zz[2], zz[3] = a0, a1, a2, a3
			q[0] += a0 * a0
			q[1] += a1 * a1
			q[2] += a2 * a2
			q[3] += a3 * a3
		}
		for r := range min(4, hi-b) {
			dst[(b-lo+r)*stride] = bias - 0.5*q[r]
		}
	}
}

// AddScatter adds Σ_b w_b y_b to sum and the packed Σ_b w_b y_b y_bᵀ to scatter,
// for the rows y_b that y holds one after the other, each as long as sum. The
// number of rows, len(w), is a multiple of four: pad with zeros.
func AddScatter(sum, scatter, w, y []float64) {
	d := len(sum)
	for ; len(w) >= 4; w, y = w[4:], y[4*d:] {
		y0, y1, y2, y3 := y[:d], y[d:][:d], y[2*d:][:d], y[3*d:][:d]
		s := scatter
		for i := range sum {
			a0, a1, a2, a3 := w[0]*y0[i], w[1]*y1[i], w[2]*y2[i], w[3]*y3[i]
			sum[i] += a0 + a1 + a2 + a3
			row := s[:i+1]
			s = s[i+1:]
			u0, u1, u2, u3 := y0[:len(row)], y1[:len(row)], y2[:len(row)], y3[:len(row)]
			for j := range row {
				row[j] += a0*u0[j] + a1*u1[j] + a2*u2[j] + a3*u3[j]
			}
		}
	}
}
