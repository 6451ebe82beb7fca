package sampling

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// hull is the envelope of a concave function h by straight lines, with
// points where h is known.
type hull struct {
	left, right float64 // ends of the support
	tangents    bool    // slopes are known
	points      []hullPoint
	pieces      []hullPiece
}

type hullPoint struct{ x, h, slope float64 }

// ConcavityError reports that a log density is not concave: where it was
// evaluated, it does not lie between the lines that its other values allow.
type ConcavityError struct {
	Op           string
	X            float64 // where it was evaluated
	Value        float64 // log p̃ there
	Lower, Upper float64 // between which it should be
}

// Error says where the log density is not concave, and what to try.
func (e *ConcavityError) Error() string {
	return fmt.Sprintf("%s: the log density is not concave: it is %.6g at %.6g, where a concave one with its other values is between %.6g and %.6g; try NewTabulated, or slice sampling",
		e.Op, e.Value, e.X, e.Lower, e.Upper)
}

// line returns the value at x of the line through p with a slope.
func (p hullPoint) line(x, slope float64) float64 { return p.h + slope*(x-p.x) }

// chord returns the slope between points i and i+1.
func (h *hull) chord(i int) float64 {
	a, b := h.points[i], h.points[i+1]
	return (b.h - a.h) / (b.x - a.x)
}

// slopes returns the slopes of the lines that bound h between points i−1 and
// i, one through either point; false where there is no such line. i runs
// from 0, left of all points, to len(points).
func (h *hull) slopes(i int) (fromLeft, fromRight float64, leftOK, rightOK bool) {
	n := len(h.points)
	if h.tangents {
		if leftOK = i > 0; leftOK {
			fromLeft = h.points[i-1].slope
		}
		if rightOK = i < n; rightOK {
			fromRight = h.points[i].slope
		}
		return fromLeft, fromRight, leftOK, rightOK
	}
	if leftOK = i > 1; leftOK {
		fromLeft = h.chord(i - 2)
	}
	if rightOK = i < n-1; rightOK {
		fromRight = h.chord(i)
	}
	return fromLeft, fromRight, leftOK, rightOK
}

// falls says whether the envelope falls towards the end of the support on
// the side of the sign, as it must if that end is infinite.
func (h *hull) falls(sign float64) bool {
	if sign < 0 {
		_, slope, _, ok := h.slopes(0)
		return !math.IsInf(h.left, -1) || ok && slope > 0
	}
	slope, _, ok, _ := h.slopes(len(h.points))
	return !math.IsInf(h.right, 1) || ok && slope < 0
}

// beyond returns a point outside the points, towards an end of the support:
// halfway to it, or a step away that doubles each time.
func (h *hull) beyond(sign float64, step *float64) float64 {
	last, end := h.points[0].x, h.left
	if sign > 0 {
		last, end = h.points[len(h.points)-1].x, h.right
	}
	if !math.IsInf(end, 0) {
		return last + (end-last)/2
	}
	x := last + sign**step
	*step *= 2
	return x
}

// tolerance is the rounding that values of h may show.
func tolerance(values ...float64) float64 {
	var size float64
	for _, v := range values {
		if !math.IsInf(v, 0) {
			size = max(size, math.Abs(v))
		}
	}
	return 1e-8 + 64*epsilon*size
}

// noise is the rounding of h between points i and i+1, its own and that of x.
func (h *hull) noise(i int) float64 {
	p := h.points[i]
	return 2 * epsilon * (math.Abs(p.h) + math.Abs(h.chord(i)*p.x))
}

// place puts p among the points. Without density at p the support ends
// there. It reports whether p became a point.
func (h *hull) place(op string, p hullPoint) (bool, error) {
	i := sort.Search(len(h.points), func(i int) bool { return h.points[i].x >= p.x })
	if i < len(h.points) && h.points[i].x == p.x {
		return false, nil
	}
	if math.IsInf(p.h, -1) {
		switch {
		case len(h.points) == 0:
		case i == 0:
			h.left = p.x
		case i == len(h.points):
			h.right = p.x
		default:
			return false, &ConcavityError{Op: op, X: p.x, Value: p.h, Lower: h.lower(p.x), Upper: h.bound(p.x)}
		}
		return false, nil
	}
	if err := h.within(op, p); err != nil {
		return false, err
	}
	h.points = slices.Insert(h.points, i, p)
	return true, nil
}

