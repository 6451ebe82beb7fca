package kernels

import "math"

// Panels are k centres as Screen wants them. There are two forms: distances by
// differences, Σ (x_j − c_j)², keep their digits however near a centre is;
// distances by products, ‖x‖² + ‖c‖² − 2 Σ x_j c_j, take half the operations and
// lose digits next to the size of rows and centres.
type Panels struct {
	d       int
	product bool

	// 32 centres make up a panel, 16 the last one if that is enough: first what a
	// sum of each begins with, and then by columns what its terms are made from.
	c []float32

	// For a row of squared norm s, with least and second the two least sums:
	// gap = √(second − s·perNorm − minus)·shrink − √least·grow − blur.
	bound gapBound
}

type gapBound struct{ perNorm, minus, shrink, grow, blur float32 }

// Differences returns the panels of centres, k×d, for distances by differences.
// Blur is how far off the difference of two distances already is.
func Differences(centers []float32, d int, blur float64) *Panels {
	p := newPanels(centers, d, blur)
	// A sum has a relative error of (d+2)·2⁻²⁴, and its root half of that.
	p.allow(float64(d)*0x1p-24, 0)
	return p
}

// Products returns the panels of centres, k×d, for distances by products.
func Products(centers []float32, d int, blur float64) *Panels {
	p := newPanels(centers, d, blur)
	p.product = true
	k := len(centers) / d
	var reach float64 // the largest squared norm
	norms := make([]float64, k)
	for z := range k {
		for _, v := range centers[z*d : (z+1)*d] {
			norms[z] += float64(v) * float64(v)
		}
		reach = max(reach, norms[z])
	}
	// No term and no partial sum is larger than 2 (‖x‖² + ‖c‖²), so that a sum is off
	// by up to (d+2)·2⁻²³ times that. Adding as much to every sum makes it an upper
	// bound that is not negative.
	off := float64(d+8) * 0x1p-23
	p.allow(0, off)
	p.bound.minus = roundUp(2 * off * reach)
	for z := range k {
		base, column, width := p.place(z)
		p.c[base] = roundUp(norms[z] + off*reach)
		for j, v := range centers[z*d : (z+1)*d] {
			p.c[column+width*j] = -2 * v
		}
	}
	return p
}

func newPanels(centers []float32, d int, blur float64) *Panels {
	if d < 1 || len(centers) == 0 || len(centers)%d != 0 {
		panic("kernels: panels of no centres")
	}
	k := len(centers) / d
	p := &Panels{d: d, c: make([]float32, (k+15)/16*16*(d+1))}
	for z := range (k + 15) / 16 * 16 {
		base, column, width := p.place(z)
		if z >= k {
			p.c[base] = 0x1p126 // no centre: farther than any
			continue
		}
		for j, v := range centers[z*d : (z+1)*d] {
			p.c[column+width*j] = v
		}
	}
	p.bound.blur = roundUp(blur)
	return p
}

// place returns where centre z is.
func (p *Panels) place(z int) (base, column, width int) {
	first := z / 32 * 32 * (p.d + 1)
	width = min(32, (len(p.c)-first)/(p.d+1))
	return first + z%32, first + width + z%32, width
}

// allow sets the bound for distances with a relative error, and for sums to which off
// times the squared norms has been added. 2⁻¹⁹ is for the bits of a sum that hold
// the index, the rest for the rounding of the bound.
func (p *Panels) allow(relative, off float64) {
	relative += 0x1p-19 + 0x1p-21
	p.bound.shrink, p.bound.grow = float32(1-relative), float32(1+relative)
	p.bound.perNorm = roundUp(2 * off)
}

func roundUp(v float64) float32 { return float32(v * (1 + 0x1p-22)) }

// Screen finds the centre nearest to each of the listed rows of x, in single precision,
// and a lower bound for how much nearer it is than any other: if the gap is not
// positive, the nearest may be another one. Row r of x is x[r·d : (r+1)·d] and its
// squared norm norms[r]. Place i of index and gap is for row rows[i].
//
// Which centre is taken and how tight the bound is depends on the processor, so a
// caller must not let it decide more than what to look at again.
func (p *Panels) Screen(index []int32, gap, x, norms []float32, rows []int32) {
	if len(index) != len(rows) || len(gap) != len(rows) {
		panic("kernels: Screen with slices that do not fit")
	}
	all := uint32(min(len(norms), len(x)/p.d))
	for _, r := range rows {
		if uint32(r) >= all { // the assembly does not check
			panic("kernels: Screen with a row that is not there")
		}
	}
	var part screening
	for len(rows) > 0 {
		n := min(len(rows), len(part.rows))
		copy(part.rows[:], rows[:n])
		whole := n
		for ; whole%8 != 0; whole++ {
			part.rows[whole] = rows[n-1]
		}
		part.least, part.second = infinite, infinite
		for first := 0; first*(p.d+1) < len(p.c); first += 32 {
			panel := p.c[first*(p.d+1):]
			p.screen(&part, whole, x, norms, panel[:min(len(panel), 32*(p.d+1))], first)
		}
		copy(index, part.index[:n])
		copy(gap, part.gap[:n])
		rows, index, gap = rows[n:], index[n:], gap[n:]
	}
}

// screening is some rows, few enough to stay in the cache for all panels, and what has
// been seen of them so far.
type screening struct {
	rows, index        [some]int32
	least, second, gap [some]float32 // sums, sums, bounds
}

const some = 64

var infinite = func() (a [some]float32) {
	for i := range a {
		a[i] = float32(math.Inf(1))
	}
	return a
}()

// screenPortable shows a panel to n rows; its first centre is first.
func (p *Panels) screenPortable(s *screening, n int, x, norms, panel []float32, first int) {
	width := len(panel) / (p.d + 1)
	var room [32]float32
	for i, r := range s.rows[:n] {
		sums := room[:width]
		copy(sums, panel)
		row, norm := x[int(r)*p.d:(int(r)+1)*p.d], norms[r]
		for j, v := range row {
			column := panel[width*(j+1) : width*(j+2)]
			if p.product {
				if j == 0 {
					for l := range sums {
						sums[l] += norm
					}
				}
				for l, c := range column {
					sums[l] += v * c
				}
				continue
			}
			for l, c := range column {
				t := v - c
				sums[l] += t * t
			}
		}
		for l, v := range sums {
			if v < s.least[i] {
				s.index[i], s.least[i], s.second[i] = int32(first+l), v, s.least[i]
			} else if v < s.second[i] {
				s.second[i] = v
			}
		}
		b := p.bound
		far := min(s.second[i], 0x1p126) - b.minus
		if p.product {
			far -= norm * b.perNorm
		}
		s.gap[i] = sqrt32(max(0, far))*b.shrink - sqrt32(s.least[i])*b.grow - b.blur
	}
}

func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }
