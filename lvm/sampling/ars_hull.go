package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/latent-lessons/latent/lvm"
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

// hullPiece is the line through (x, h) between lo and hi.
type hullPiece struct {
	lo, hi float64
	hullPoint
	below float64 // ∫ exp of the pieces before this one, over that of all
}

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
		size = max(size, math.Abs(v))
	}
	return 1e-8 + 64*epsilon*size
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
	lower, upper := h.lower(p.x), h.bound(p.x)
	if len(h.points) == 0 {
		return nil
	}
	tol := tolerance(p.h, lower, upper)
	if math.IsInf(lower, -1) || math.IsInf(upper, 1) {
		tol = tolerance(p.h)
	}
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

// insert adds a point and rebuilds the envelope. If there are more than limit
// points then, it drops one.
func (h *hull) insert(op string, p hullPoint, limit int) error {
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

// drop removes the point whose lines carry the least mass. The envelope must
// still fall towards both ends without it.
func (h *hull) drop() {
	least, at := math.Inf(1), 0
	piece, n := 0, len(h.points)
	for i, p := range h.points {
		var mass float64
		for ; piece < len(h.pieces) && h.pieces[piece].x == p.x; piece++ {
			mass += h.share(piece)
		}
		if mass >= least {
			continue
		}
		falls := true
		if i == 0 || i == n-1 {
			all := h.points
			if h.points = all[1:]; i > 0 {
				h.points = all[:n-1]
			}
			falls = h.falls(-1) && h.falls(1)
			h.points = all
		}
		if falls {
			least, at = mass, i
		}
	}
	h.points = slices.Delete(h.points, at, at+1)
}

// share returns the mass of a piece.
func (h *hull) share(i int) float64 {
	if i == len(h.pieces)-1 {
		return 1 - h.pieces[i].below
	}
	return h.pieces[i+1].below - h.pieces[i].below
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

// rebuild sets the pieces of the envelope and their masses.
func (h *hull) rebuild(op string) error {
	h.pieces = h.pieces[:0]
	piece := func(lo, hi float64, p hullPoint, slope float64) {
		if hi > lo {
			h.pieces = append(h.pieces, hullPiece{lo: lo, hi: hi, hullPoint: hullPoint{p.x, p.h, slope}})
		}
	}
	n := len(h.points)
	for i := 0; i <= n; i++ {
		lo, hi := h.left, h.right
		if i > 0 {
			lo = h.points[i-1].x
		}
		if i < n {
			hi = h.points[i].x
		}
		fromLeft, fromRight, leftOK, rightOK := h.slopes(i)
		switch {
		case leftOK && rightOK:
			p, q := h.points[i-1], h.points[i]
			z := lo + (hi-lo)/2
			if d := fromLeft - fromRight; d > 0 {
				z = min(max(lo+(q.h-p.h-fromRight*(hi-lo))/d, lo), hi)
			}
			piece(lo, z, p, fromLeft)
			piece(z, hi, q, fromRight)
		case leftOK:
			piece(lo, hi, h.points[i-1], fromLeft)
		default:
			piece(lo, hi, h.points[i], fromRight)
		}
	}

	top := math.Inf(-1)
	for _, p := range h.pieces {
		height, _ := p.top()
		top = max(top, height)
	}
	var total float64
	for i := range h.pieces {
		p := &h.pieces[i]
		p.below = total
		height, _ := p.top()
		total += math.Exp(height-top) * p.extent()
	}
	if !(total > 0 && total <= math.MaxFloat64) {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the envelope has mass %v", total), Try: "a scale of x that float64 can hold"}
	}
	for i := range h.pieces {
		h.pieces[i].below /= total
	}
	return nil
}

// top returns the height of the higher end of a piece, and that end.
func (p *hullPiece) top() (height, end float64) {
	if end = p.lo; p.slope > 0 {
		end = p.hi
	}
	return p.line(end, p.slope), end
}

// extent returns ∫ exp(−|slope|·δ) dδ over the width of the piece.
func (p *hullPiece) extent() float64 {
	s, w := math.Abs(p.slope), p.hi-p.lo
	if s*w < 1e-12 {
		return w
	}
	return -math.Expm1(-s*w) / s
}

// propose draws from the envelope and returns its height there.
func (h *hull) propose(rng *rand.Rand) (x, upper float64) {
	u := openUniform(rng)
	i := sort.Search(len(h.pieces), func(i int) bool { return h.pieces[i].below > u }) - 1
	p := &h.pieces[i]
	s, w := math.Abs(p.slope), p.hi-p.lo
	delta := openUniform(rng)
	if s*w < 1e-12 {
		delta *= w
	} else {
		delta = -math.Log1p(delta*math.Expm1(-s*w)) / s
	}
	if x = p.lo + delta; p.slope > 0 {
		x = p.hi - delta
	}
	x = min(max(x, p.lo), p.hi)
	return x, p.line(x, p.slope)
}