// within returns an error unless p lies between the lines that the points
// allow, and allows the points beside it.
func (h *hull) within(op string, p hullPoint) error {
	if len(h.points) == 0 {
		return nil
	}
	lower, upper := h.lower(p.x), h.bound(p.x)
	tol := tolerance(p.h, lower, upper) + h.magnified(p.x)
	if p.h < lower-tol || p.h > upper+tol {
		return &ConcavityError{Op: op, X: p.x, Value: p.h, Lower: lower, Upper: upper}
	}
	if !h.tangents || math.IsInf(p.h, -1) {
		return nil
	}
	// The tangent at p must lie above its neighbours too.
	i := sort.Search(len(h.points), func(i int) bool { return h.points[i].x >= p.x })
	for _, j := range []int{i - 1, i} {
		if j < 0 || j == len(h.points) {
			continue
		}
		q := h.points[j]
		if at := p.line(q.x, p.slope); q.h > at+tolerance(p.h, q.h, at) {
			return &ConcavityError{Op: op, X: q.x, Value: q.h, Lower: math.Inf(-1), Upper: at}
		}
	}
	return nil
}

// closeEnough is how far the envelope may be above h, at a point that there
// is no more room for, before another point is dropped for it.
const closeEnough = 0.01

// insert adds a point and rebuilds the envelope. If there are more than limit
// points then, it drops one.
func (h *hull) insert(op string, p hullPoint, limit int) error {
	if len(h.points) >= limit && h.bound(p.x)-p.h < closeEnough {
		return h.within(op, p)
	}
	left, right := h.left, h.right
	placed, err := h.place(op, p)
	if err != nil || !placed && left == h.left && right == h.right {
		return err
	}
	if err := h.rebuild(op); err != nil || len(h.points) <= limit {
		return err
	}
	h.drop()
	return h.rebuild(op)
}

// bound returns the least of the lines that bound h at x, +Inf without any.
func (h *hull) bound(x float64) float64 {
	i := sort.Search(len(h.points), func(i int) bool { return h.points[i].x >= x })
	b := math.Inf(1)
	fromLeft, fromRight, leftOK, rightOK := h.slopes(i)
	if leftOK {
		b = min(b, h.points[i-1].line(x, fromLeft))
	}
	if rightOK {
		b = min(b, h.points[i].line(x, fromRight))
	}
	return b
}

// magnified returns the rounding of bound at x, where short chords are
// extended.
func (h *hull) magnified(x float64) float64 {
	if h.tangents {
		return 0
	}
	i := sort.Search(len(h.points), func(i int) bool { return h.points[i].x >= x })
	var m float64
	if i > 1 {
		a, b := h.points[i-2], h.points[i-1]
		m = 4 * h.noise(i-2) * (x - a.x) / (b.x - a.x)
	}
	if i < len(h.points)-1 {
		a, b := h.points[i], h.points[i+1]
		m = max(m, 4*h.noise(i)*(b.x-x)/(b.x-a.x))
	}
	return m
}

// lower returns the chord of the points beside x, −Inf outside them.
func (h *hull) lower(x float64) float64 {
	i := sort.Search(len(h.points), func(i int) bool { return h.points[i].x >= x })
	switch {
	case i < len(h.points) && h.points[i].x == x:
		return h.points[i].h
	case i == 0 || i == len(h.points):
		return math.Inf(-1)
	}
	return h.points[i-1].line(x, h.chord(i-1))
}

// upper returns the envelope at x, −Inf outside the support.
func (h *hull) upper(x float64) float64 {
	if x < h.left || x > h.right {
		return math.Inf(-1)
	}
	return h.bound(x)
}
