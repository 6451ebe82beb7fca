package plots

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ErrNoData is returned, wrapped, by a constructor that got nothing to draw.
var ErrNoData = errors.New("no data to draw")

// A DataError reports a NaN or infinite number in the data of a mark.
type DataError struct {
	Mark     string  // what was to be drawn, e.g. "clusters"
	Row, Col int     // where the value is, counted from zero; Col is 0 for slices
	Value    float64 // NaN or ±Inf
}

func (e *DataError) Error() string {
	return fmt.Sprintf("plots: %s: row %d, column %d is %v; drop or fill in such rows before drawing",
		e.Mark, e.Row, e.Col, e.Value)
}

// A ShapeError reports data of the wrong shape, for example 150 rows with 149
// labels.
type ShapeError struct {
	Mark    string
	Problem string // what is wrong and what to try
}

func (e *ShapeError) Error() string { return "plots: " + e.Mark + ": " + e.Problem }

// A ValueError reports a function that cannot be drawn because of its value at
// one point.
type ValueError struct {
	Mark  string
	At    []float64 // the point
	Value float64   // NaN, +Inf or a negative density
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("plots: %s: the value at %s is %v; check the parameters of the model",
		e.Mark, point(e.At...), e.Value)
}

func noData(mark string) error { return fmt.Errorf("plots: %s: %w", mark, ErrNoData) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// checkMatrix returns a typed error unless x has a row, at least cols columns and
// only finite values in the first cols of them.
func checkMatrix(mark string, x mat.Matrix, cols int) error {
	if x == nil {
		return noData(mark)
	}
	r, c := x.Dims()
	if r == 0 || c == 0 {
		return noData(mark)
	}
	if c < cols {
		return &ShapeError{mark, fmt.Sprintf("need %d columns, got %d", cols, c)}
	}
	for i := range r {
		for j := range cols {
			if v := x.At(i, j); !finite(v) {
				return &DataError{mark, i, j, v}
			}
		}
	}
	return nil
}

// checkSlice is checkMatrix for a slice.
func checkSlice(mark string, x []float64) error {
	if len(x) == 0 {
		return noData(mark)
	}
	for i, v := range x {
		if !finite(v) {
			return &DataError{mark, i, 0, v}
		}
	}
	return nil
}
