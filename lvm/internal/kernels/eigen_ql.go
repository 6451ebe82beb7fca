package kernels

import "math"

// implicitQL finds the eigenvalues of a small tridiagonal matrix, in no order, by QL steps
// with implicit shifts (Dubrulle, Martin and Wilkinson 1968), and turns the rows of v
// along, if there are any. It overwrites both diagonals, and returns false in the case,
// never seen, that some eigenvalue takes too many steps.
func implicitQL(d, e []float64, v Matrix[float64]) bool {
	n := len(d)
	norm := 0.0
	for i := range n {
		norm = max(norm, math.Abs(d[i]))
		if i < n-1 {
			norm = max(norm, math.Abs(e[i]))
		}
	}
	for l := range n {
		for step := 0; ; step++ {
			m := l // the matrix falls apart after m
			for m < n-1 && math.Abs(e[m]) > epsilon*norm {
				m++
			}
			if m == l {
				break
			}
			if step == 80 {
				return false
			}
			// The shift: the eigenvalue of the leading 2×2 that is nearer to d[l].
			g := (d[l+1] - d[l]) / (2 * e[l])
			g = (d[m] - d[l]) + e[l]/(g+math.Copysign(hypot(g, 1), g))
			sin, cos, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := float64(sin*e[i]), float64(cos*e[i])
				r := hypot(f, g)
				if i+1 < m {
					e[i+1] = r
				}
				if r == 0 { // it falls apart here already
					d[i+1] -= p
					break
				}
				sin, cos = f/r, g/r
				g = d[i+1] - p
				r = float64((d[i]-g)*sin) + float64(2*cos*b)
				p = float64(sin * r)
				d[i+1] = g + p
				g = float64(cos*r) - b
				if v.Rows > 0 {
					rotate(v.row(i+1), v.row(i), cos, sin)
				}
			}
			if i >= l {
				continue
			}
			d[l] -= p
			e[l] = g
		}
	}
	return true
}

func hypot(x, y float64) float64 { return math.Sqrt(math.FMA(x, x, float64(y*y))) }
