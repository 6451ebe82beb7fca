package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/latent-lessons/latent/lvm"
)

// Tabulated draws from any density of one variable by inverting a table of
// its distribution function,
//
//	h(x) = (1/Z) ∫_{lower}^x p̃(x') dx',  x = h⁻¹(u)
//
// The interval is cut into cells until the integral over each is settled and
// a cubic through its ends, in value and slope, inverts h to within the
// tolerance. An infinite end is mapped to a finite one first, so heavy tails
// need no cutting off.
//
// Cost per draw: O(1), and no allocation; nothing calls the density again.
//
// Hörmann & Leydold 2003.
type Tabulated struct {
	// LogZ is log ∫ p̃(x) dx.
	LogZ float64

	// Error is the largest |h(h⁻¹(u)) − u| measured, at three places inside
	// every cell, with the error of the integrals added: by how much the
	// distribution function of the draws may differ from h.
	Error float64

	logDensity func(x float64) float64
	line       line
	shift      float64 // log p̃ is taken relative to this
	total      float64 // ∫ p̃ exp(−shift)
	cells      []cell
	guide      []int32 // first cell that reaches u = i/len(guide)
}

// TabulatedOptions are the settings of [NewTabulated].
type TabulatedOptions struct {
	// Tol is the largest Error. 0 means 1e-8. Much less than 1e-12 cannot be
	// had, and less than the rounding of x and of the log density cannot.
	Tol float64

	// Points are places near peaks or jumps of the density, which help to
	// find those that are narrow and far apart.
	Points []float64
}

// cell is one piece of the table, between t and t+width.
type cell struct {
	t, width       float64
	left, right    float64 // density over t at the ends
	mass, err      float64 // integral, and how far it is from settled
	rough          bool    // as settled as the rounding of the density lets it be
	u, share       float64 // h at t, and mass/total
	slope0, slope1 float64 // slopes of the cubic at its ends, per width and share
	deviation      float64 // largest |h(h⁻¹(u)) − u| measured, times total
}

const (
	maxCells  = 1 << 16
	maxRounds = 200
)

// NewTabulated tabulates the density with logarithm logDensity, up to a
// constant, on [lower, upper]; either end may be infinite.
//
// NaN or +Inf give a *DensityError. A density that is zero wherever it was
// looked at, whose integral does not converge (one that cannot be normalised,
// or with tails so heavy that no float64 reaches what matters of them) or
// that cannot be inverted to within the tolerance gives a *lvm.DataError.
func NewTabulated(logDensity func(x float64) float64, lower, upper float64, opts *TabulatedOptions) (*Tabulated, error) {
	const op = "sampling.NewTabulated"
	var o TabulatedOptions
	if opts != nil {
		o = *opts
	}
	if o.Tol == 0 {
		o.Tol = 1e-8
	}
	if !(o.Tol > 0) {
		panic(fmt.Sprintf("sampling: NewTabulated with tolerance %v", o.Tol))
	}
	found, err := peaks(op, logDensity, lower, upper, o.Points)
	if err != nil {
		return nil, err
	}
	top := highest(found)
	d := &Tabulated{logDensity: logDensity, shift: top.value}
	d.line = line{lower: lower, upper: upper, centre: top.x, scale: top.width(logDensity, lower, upper)}
	if !math.IsInf(lower, -1) {
		d.line.scale = max(d.line.scale, top.x-lower)
	} else if !math.IsInf(upper, 1) {
		d.line.scale = max(d.line.scale, upper-top.x)
	}
	if d.line.scale == 0 {
		d.line.scale = 1
	}

	lo, hi := d.line.ends()
	breaks := []float64{lo, hi}
	for i := 1; i < 16; i++ {
		breaks = append(breaks, lo+(hi-lo)*float64(i)/16)
	}
	for _, p := range found {
		breaks = append(breaks, d.line.t(p.x))
	}
	for _, p := range o.Points {
		if p > lower && p < upper {
			breaks = append(breaks, d.line.t(p))
		}
	}
	sort.Float64s(breaks)
	b := &tabulator{Tabulated: d, op: op, tol: o.Tol}
	if err := b.integrate(breaks); err != nil {
		return nil, err
	}
	if err := b.invert(); err != nil {
		return nil, err
	}
	d.LogZ = d.shift + math.Log(d.total)
	d.index()
	return d, nil
}

// tabulator builds a table.
type tabulator struct {
	*Tabulated
	op  string
	tol float64
	err error // of the density, the first one
}

