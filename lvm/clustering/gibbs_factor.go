package clustering

import (
	"math"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// The factor L of a positive definite A = LLᵀ is kept as in num.Cholesky: packed
// by rows, with 1/L_ii in the place of L_ii. The functions below change it in
// place, without allocation.

// factorPacked replaces A, packed by rows, with its factor, and reports whether
// A is positive definite.
func factorPacked(a []float64, d int) bool {
	for i := range d {
		row := a[num.PackedLen(i):][:i+1]
		for j := range i {
			above := a[num.PackedLen(j):][:j+1]
			v := row[j]
			for c, l := range above[:j] {
				v -= row[c] * l
			}
			row[j] = v * above[j]
		}
		v := row[i]
		for _, l := range row[:i] {
			v -= l * l
		}
		if !(v > 0) || math.IsInf(v, 1) {
			return false
		}
		row[i] = 1 / math.Sqrt(v)
	}
	return true
}

// logDetPacked returns ln |A|.
func logDetPacked(l []float64, d int) float64 {
	var s float64
	for i := range d {
		s -= 2 * math.Log(l[num.PackedLen(i+1)-1])
	}
	return s
}

// rotatePacked replaces the factor of A with that of A + sign·vvᵀ, sign = ±1, and
// spoils v. Taking away asks for vᵀA⁻¹v < 1; the digits lost are those of
// 1 − vᵀA⁻¹v. O(d²).
//
// Source: Golub and Van Loan (2013), Matrix Computations, §6.5.4.
func rotatePacked(l, v []float64, sign float64) {
	for k, x := range v {
		at := num.PackedLen(k+1) - 1
		t := x * l[at] // v_k/L_kk
		c := math.Sqrt((1 - t) * (1 + t))
		if sign > 0 {
			c = math.Sqrt(1 + t*t)
		}
		l[at] /= c // L_kk becomes c·L_kk
		s, r := sign*t, 1/c
		for i := k + 1; i < len(v); i++ {
			at += i // from (i−1, k) to (i, k)
			next := (l[at] + s*v[i]) * r
			v[i] = c*v[i] - t*next
			l[at] = next
		}
	}
}
