package sampling

import (
	"fmt"
	"math"

	"github.com/latent-lessons/latent/lvm"
)

// cell is a piece in the making, with the integral of the density over it.
type cell struct {
	piece
	left, right float64 // density over t at the ends
	mass, err   float64 // integral, and how far it is from settled
	rough       bool    // as settled as the rounding of the density lets it be
	stale       int     // halvings in a row that did not help
	deviation   float64 // largest |h(h⁻¹(u)) − u| measured, times total
}

const (
	maxCells  = 1 << 16
	maxRounds = 200
)

// tabulator builds a table.
type tabulator struct {
	*Tabulated
	op    string
	tol   float64
	cells []cell
	err   error // of the density, the first one
}

func (b *tabulator) density(t float64) float64 {
	p := b.Tabulated.density(t)
	if p-p != 0 && b.err == nil {
		x, _ := b.line.x(t)
		if l := b.logDensity(x); l-l != 0 {
			b.err = densityError(b.op, []float64{x}, l)
		} else {
			b.err = b.fail(fmt.Sprintf("the log density at %.6g is %.6g, far above the %.6g of the highest peak found", x, l, b.shift), "a density that can be normalised, or Points near its peaks")
		}
	}
	return p
}

// lobatto integrates a density over [t, t+width], given its ends, by five
// points; exact for polynomials up to the seventh degree.
func lobatto(density func(t float64) float64, t, width, left, right float64) float64 {
	const off = 0.6546536707079772 // √(3/7)
	m, h := t+width/2, width/2
	return h * ((left+right)/10 + 49.0/90*(density(m-off*h)+density(m+off*h)) + 32.0/45*density(m))
}

// cell returns the cell between t and t+width: its integral by halves, and
// how far that is from the integral in one piece.
func (b *tabulator) cell(t, width, left, right float64) cell {
	mid := b.density(t + width/2)
	whole := lobatto(b.density, t, width, left, right)
	mass := lobatto(b.density, t, width/2, left, mid) + lobatto(b.density, t+width/2, width/2, mid, right)
	return cell{piece: piece{t: t, width: width}, left: left, right: right, mass: mass, err: math.Abs(mass - whole)}
}

// split halves a cell. It reports false if the cell is too narrow.
func (b *tabulator) split(c cell) (l, r cell, ok bool) {
	h := c.width / 2
	mid := c.t + h
	if !(mid > c.t && mid < c.t+c.width) || h < 1e-300 {
		return c, c, false
	}
	p := b.density(mid)
	l, r = b.cell(c.t, h, c.left, p), b.cell(mid, c.width-h, p, c.right)
	// Halving divides the error of a smooth density by 256 and leaves that of
	// a kink or a jump on one side. A small error that stays on both sides,
	// three times running, is rounding.
	if c.err < 1e-6*c.mass && min(l.err, r.err) > c.err/16 {
		l.stale = c.stale + 1
	}
	l.rough = c.rough || l.stale == 3
	r.rough, r.stale = l.rough, l.stale
	return l, r, true
}

// refine splits the cells that are bad until none is that can be split. bad is told the number
// of cells and their total mass.
func (b *tabulator) refine(problem string, bad func(c *cell, cells int, total float64) bool) error {
	for range maxRounds {
		b.total = 0
		for i := range b.cells {
			b.total += b.cells[i].mass
		}
		if b.err != nil {
			return b.err
		}
		if !(b.total > 0 && b.total <= math.MaxFloat64) {
			return b.fail(fmt.Sprintf("the integral of the density is %v times its largest value found", b.total), "bounds closer to the support, or Points near the peaks")
		}
		next := make([]cell, 0, 2*len(b.cells))
		for i := range b.cells {
			c := b.cells[i]
			if !bad(&c, len(b.cells), b.total) {
				next = append(next, c)
				continue
			}
			if len(next) >= maxCells {
				return b.fail(problem+b.where(&c), "a density that can be normalised, with lighter tails, or a larger Tol")
			}
			l, r, ok := b.split(c)
			if !ok {
				c.rough = true // as narrow as it gets
				next = append(next, c)
				continue
			}
			next = append(next, l, r)
		}
		done := len(next) == len(b.cells)
		b.cells = next
		if done {
			return nil
		}
	}
	return b.fail(problem, "a larger Tol")
}

// where says between which points a cell lies.
func (b *tabulator) where(c *cell) string {
	x0, _ := b.line.x(c.t)
	x1, _ := b.line.x(c.t + c.width)
	return fmt.Sprintf(" between %.6g and %.6g", x0, x1)
}

func (b *tabulator) fail(problem, try string) error {
	return &lvm.DataError{Op: b.op, Row: -1, Col: -1, Problem: problem, Try: try}
}

// integrate cuts the interval into cells with settled integrals.
func (b *tabulator) integrate(breaks []float64) error {
	left := b.density(breaks[0])
	for i, t := range breaks[1:] {
		if t == breaks[i] {
			continue
		}
		right := b.density(t)
		b.cells = append(b.cells, b.cell(breaks[i], t-breaks[i], left, right))
		left = right
	}
	// The errors of the integrals may use up a tenth of the tolerance. They
	// are differences to a rule of much lower accuracy, so in truth they use
	// far less.
	const problem = "the integral does not settle"
	err := b.refine(problem, func(c *cell, cells int, total float64) bool {
		return !c.rough && c.err > 0.1*b.tol*total/float64(cells)
	})
	if err != nil {
		return err
	}
	var errs float64
	worst := &b.cells[0]
	for i := range b.cells {
		c := &b.cells[i]
		errs += c.err
		if c.err > worst.err {
			worst = c
		}
	}
	if errs > 0.4*b.tol*b.total {
		return b.fail(problem+b.where(worst), "a density that can be normalised, with lighter tails, or a larger Tol")
	}
	return nil
}

// invert cuts the cells further until cubics invert h.
func (b *tabulator) invert() error {
	err := b.refine("the distribution function cannot be inverted", func(c *cell, _ int, total float64) bool {
		if c.deviation == 0 && c.mass > 0 {
			c.cubic()
			for i := 1.0; i < 8; i++ {
				w := c.width * c.at(i/8)
				got := lobatto(b.density, c.t, w, c.left, b.density(c.t+w))
				c.deviation = max(c.deviation, math.Abs(got-i/8*c.mass), 1e-300)
			}
		}
		return c.deviation > 0.5*b.tol*total
	})
	if err != nil {
		return err
	}
	var sum, errs, worst float64
	for _, c := range b.cells {
		if c.mass == 0 {
			continue
		}
		c.u, c.share = sum/b.total, c.mass/b.total
		sum += c.mass
		errs += c.err
		worst = max(worst, c.deviation)
		b.pieces = append(b.pieces, c.piece)
	}
	b.Error = (worst + errs) / b.total
	if b.Error > b.tol {
		return b.fail(fmt.Sprintf("the error is %.3g where %.3g was asked for", b.Error, b.tol), "a larger Tol")
	}
	return nil
}

// cubic sets the slopes of the inverse at the ends of the cell, brought down
// to 3 where they are steeper, which keeps the cubic rising (Fritsch &
// Carlson 1980).
func (c *cell) cubic() {
	chord := c.mass / c.width
	c.slope0, c.slope1 = min(chord/c.left, 3), min(chord/c.right, 3)
}