// density returns p̃(x) dx/dt relative to exp(shift).
func (d *Tabulated) density(t float64) float64 {
	x, slope := d.line.x(t)
	if math.IsInf(x, 0) || math.IsInf(slope, 1) {
		return 0
	}
	return math.Exp(d.logDensity(x)-d.shift) * slope
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
	return cell{t: t, width: width, left: left, right: right, mass: mass, err: math.Abs(mass - whole)}
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
	// a kink or a jump on one side. On both sides it is rounding.
	l.rough = c.rough || min(l.err, r.err) > c.err/16
	r.rough = l.rough
	return l, r, true
}

// refine splits the cells that are bad until none is. bad is told the number
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
			l, r, ok := b.split(c)
			if !ok || len(next) >= maxCells {
				x0, _ := b.line.x(c.t)
				x1, _ := b.line.x(c.t + c.width)
				return b.fail(fmt.Sprintf("%s between %.6g and %.6g", problem, x0, x1), "a density that can be normalised, with lighter tails, or a larger Tol")
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
	return b.refine("the integral does not settle", func(c *cell, cells int, total float64) bool {
		return !c.rough && c.err > 0.1*b.tol*total/float64(cells)
	})
}

// invert cuts the cells further until cubics invert h.
func (b *tabulator) invert() error {
	err := b.refine("the distribution function cannot be inverted", func(c *cell, _ int, total float64) bool {
		if c.deviation == 0 && c.mass > 0 {
			c.cubic()
			for _, v := range []float64{0.25, 0.5, 0.75} {
				w := c.width * c.at(v)
				got := lobatto(b.density, c.t, w, c.left, b.density(c.t+w))
				c.deviation = max(c.deviation, math.Abs(got-v*c.mass), 1e-300)
			}
		}
		return c.deviation > 0.5*b.tol*total
	})
	if err != nil {
		return err
	}
	var sum, errs, worst float64
	kept := b.cells[:0]
	for _, c := range b.cells {
		if c.mass == 0 {
			continue
		}
		c.u, c.share = sum/b.total, c.mass/b.total
		sum += c.mass
		errs += c.err
		worst = max(worst, c.deviation)
		kept = append(kept, c)
	}
	b.cells = kept
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

// at returns the place in the cell, from 0 to 1, below which the share v of
// its mass lies.
func (c *cell) at(v float64) float64 {
	w := 1 - v
	return v * (w*w*c.slope0 + v*(w*(3-c.slope1)+v))
}

// index makes the guide table.
func (d *Tabulated) index() {
	d.guide = make([]int32, 2*len(d.cells))
	at := 0
	for i := range d.guide {
		u := float64(i) / float64(len(d.guide))
		for at < len(d.cells)-1 && d.cells[at].u+d.cells[at].share <= u {
			at++
		}
		d.guide[i] = int32(at)
	}
}

// Quantile returns h⁻¹(u). It panics unless 0 ≤ u ≤ 1.
func (d *Tabulated) Quantile(u float64) float64 {
	checkProbability("Tabulated", u)
	at := int(d.guide[min(int(u*float64(len(d.guide))), len(d.guide)-1)])
	for at < len(d.cells)-1 && d.cells[at+1].u <= u {
		at++
	}
	c := &d.cells[at]
	v := min(max((u-c.u)/c.share, 0), 1)
	x, _ := d.line.x(c.t + c.width*c.at(v))
	return x
}

// Draw draws by the inverse of the distribution function.
func (d *Tabulated) Draw(rng *rand.Rand) float64 { return InverseCDF(rng, d.Quantile) }

// CDF returns h(x), by integrating the density over the part of a cell
// below x.
func (d *Tabulated) CDF(x float64) float64 {
	if x <= d.line.lower {
		return 0
	}
	if x >= d.line.upper {
		return 1
	}
	t := d.line.t(x)
	at := sort.Search(len(d.cells), func(i int) bool { return d.cells[i].t > t }) - 1
	if at < 0 {
		return 0
	}
	c := &d.cells[at]
	if t >= c.t+c.width {
		return min(c.u+c.share, 1)
	}
	mass := lobatto(d.density, c.t, t-c.t, c.left, d.density(t))
	return min(c.u+mass/d.total, 1)
}

// LogProb returns log p(x), normalised.
func (d *Tabulated) LogProb(x float64) float64 {
	if x < d.line.lower || x > d.line.upper {
		return math.Inf(-1)
	}
	return d.logDensity(x) - d.LogZ
}

// Len returns the number of cells of the table.
func (d *Tabulated) Len() int { return len(d.cells) }
