package coding

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// MaxBins is the largest number of bins of an Axis.
const MaxBins = 1 << 16

// Axis divides a line into bins. Bin b has its centre at First + b·Width and
// stands for all that is rounded to it; the first and the last bin of an Axis
// stand for all below and above as well when a density is turned into
// probabilities, so that these sum to one.
type Axis struct {
	First float64 // centre of bin 0
	Width float64 // above zero: how finely values are told apart
	Bins  int     // 1 to MaxBins
}

// Grid says how finely each column of the data is told apart. A real number has
// infinitely many digits; a code needs a grid that sender and receiver agree on.
type Grid []Axis

// NewGrid returns the smallest grid that holds x, with centres at multiples of the
// given widths, one per column; it has a bin to spare if the least value lies halfway
// between two centres and rounding does not say to which it belongs. What is not finite, and a column with more than
// MaxBins bins, are a *lvm.DataError that says where.
func NewGrid(x mat.Matrix, widths ...float64) (Grid, error) {
	const op = "coding.NewGrid"
	rows, err := num.CheckData(op, x)
	if err != nil {
		return nil, err
	}
	if len(widths) != rows.D {
		return nil, &lvm.ShapeError{Op: op, What: "widths", Got: len(widths), Want: rows.D}
	}
	g := make(Grid, rows.D)
	for j, w := range widths {
		if !(w > 0) || math.IsInf(w, 1) {
			return nil, &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("the width is %v", w), Try: "a positive number"}
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range rows.N {
			v := rows.Row(i)[j]
			lo, hi = min(lo, v), max(hi, v)
		}
		first := math.Floor(lo/w + 0.5)
		a := Axis{First: first * w, Width: w}
		if a.place(lo) < 0 { // a value halfway between two centres, and rounding
			a.First = (first - 1) * w
		}
		bins := a.place(hi) + 1
		if !(bins <= MaxBins) || max(math.Abs(lo/w), math.Abs(hi/w)) > 1<<50 {
			return nil, &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("width %v makes more than %d bins", w, MaxBins), Try: "a larger width"}
		}
		a.Bins = int(bins)
		g[j] = a
	}
	return g, nil
}

// Round returns x with every value moved to the centre of its bin: what a
// receiver gets. A value outside of the grid is a *lvm.DataError with its row and
// column.
func (g Grid) Round(x mat.Matrix) (*mat.Dense, error) {
	rows, err := g.rows("coding.Grid.Round", x)
	if err != nil {
		return nil, err
	}
	r := mat.NewDense(rows.N, rows.D, nil)
	for i := range rows.N {
		for j, v := range rows.Row(i) {
			r.Set(i, j, g[j].centre(g[j].bin(v)))
		}
	}
	return r, nil
}

// Bits returns the bits per row of the naive code, which spends as much on
// every bin: Σ_j log₂ Bins_j.
//
// Source: Ghahramani, Latent variable models, appendix, with the number of bins
// for (max−min)/Δ. What the grid itself costs is not counted, here or elsewhere.
func (g Grid) Bits() float64 {
	var sum float64
	for _, a := range g {
		sum += math.Log2(float64(a.Bins))
	}
	return sum
}

func (a Axis) centre(bin int) float64 { return a.First + float64(bin)*a.Width }

// place returns the number of the nearest bin of an axis without ends, the upper of
// two: unlike math.Round it does not depend on where bin 0 is.
func (a Axis) place(v float64) float64 { return math.Floor((v-a.First)/a.Width + 0.5) }

// bin returns the bin of v; −1 below the axis and Bins above.
func (a Axis) bin(v float64) int {
	return int(min(max(a.place(v), -1), float64(a.Bins)))
}

// check reports what is wrong with the grid for data of d columns.
func (g Grid) check(op string, d int) error {
	if len(g) != d {
		return &lvm.ShapeError{Op: op, What: "axes of the grid", Got: len(g), Want: d}
	}
	for j, a := range g {
		last := a.First + float64(a.Bins)*a.Width
		if !(a.Width > 0) || a.Bins < 1 || a.Bins > MaxBins || last-last != 0 || !(a.centre(a.Bins-1)+a.Width > a.centre(a.Bins-1)) || !(a.First+a.Width > a.First) {
			return &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("the grid has %d bins of width %v from %v on", a.Bins, a.Width, a.First),
				Try: fmt.Sprintf("1 to %d bins of positive width, not lost beside First", MaxBins)}
		}
	}
	return nil
}

// rows checks that x lies on the grid.
func (g Grid) rows(op string, x mat.Matrix) (num.Rows, error) {
	rows, err := num.CheckData(op, x)
	if err != nil {
		return rows, err
	}
	if rows.D != len(g) {
		return rows, &lvm.ShapeError{Op: op, What: "columns of x", Got: rows.D, Want: len(g)}
	}
	if err := g.check(op, rows.D); err != nil {
		return rows, err
	}
	for i := range rows.N {
		for j, v := range rows.Row(i) {
			if b := g[j].bin(v); b < 0 || b >= g[j].Bins {
				return rows, &lvm.DataError{Op: op, Row: i, Col: j,
					Problem: fmt.Sprintf("%v is outside of the grid, which goes from %v to %v", v, g[j].centre(0), g[j].centre(g[j].Bins-1)), Try: "a grid with more bins, or NewGrid of this data"}
			}
		}
	}
	return rows, nil
}
