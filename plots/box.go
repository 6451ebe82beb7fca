package plots

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// A Box is a rectangle of the plane in data units.
type Box struct {
	XMin, XMax, YMin, YMax float64
}

// Bounds returns the range of the first two columns of x, widened by 5 % on each
// side (by 1 where a column is constant). Values that are not finite are left
// out. Bounds panics if x has fewer than two columns.
func Bounds(x mat.Matrix) Box {
	var b Box
	b.XMin, b.XMax = bounds(x, 0)
	b.YMin, b.YMax = bounds(x, 1)
	return b
}

func bounds(x mat.Matrix, col int) (lo, hi float64) {
	n, _ := x.Dims()
	first := true
	for i := range n {
		v := x.At(i, col)
		if !finite(v) {
			continue
		}
		if first {
			lo, hi, first = v, v, false
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	if lo == hi {
		return lo - 1, hi + 1
	}
	margin := 0.05 * (hi - lo)
	return lo - margin, hi + margin
}

// DataRange implements plot.DataRanger for the marks that embed a box.
func (b Box) DataRange() (xmin, xmax, ymin, ymax float64) {
	return b.XMin, b.XMax, b.YMin, b.YMax
}

func (b Box) check(mark string) error {
	for _, v := range []float64{b.XMin, b.XMax, b.YMin, b.YMax} {
		if !finite(v) {
			return &ShapeError{mark, fmt.Sprintf("the box %v is not finite", b)}
		}
	}
	if b.XMin >= b.XMax || b.YMin >= b.YMax {
		return &ShapeError{mark, fmt.Sprintf("the box %v is empty; give XMin < XMax and YMin < YMax", b)}
	}
	return nil
}

// Columns returns a copy of the given columns of x, n×len(cols), for the marks
// that draw the first two.
func Columns(x mat.Matrix, cols ...int) *mat.Dense {
	n, _ := x.Dims()
	y := mat.NewDense(n, len(cols), nil)
	for k, j := range cols {
		for i := range n {
			y.Set(i, k, x.At(i, j))
		}
	}
	return y
}
