package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
)

// Tabulated draws from any density of one variable by inverting a table of
// its distribution function,
//
//	h(x) = (1/Z) ∫_{lower}^x p̃(x') dx',  x = h⁻¹(u)
//
// The interval is cut into pieces until the integral over each is settled and
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

	// Error is the largest |h(h⁻¹(u)) − u| measured, at seven places inside
	// every piece, with the error of the integrals added: by how much the
	// distribution function of the draws may differ from h.
	Error float64

	logDensity func(x float64) float64
	line       line
	shift      float64 // log p̃ is taken relative to this
	total      float64 // ∫ p̃ exp(−shift)
	pieces     []piece
	guide      []int32 // first piece that reaches u = i/len(guide)
}

// piece is one piece of the table: the inverse of h between u and u+share,
// as a cubic of which the slopes at the ends are per width and share.
type piece struct {
	u, share       float64
	t, width       float64
	slope0, slope1 float64
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
	d.line = line{lower: lower, upper: upper, below: math.IsInf(lower, -1), above: math.IsInf(upper, 1), centre: top.x}
	places := breakPoints(logDensity, lower, upper, found, o.Points)
	d.line.spread(places)
	lo, hi := d.line.ends()
	breaks := []float64{lo, hi}
	for i := 1; i < 16; i++ {
		breaks = append(breaks, lo+(hi-lo)*float64(i)/16)
	}
	for _, x := range places {
		breaks = append(breaks, d.line.t(x))
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

// breakPoints returns the peaks, the points to either side where the density
// has fallen, and the points given: places where a piece should end.
func breakPoints(logDensity func(x float64) float64, lower, upper float64, found []peak, points []float64) []float64 {
	var places []float64
	add := func(x float64) {
		if x > lower && x < upper {
			places = append(places, x)
		}
	}
	for _, p := range found {
		w := p.width(logDensity, lower, upper)
		add(p.x - w)
		add(p.x)
		add(p.x + w)
	}
	for _, x := range points {
		add(x)
	}
	return places
}

// density returns p̃(x) dx/dt relative to exp(shift).
func (d *Tabulated) density(t float64) float64 {
	x, slope := d.line.x(t)
	if math.IsInf(x, 0) || math.IsInf(slope, 1) {
		return 0
	}
	return math.Exp(d.logDensity(x)-d.shift) * slope
}

// at returns the place in the piece, from 0 to 1, below which the share v of
// its mass lies.
func (c *piece) at(v float64) float64 {
	w := 1 - v
	return v * (w*w*c.slope0 + v*(w*(3-c.slope1)+v))
}

// index makes the guide table.
func (d *Tabulated) index() {
	d.guide = make([]int32, 2*len(d.pieces))
	at := 0
	for i := range d.guide {
		u := float64(i) / float64(len(d.guide))
		for at < len(d.pieces)-1 && d.pieces[at].u+d.pieces[at].share <= u {
			at++
		}
		d.guide[i] = int32(at)
	}
}

// Quantile returns h⁻¹(u). It panics unless 0 ≤ u ≤ 1.
func (d *Tabulated) Quantile(u float64) float64 {
	checkProbability("Tabulated", u)
	at := int(d.guide[min(int(u*float64(len(d.guide))), len(d.guide)-1)])
	for at < len(d.pieces)-1 && d.pieces[at+1].u <= u {
		at++
	}
	c := &d.pieces[at]
	v := min(max((u-c.u)/c.share, 0), 1)
	x, _ := d.line.x(c.t + c.width*c.at(v))
	return x
}

// Draw draws by the inverse of the distribution function.
func (d *Tabulated) Draw(rng *rand.Rand) float64 { return InverseCDF(rng, d.Quantile) }

// CDF returns h(x), by integrating the density over the part of a
// piece below x.
func (d *Tabulated) CDF(x float64) float64 {
	if x <= d.line.lower {
		return 0
	}
	if x >= d.line.upper {
		return 1
	}
	t := d.line.t(x)
	at := sort.Search(len(d.pieces), func(i int) bool { return d.pieces[i].t > t }) - 1
	if at < 0 {
		return 0
	}
	c := &d.pieces[at]
	if t >= c.t+c.width {
		return min(c.u+c.share, 1)
	}
	mass := lobatto(d.density, c.t, t-c.t, d.density(c.t), d.density(t))
	return min(c.u+mass/d.total, 1)
}

// LogProb returns log p(x), normalised.
func (d *Tabulated) LogProb(x float64) float64 {
	if x < d.line.lower || x > d.line.upper {
		return math.Inf(-1)
	}
	return d.logDensity(x) - d.LogZ
}

// Len returns the number of pieces of the table.
func (d *Tabulated) Len() int { return len(d.pieces) }
