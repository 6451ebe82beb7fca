package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-lessons/latent/lvm"
)

// hullPiece is the line through (x, h) between lo and hi, above the chord of
// the points around it.
type hullPiece struct {
	lo, hi float64
	hullPoint
	squeeze hullPoint // the chord; with h = −Inf outside the points
	below   float64   // ∫ exp of the pieces before this one, over that of all
}

// rebuild sets the pieces of the envelope and their masses.
func (h *hull) rebuild(op string) error {
	h.pieces = h.pieces[:0]
	squeeze := hullPoint{h: math.Inf(-1)}
	piece := func(lo, hi float64, p hullPoint, slope float64) {
		if hi > lo {
			h.pieces = append(h.pieces, hullPiece{lo: lo, hi: hi, hullPoint: hullPoint{p.x, p.h, slope}, squeeze: squeeze})
		}
	}
	n := len(h.points)
	for i := 0; i <= n; i++ {
		squeeze = hullPoint{h: math.Inf(-1)}
		if i > 0 && i < n {
			squeeze = hullPoint{h.points[i-1].x, h.points[i-1].h, h.chord(i - 1)}
		}
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

// propose draws from the envelope and returns its height there, and that of
// the squeeze.
func (h *hull) propose(rng *rand.Rand) (x, upper, lower float64) {
	u := openUniform(rng)
	i, end := 0, len(h.pieces)
	for end-i > 1 { // the last piece that begins below u
		if mid := (i + end) / 2; h.pieces[mid].below > u {
			end = mid
		} else {
			i = mid
		}
	}
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
	return x, p.line(x, p.slope), p.squeeze.line(x, p.squeeze.slope)
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
