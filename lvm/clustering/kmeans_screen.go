package clustering

import (
	"math"
	"slices"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// screen is the data in single precision, in which distances come several times as
// fast. It settles all rows but those whose two nearest centres are about
// equally near.
type screen struct {
	x      []float32 // n×d, about origin and divided by unit
	norms  []float32 // ‖x‖²
	d      int
	origin []float64
	unit   float64 // a power of two
	radius float64 // the largest distance of a row from origin
}

func newScreen(data weighted) *screen {
	_, exp := math.Frexp(data.spread)
	s := &screen{x: make([]float32, data.N*data.D), norms: make([]float32, data.N), d: data.D, origin: data.origin, unit: math.Ldexp(1, exp)}
	blocks := num.BlocksOf(data.N)
	most := make([]float64, blocks.Count())
	blocks.Each(func(_, b, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := data.Row(i)
			s.shrink(s.x[i*s.d:(i+1)*s.d], row)
			square := num.SqDist(row, s.origin)
			s.norms[i] = float32(square / (s.unit * s.unit))
			most[b] = max(most[b], square)
		}
	})
	s.radius = math.Sqrt(slices.Max(most))
	return s
}

// shrink sets dst to a row as the screen sees it.
func (s *screen) shrink(dst []float32, row []float64) {
	origin, dst, scale := s.origin[:len(row)], dst[:len(row)], 1/s.unit
	for j, v := range row {
		dst[j] = float32((v - origin[j]) * scale)
	}
}

// panels returns the centres as rows are screened against them: in the fast form first,
// and then in the one that leaves fewer rows in doubt.
func (s *screen) panels(centers num.Rows) []*num.Panels {
	c := make([]float32, centers.N*s.d)
	var reach float64 // the largest distance of a centre from origin
	for z := range centers.N {
		s.shrink(c[z*s.d:(z+1)*s.d], centers.Row(z))
		reach = max(reach, math.Sqrt(num.SqDist(centers.Row(z), s.origin)))
	}
	// Rounding a row and a centre to single precision moves each by 2⁻²⁴ of its
	// distance from the origin.
	blur := 2.2 * (s.radius + reach) / s.unit * 0x1p-24
	return []*num.Panels{num.Products(c, s.d, blur), num.Differences(c, s.d, blur)}
}
