package clustering

import (
	"math"
	"slices"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// screen is the data in single precision, in which distances come four times as
// fast. It settles all rows but those whose two nearest centres are about
// equally near.
type screen struct {
	x      []float32 // n×d, about origin and divided by unit
	d      int
	origin []float64
	unit   float64 // a power of two
	radius float64 // the largest distance of a row from origin
}

func newScreen(data weighted) *screen {
	_, exp := math.Frexp(data.spread)
	s := &screen{x: make([]float32, data.N*data.D), d: data.D, origin: data.origin, unit: math.Ldexp(1, exp)}
	blocks := num.BlocksOf(data.N)
	most := make([]float64, blocks.Count())
	blocks.Each(func(_, b, lo, hi int) {
		for i := lo; i < hi; i++ {
			x := s.x[i*s.d : (i+1)*s.d]
			for j, v := range data.Row(i) {
				x[j] = float32((v - s.origin[j]) / s.unit)
			}
			most[b] = max(most[b], num.SqDist(data.Row(i), s.origin))
		}
	})
	s.radius = math.Sqrt(slices.Max(most))
	return s
}

// panels is a set of centres as the screen wants them.
type panels struct {
	c []float32

	// A distance from the screen is off by relative times its size, and by
	// absolute.
	relative, absolute float64
}

func (s *screen) panels(centers num.Rows) panels {
	p := panels{c: make([]float32, num.Panels(centers.N, s.d))}
	for i := range p.c {
		p.c[i] = math.MaxFloat32 // farther than any centre
	}
	var reach float64 // the largest distance of a centre from origin
	for z := range centers.N {
		panel := p.c[z/32*32*s.d:]
		width := min(32, len(panel)/s.d)
		for j, v := range centers.Row(z) {
			panel[width*j+z%32] = float32((v - s.origin[j]) / s.unit)
		}
		reach = max(reach, math.Sqrt(num.SqDist(centers.Row(z), s.origin)))
	}
	// Rounding a row and a centre to single precision moves each by 2⁻²⁴ of its
	// distance from the origin.
	p.relative = float64(s.d+16)*0x1p-24 + 0x1p-19
	p.absolute = 1.1 * (s.radius + reach) / s.unit * 0x1p-24
	return p
}

// gap returns a lower bound of the difference of two distances that the screen has
// measured. The square of one beyond 2⁶⁴ overflows, and then all that is known is
// that it is large.
func (p *panels) gap(least, second float32) float64 {
	return float64(min(second, 0x1p63))*(1-p.relative) - float64(least)*(1+p.relative) - 2*p.absolute
}
