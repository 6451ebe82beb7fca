package kernels

import (
	"math"
	"slices"
)

// smallTridiagonal is the size that is not cut further. It is part of the bit contract.
const smallTridiagonal = 24

// epsilon is half the distance from 1 to the next float64.
const epsilon = 0x1p-53

// divide returns the eigenvalues of a tridiagonal matrix, from large to small, and the
// first k eigenvectors as rows. It overwrites its arguments.
//
// Without the element β that couples its two halves, and |β| taken off the diagonal on
// either side of it, the matrix falls apart. Given the halves' eigenvalues d and
// eigenvectors, the matrix is D + ρzzᵀ in their coordinates; its eigenvalues are the
// roots of 1 + ρ Σ z_j²/(d_j - λ) (Cuppen 1981), and eigenvectors with elements
// ẑ_j/(d_j - λ) are orthogonal to rounding if ẑ is the vector for which the computed
// roots are exact (Gu and Eisenstat 1994). What z does not couple, or couples two equal
// d, stays as it is: deflation.
func divide(diagonal, beside []float64, k int) (values []float64, vectors Matrix[float64], ok bool) {
	n := len(diagonal)
	c := &conqueror{
		d: diagonal, e: beside, k: k,
		v:     Of(n, n, make([]float64, n*n), max(1, n)),
		order: make([]int, n),
	}
	if !c.solve(0, n) {
		return nil, vectors, false
	}
	values, vectors = make([]float64, n), Of(k, n, make([]float64, k*n), max(1, n))
	for i, from := range c.order {
		values[n-1-i] = c.d[from]
		if n-1-i < k {
			copy(vectors.row(n-1-i), c.v.row(from))
		}
	}
	return values, vectors, true
}

// A conqueror holds the eigenvectors of the pieces of a tridiagonal matrix solved so far:
// row i of v belongs to d[i], and order lists a piece's rows by rising d.
type conqueror struct {
	d, e  []float64
	k     int // eigenvectors wanted in the end
	v     Matrix[float64]
	order []int
}

// solve works on rows and columns lo to hi of the matrix.
func (c *conqueror) solve(lo, hi int) bool {
	n := hi - lo
	if n <= smallTridiagonal {
		v := c.v.Slice(lo, hi, lo, hi)
		for i := range n {
			*v.at(i, i) = 1
			c.order[lo+i] = lo + i
		}
		ok := implicitQL(c.d[lo:hi], c.e[lo:max(lo, hi-1)], v)
		c.sort(lo, hi)
		return ok
	}
	mid := lo + n/2
	beta := c.e[mid-1]
	c.d[mid-1] -= math.Abs(beta)
	c.d[mid] -= math.Abs(beta)
	halves := [2]bool{}
	parallel(2, func(half int) {
		if half == 0 {
			halves[0] = c.solve(lo, mid)
		} else {
			halves[1] = c.solve(mid, hi)
		}
	})
	if !halves[0] || !halves[1] {
		return false
	}
	c.merge(lo, mid, hi, beta)
	return true
}

func (c *conqueror) sort(lo, hi int) {
	slices.SortStableFunc(c.order[lo:hi], func(i, j int) int {
		switch {
		case c.d[i] < c.d[j]:
			return -1
		case c.d[i] > c.d[j]:
			return 1
		}
		return i - j
	})
}

// The halves in which an eigenvector that takes part in a merge is not zero.
const (
	first = 1 << iota
	second
)

// merge solves lo to hi, given the solutions lo to mid and mid to hi without β.
func (c *conqueror) merge(lo, mid, hi int, beta float64) {
	z, halves := make([]float64, hi-lo), make([]int, hi-lo)
	for i := range z {
		if lo+i < mid {
			z[i], halves[i] = *c.v.at(lo+i, mid-1), first
		} else {
			z[i], halves[i] = math.Copysign(1, beta)**c.v.at(lo+i, mid), second
		}
		z[i] /= math.Sqrt2 // |z| = 1
	}
	rho := 2 * math.Abs(beta)
	c.sort(lo, hi)
	m := &merger{conqueror: c, lo: lo, mid: mid, hi: hi, z: z, halves: halves}
	m.deflate(rho)
	if len(m.active) > 0 {
		m.solveSecular(rho)
		m.combine()
	}
	c.sort(lo, hi)
}

// A merger is D + ρzzᵀ on its way to eigenvalues and eigenvectors.
type merger struct {
	*conqueror
	lo, mid, hi int
	z           []float64 // by row of v, from lo
	halves      []int     // by row of v, from lo
	active      []int     // rows that are coupled, by rising d, and for each of them:
	poles       []float64 // d
	weights     []float64 // z
	roots       []float64
	delta       Matrix[float64] // delta[i,j] = poles[j] - roots[i], to full precision
}

