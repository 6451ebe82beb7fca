package sampling

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/diff/fd"
)

// GradientError reports a gradient that is not finite or not the derivative
// of its log density.
type GradientError struct {
	Op         string
	At         []float64 // where
	Coordinate int       // which component
	Got        float64   // its value
	Want       float64   // by finite differences, NaN if those were not asked
}

// Error says which component is wrong and where.
func (e *GradientError) Error() string {
	at := fmt.Sprintf("%.6g", e.At[:min(len(e.At), 8)])
	if math.IsNaN(e.Want) {
		return fmt.Sprintf("%s: component %d of the gradient is %v at %s, where the log density is finite; try CheckGradient", e.Op, e.Coordinate, e.Got, at)
	}
	return fmt.Sprintf("%s: component %d of the gradient is %.6g at %s, by finite differences %.6g; try deriving it again, or a log density without kinks", e.Op, e.Coordinate, e.Got, at, e.Want)
}

// CheckGradient compares the gradient that gradient writes with central
// finite differences of the log density that it returns, at x, and returns a
// [GradientError] for the first component that is off by more than 10⁻⁵ of
// the largest, or a [DensityError] if the log density is not finite there.
// Try it at a few points before a long run.
//
// Cost: 2d + 1 evaluations.
func CheckGradient(gradient func(x, grad []float64) float64, x []float64) error {
	const op = "sampling.CheckGradient"
	x = slices.Clone(x)
	got, scratch := make([]float64, len(x)), make([]float64, len(x))
	if err := checkDensity(op, x, gradient(x, got)); err != nil {
		return err
	}
	want := fd.Gradient(nil, func(y []float64) float64 { return gradient(y, scratch) }, x, &fd.Settings{Formula: fd.Central})
	scale := 1.0
	for _, w := range want {
		if w-w == 0 {
			scale = max(scale, math.Abs(w))
		}
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 1e-5*scale) {
			return &GradientError{Op: op, At: x, Coordinate: i, Got: got[i], Want: w}
		}
	}
	return nil
}
