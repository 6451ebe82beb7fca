package sampling

import (
	"fmt"
	"iter"
	"math"

	"github.com/latent-lessons/latent/lvm"
)

// Rule says where a [Grid] places its points.
type Rule int

const (
	// Midpoint places one point in the middle of each cell.
	Midpoint Rule = iota
	// Trapezoid places points on the corners of the cells; those on the
	// border count half for each border that they lie on.
	Trapezoid
)

// Grid integrates over a box by a regular grid of points,
//
//	∫ f(x) dx ≈ Σ_i w_i f(x_i)
//
// with Points points per axis, so n = Points^d of them in d dimensions. For
// smooth f the error falls with the square of the cell width, so as
// n^(−2/d): a grid that is far ahead of random draws in one dimension is
// behind their n^(−1/2) beyond four. That is the curse of dimensionality. What
// lies outside the box is left out, and the rule does not notice.
//
// Notes 002, §11.1.
type Grid struct {
	Lower, Upper []float64 // corners of the box, length d
	Points       int       // per axis
	Rule         Rule

	// MaxPoints is the largest number of points in all for which the methods
	// start out. 0 means 100 million.
	MaxPoints int
}

const maxGridPoints = 100_000_000

// Len returns Points^d, or an error if the grid is malformed or larger than
// MaxPoints.
func (g *Grid) Len() (int, error) {
	const op = "sampling.Grid"
	d, limit := len(g.Lower), g.MaxPoints
	if limit == 0 {
		limit = maxGridPoints
	}
	if d == 0 || len(g.Upper) != d {
		return 0, &lvm.ShapeError{Op: op, What: "length of Upper", Got: len(g.Upper), Want: max(d, 1)}
	}
	for j := range d {
		if w := g.Upper[j] - g.Lower[j]; !(w > 0) || math.IsInf(w, 1) {
			return 0, &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("the box reaches from %v to %v", g.Lower[j], g.Upper[j]), Try: "finite bounds, the lower one first"}
		}
	}
	least := 1
	if g.Rule == Trapezoid {
		least = 2
	}
	if g.Points < least {
		return 0, &lvm.ShapeError{Op: op, What: "points per axis", Got: g.Points, Want: least}
	}
	n := 1
	for range d {
		if n > limit/g.Points {
			return 0, &lvm.DataError{
				Op: op, Row: -1, Col: -1,
				Problem: fmt.Sprintf("%d points per axis in %d dimensions are %.3g points, more than %d", g.Points, d, math.Pow(float64(g.Points), float64(d)), limit),
				Try:     "random draws, whose error does not depend on the dimension, or raising MaxPoints",
			}
		}
		n *= g.Points
	}
	return n, nil
}

// All returns the points with their weights, the last axis changing fastest.
// The point is storage of the sequence; it is empty where Len has an error.
func (g *Grid) All() iter.Seq2[[]float64, float64] {
	return func(yield func([]float64, float64) bool) {
		if _, err := g.Len(); err != nil {
			return
		}
		d := len(g.Lower)
		at, x := make([]int, d), make([]float64, d)
		axes, weights := make([][]float64, d), make([]float64, d+1)
		for j := range d {
			axes[j] = g.axis(j)
		}
		// weights[j+1] is the product over the first j+1 axes; set from axis j on.
		weights[0] = 1
		set := func(from int) {
			for j := from; j < d; j++ {
				x[j] = axes[j][at[j]]
				weights[j+1] = weights[j] * g.weight(j, at[j])
			}
		}
		set(0)
		for {
			if !yield(x, weights[d]) {
				return
			}
			j := d - 1
			for at[j]++; at[j] == g.Points; at[j]++ {
				at[j] = 0
				if j--; j < 0 {
					return
				}
			}
			set(j)
		}
	}
}

// axis returns the places of the points on axis j.
func (g *Grid) axis(j int) []float64 {
	x := make([]float64, g.Points)
	lower, width := g.Lower[j], g.Upper[j]-g.Lower[j]
	for i := range x {
		if g.Rule == Trapezoid {
			x[i] = lower + width*float64(i)/float64(g.Points-1)
		} else {
			x[i] = lower + width*(float64(i)+0.5)/float64(g.Points)
		}
	}
	return x
}

// weight returns the share of axis j that point i stands for.
func (g *Grid) weight(j, i int) float64 {
	width := g.Upper[j] - g.Lower[j]
	if g.Rule == Midpoint {
		return width / float64(g.Points)
	}
	w := width / float64(g.Points-1)
	if i == 0 || i == g.Points-1 {
		w /= 2
	}
	return w
}

// Integrate returns Σ_i w_i f(x_i). A value that is not finite gives a
// *lvm.DataError with the number of the point as its row.
//
// Cost: Points^d calls of f.
func (g *Grid) Integrate(f func(x []float64) float64) (float64, error) {
	if _, err := g.Len(); err != nil {
		return 0, err
	}
	var sum float64
	i := 0
	for x, w := range g.All() {
		v := f(x)
		if v-v != 0 {
			return 0, &lvm.DataError{Op: "sampling.Grid.Integrate", Row: i, Col: -1, Problem: fmt.Sprintf("the function is %v at %.6g", v, x), Try: "the midpoint rule if that is on the border, or another box"}
		}
		sum += w * v
		i++
	}
	return sum, nil
}

// LogIntegrate returns log Σ_i w_i exp(l(x_i)), which neither overflows nor
// underflows: the logarithm of a normalising constant. l may be −Inf.
func (g *Grid) LogIntegrate(l func(x []float64) float64) (float64, error) {
	logZ, _, err := g.logSum("sampling.Grid.LogIntegrate", l, func([]float64) float64 { return 0 })
	return logZ, err
}

// Expect returns E[f] under the density p̃/Z with both integrals on the grid,
//
//	Σ_i w_i p̃(x_i) f(x_i) / Σ_i w_i p̃(x_i)
//
// where logDensity returns log p̃(x), up to a constant.
func (g *Grid) Expect(logDensity, f func(x []float64) float64) (float64, error) {
	const op = "sampling.Grid.Expect"
	logZ, mean, err := g.logSum(op, logDensity, f)
	if err == nil && math.IsInf(logZ, -1) {
		err = &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "the density is zero at every point of the grid", Try: "a box that holds the mass, or more points"}
	}
	return mean, err
}

// logSum returns log Σ_i w_i exp(l(x_i)) and the mean of f under those
// weights, both relative to the largest weight so far. f is not called at
// points without weight.
func (g *Grid) logSum(op string, l, f func(x []float64) float64) (logSum, mean float64, err error) {
	if _, err := g.Len(); err != nil {
		return 0, 0, err
	}
	largest, sum, sumF := math.Inf(-1), 0.0, 0.0
	i := 0
	for x, w := range g.All() {
		lx := l(x)
		if math.IsNaN(lx) || math.IsInf(lx, 1) {
			return 0, 0, densityError(op, x, lx)
		}
		lw := math.Log(w) + lx
		if lw > largest {
			scale := math.Exp(largest - lw)
			largest, sum, sumF = lw, sum*scale, sumF*scale
		}
		if p := math.Exp(lw - largest); p > 0 {
			v := f(x)
			if v-v != 0 {
				return 0, 0, &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the function is %v at %.6g", v, x), Try: "a function that is finite wherever there is mass"}
			}
			sum += p
			sumF += p * v
		}
		i++
	}
	return largest + math.Log(sum), sumF / sum, nil
}