// deflate takes out the rows that z does not couple to others, or not to the precision of
// a float64. Two rows with nearly equal d are turned against each other such that one of
// them is not coupled.
func (m *merger) deflate(rho float64) {
	largest := 0.0
	for i, z := range m.z {
		largest = max(largest, math.Abs(z), math.Abs(m.d[m.lo+i]))
	}
	tolerance := 8 * epsilon * largest
	last := -1 // the latest row that is coupled so far, not yet in active
	accept := func() {
		if last >= 0 {
			m.active = append(m.active, last)
			m.poles = append(m.poles, m.d[last])
			m.weights = append(m.weights, m.z[last-m.lo])
		}
	}
	for _, row := range m.order[m.lo:m.hi] {
		zr := m.z[row-m.lo]
		if rho*math.Abs(zr) <= tolerance {
			continue
		}
		if last >= 0 {
			zl := m.z[last-m.lo]
			norm := math.Sqrt(math.FMA(zl, zl, float64(zr*zr)))
			cos, sin := zr/norm, -zl/norm
			if gap := m.d[row] - m.d[last]; math.Abs(gap*cos*sin) <= tolerance {
				m.z[row-m.lo] = norm
				rotate(m.v.row(last)[m.lo:m.hi], m.v.row(row)[m.lo:m.hi], cos, sin)
				m.halves[row-m.lo] |= m.halves[last-m.lo]
				c2, s2 := float64(cos*cos), float64(sin*sin)
				dl, dr := m.d[last], m.d[row]
				m.d[last] = math.FMA(dl, c2, float64(dr*s2))
				m.d[row] = math.FMA(dl, s2, float64(dr*c2))
				last = row
				continue
			}
		}
		accept()
		last = row
	}
	accept()
}

// rotate sets (x, y) ← (cx + sy, cy - sx).
func rotate(x, y []float64, c, s float64) {
	for i, v := range x {
		w := y[i]
		x[i] = math.FMA(c, v, float64(s*w))
		y[i] = math.FMA(c, w, -float64(s*v))
	}
}

// combine replaces the active rows of v and d by the eigenvectors and eigenvalues of the
// merged piece.
func (m *merger) combine() {
	c, k := m.conqueror, len(m.active)
	for i, row := range m.active {
		c.d[row] = m.roots[i]
	}
	// The last merge leaves out the vectors that nobody wants.
	wanted := make([]int, 0, k)
	if m.hi-m.lo < len(c.d) {
		for i := range k {
			wanted = append(wanted, i)
		}
	} else {
		c.sort(m.lo, m.hi)
		index := make(map[int]int, k)
		for i, row := range m.active {
			index[row] = i
		}
		for _, row := range c.order[len(c.d)-c.k:] {
			if i, ok := index[row]; ok {
				wanted = append(wanted, i)
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	m.turnIntoVectors(wanted)
	n := m.hi - m.lo
	result := borrow[float64](len(wanted) * n)
	defer giveBack(result)
	out := Of(len(wanted), n, *result, n)
	for _, half := range []struct{ bit, from, to int }{{first, m.lo, m.mid}, {second, m.mid, m.hi}} {
		var members []int // of active, not zero in this half
		for i, row := range m.active {
			if m.halves[row-m.lo]&half.bit != 0 {
				members = append(members, i)
			}
		}
		old := borrow[float64](len(members) * (half.to - half.from))
		vectors := Of(len(members), half.to-half.from, *old, half.to-half.from)
		for j, i := range members {
			copy(vectors.row(j), c.v.row(m.active[i])[half.from:half.to])
		}
		turn := borrow[float64](len(wanted) * len(members))
		coordinates := Of(len(wanted), len(members), *turn, max(1, len(members)))
		for w, i := range wanted {
			from, to := m.delta.row(i), coordinates.row(w)
			for p, j := range members {
				to[p] = from[j]
			}
		}
		gemm(product[float64]{alpha: 1, a: coordinates, b: vectors, c: out.Slice(0, len(wanted), half.from-m.lo, half.to-m.lo)}, 0)
		giveBack(old)
		giveBack(turn)
	}
	for w, i := range wanted {
		copy(c.v.row(m.active[i])[m.lo:m.hi], out.row(w))
	}
}

// turnIntoVectors replaces the wanted rows of delta by the eigenvectors of D + ρẑẑᵀ.
func (m *merger) turnIntoVectors(wanted []int) {
	z := m.exactWeights()
	parallel(ceilDiv(len(wanted), 16), func(task int) {
		for _, i := range wanted[task*16 : min((task+1)*16, len(wanted))] {
			x := m.delta.row(i)
			square := 0.0
			for j, v := range z {
				x[j] = v / x[j]
				square = math.FMA(x[j], x[j], square)
			}
			norm := math.Sqrt(square)
			for j := range x {
				x[j] /= norm
			}
		}
	})
}

// exactWeights returns ẑ, for which the roots found are exact, up to a factor:
//
//	ẑ_j² = Π_i (d_j - λ_i) / Π_{i≠j} (d_j - d_i)
func (m *merger) exactWeights() []float64 {
	k := len(m.poles)
	z := make([]float64, k)
	parallel(ceilDiv(k, 64), func(task int) {
		j0, j1 := task*64, min((task+1)*64, k)
		for j := j0; j < j1; j++ {
			z[j] = *m.delta.at(j, j)
		}
		for i := range k {
			delta := m.delta.row(i)
			for j := j0; j < j1; j++ {
				if i != j {
					z[j] *= delta[j] / (m.poles[j] - m.poles[i])
				}
			}
		}
		for j := j0; j < j1; j++ {
			z[j] = math.Copysign(math.Sqrt(math.Abs(z[j])), m.weights[j])
		}
	})
	return z
}
