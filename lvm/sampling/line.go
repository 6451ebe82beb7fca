package sampling

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/latent-lessons/latent/lvm"
)

// peak is a local maximum of a function of one variable.
type peak struct{ x, value float64 }

// peaks returns the local maxima of f on [lower, upper], either of which may
// be infinite, in order of x. It looks at points that lie dense near the
// ends, near zero and by their order of magnitude, and at those given, and
// climbs from each that is above its neighbours. A peak much narrower than
// the distance of the points is found if the slope of f leads to it, as
// that of a log density does.
func peaks(op string, f func(x float64) float64, lower, upper float64, points []float64) ([]peak, error) {
	if !(lower < upper) {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the interval reaches from %v to %v", lower, upper), Try: "the lower bound first"}
	}
	x := searchPoints(lower, upper, points)
	v := make([]float64, len(x))
	for i := range x {
		if v[i] = f(x[i]); math.IsNaN(v[i]) || math.IsInf(v[i], 1) {
			return nil, densityError(op, x[i:i+1], v[i])
		}
	}
	at := func(i int) float64 {
		if i < 0 || i >= len(v) {
			return math.Inf(-1)
		}
		return v[i]
	}
	var found []peak
	for i := range x {
		if math.IsInf(v[i], -1) || v[i] < at(i-1) || v[i] < at(i+1) {
			continue
		}
		if v[i] == at(i-1) && v[i] == at(i+1) {
			continue // inside a plateau
		}
		p := climb(f, x[max(i-1, 0)], peak{x[i], v[i]}, x[min(i+1, len(x)-1)])
		if math.IsInf(p.value, 1) {
			return nil, densityError(op, []float64{p.x}, p.value)
		}
		found = append(found, p)
	}
	if found == nil {
		// Either no mass, or a plateau as wide as the interval.
		i := slices.Index(v, slices.Max(v))
		if math.IsInf(v[i], -1) {
			return nil, &lvm.DataError{
				Op: op, Row: -1, Col: -1,
				Problem: fmt.Sprintf("the log density is −Inf at all of %d points between %.6g and %.6g", len(x), lower, upper),
				Try:     "bounds closer to the support, or a point inside it",
			}
		}
		found = []peak{{x[i], v[i]}}
	}
	return found, nil
}

// searchPoints returns points of [lower, upper] in increasing order.
func searchPoints(lower, upper float64, points []float64) []float64 {
	var x []float64
	add := func(v float64) {
		if v >= lower && v <= upper && !math.IsInf(v, 0) {
			x = append(x, v)
		}
	}
	infinite := math.IsInf(upper-lower, 1)
	const perOctave = 4
	if infinite {
		add(0)
		for k := -30 * perOctave; k <= 60*perOctave; k++ {
			step := math.Exp2(float64(k) / perOctave)
			add(step)
			add(-step)
			add(lower + step)
			add(upper - step)
		}
	} else {
		const cells = 256
		width := upper - lower
		for i := 0; i <= cells; i++ {
			add(lower + width*float64(i)/cells)
		}
		for k := 9; k <= 40; k++ {
			step := math.Ldexp(width, -k)
			add(lower + step)
			add(upper - step)
		}
	}
	add(lower)
	add(upper)
	for _, p := range points {
		add(p)
	}
	sort.Float64s(x)
	return slices.Compact(x)
}

// climb returns the maximum of f between lo and hi by golden sections,
// starting from the best point known.
func climb(f func(x float64) float64, lo float64, best peak, hi float64) peak {
	const section = 0.3819660112501051 // (3 − √5)/2
	for range 200 {
		// Cut the longer side.
		x := best.x + section*(hi-best.x)
		if best.x-lo > hi-best.x {
			x = best.x - section*(best.x-lo)
		}
		if x == best.x || !(lo < x && x < hi) {
			break
		}
		switch v := f(x); {
		case v > best.value && x > best.x:
			lo, best = best.x, peak{x, v}
		case v > best.value:
			hi, best = best.x, peak{x, v}
		case x > best.x: // also for NaN
			hi = x
		default:
			lo = x
		}
		if hi-lo <= 1e-9*math.Abs(best.x) {
			break
		}
	}
	return best
}

// highest returns the largest of some peaks.
func highest(p []peak) peak {
	return slices.MaxFunc(p, func(a, b peak) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
}

// width returns the distance from a peak of a log density at which it has
// fallen by one, to within a factor of two, on the wider side; 0 if it falls
// on neither side within the interval.
func (p peak) width(f func(x float64) float64, lower, upper float64) float64 {
	var widest float64
	for _, sign := range []float64{-1, 1} {
		for step := 1e-12 * (1 + math.Abs(p.x)); step < 1e300; step *= 2 {
			x := p.x + sign*step
			if x < lower || x > upper {
				break
			}
			if !(f(x) > p.value-1) {
				widest = max(widest, step)
				break
			}
		}
	}
	return widest
}

// line maps t onto an interval of the real line, of which one or both ends
// may be infinite, so that t runs over a finite interval.
type line struct {
	lower, upper  float64
	centre, scale float64
	below, above  bool // the lower, the upper end is infinite
}

// spread sets the scale so that the places, in which something happens, are
// well inside the interval of t.
func (l *line) spread(places []float64) {
	from := l.centre
	if !l.below {
		from = l.lower
	} else if !l.above {
		from = l.upper
	}
	for _, x := range places {
		l.scale = max(l.scale, math.Abs(x-from))
	}
	if l.scale == 0 {
		l.scale = 1
	}
}

// ends returns the interval of t.
func (l *line) ends() (lo, hi float64) {
	if l.below {
		lo = -1
	}
	return lo, 1
}

// x returns the point for t and dx/dt there.
func (l *line) x(t float64) (x, slope float64) {
	switch {
	case l.below && l.above:
		r := (1 - t) * (1 + t)
		return l.centre + l.scale*(t/r), l.scale * (1 + t*t) / (r * r)
	case l.above:
		r := 1 - t
		return l.lower + l.scale*(t/r), l.scale / (r * r)
	case l.below: // t from −1 to 1, as if mirrored
		r := (1 + t) / 2
		return l.upper - l.scale*((1-r)/r), l.scale / (2 * r * r)
	}
	return l.lower + (l.upper-l.lower)*t, l.upper - l.lower
}

// t returns the inverse of x.
func (l *line) t(x float64) float64 {
	switch {
	case l.below && l.above:
		y := (x - l.centre) / l.scale
		if math.IsInf(y, 0) {
			return math.Copysign(1, y)
		}
		return 2 * y / (1 + math.Hypot(1, 2*y)) // y = t/(1 − t²)
	case l.above:
		y := (x - l.lower) / l.scale
		if math.IsInf(y, 1) {
			return 1
		}
		return y / (1 + y)
	case l.below:
		y := (l.upper - x) / l.scale
		return 2/(1+y) - 1
	}
	return (x - l.lower) / (l.upper - l.lower)
}
