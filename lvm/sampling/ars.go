package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/latent-lessons/latent/lvm"
)

// AdaptiveRejection draws independent values from a density of one variable
// whose logarithm h is concave, by rejection from an envelope that it builds
// itself and improves with every rejection.
//
// With Gradient the envelope is exp of the tangents of h at the points
// evaluated so far; without it, of the extensions of the chords between them.
// Either lies above a concave h, and the chords themselves lie below it, so
// that most draws need no evaluation at all after a while.
//
// A log density that turns out not to be concave is reported by a
// [ConcavityError] and not sampled from; it is found out where it was
// evaluated, not elsewhere.
//
// Cost per draw: O(log m) for m points, and few evaluations in all; it
// allocates nothing once the envelope has MaxPoints. The fields must not
// change after the first draw.
//
// Gilks & Wild 1992 (tangents), Gilks 1992 (chords); notes 002, §11.3.1.
type AdaptiveRejection struct {
	// Gradient returns h(x) = log p̃(x), up to a constant, and its slope.
	Gradient func(x float64) (logp, slope float64)

	// LogDensity returns h(x). It is not used if there is a Gradient.
	LogDensity func(x float64) float64

	// Lower and Upper bound the support; they may be infinite. Both zero means
	// the whole line.
	Lower, Upper float64

	// Start are points to begin with, inside the support. nil means to search
	// for some. If they do not reach to where the density falls on an infinite
	// side, more are added.
	Start []float64

	// MaxPoints is the largest number of points of the envelope, at least 5.
	// Beyond it, the point whose lines carry the least mass is dropped for a
	// new one. 0 means 64.
	MaxPoints int

	hull
	err                    error
	draws, tries, evaluate int
}

// maxARSTries is how many proposals in a row may be rejected. An envelope of
// tangents over a concave h accepts a good half after a dozen.
const maxARSTries = 10_000

// maxExpansions is how many points are added on either side to begin with;
// doubling a step of one reaches the largest float64 after 1024.
const maxExpansions = 2000

// Draw draws one value.
//
// Errors stay: after the first, every draw returns it. A *ConcavityError
// says that h is not concave, a *DensityError that it is NaN or +Inf
// somewhere, a *lvm.DataError that it has no support where it was looked for
// or does not fall towards an infinite end and so cannot be normalised.
func (a *AdaptiveRejection) Draw(rng *rand.Rand) (float64, error) {
	const op = "sampling.AdaptiveRejection"
	if a.points == nil && a.err == nil {
		a.err = a.begin()
	}
	if a.err != nil {
		return math.NaN(), a.err
	}
	for range maxARSTries {
		a.tries++
		x, upper, lower := a.propose(rng)
		logU := math.Log(openUniform(rng))
		if logU <= lower-upper {
			a.draws++
			return x, nil
		}
		p, err := a.at(x)
		if err != nil {
			a.err = err
			return math.NaN(), err
		}
		if a.err = a.insert(op, p, a.MaxPoints); a.err != nil {
			return math.NaN(), a.err
		}
		if logU <= p.h-upper {
			a.draws++
			return x, nil
		}
	}
	a.err = &AcceptanceError{Op: op, Accepted: a.draws, Tries: maxARSTries, Try: "a larger MaxPoints, or Start points near the mode"}
	return math.NaN(), a.err
}

// Sample draws n values. With an error come the draws before it.
func (a *AdaptiveRejection) Sample(rng *rand.Rand, n int) ([]float64, error) {
	checkRand("AdaptiveRejection.Sample", rng)
	checkCount("AdaptiveRejection.Sample", n)
	draws := make([]float64, 0, n)
	for range n {
		x, err := a.Draw(rng)
		if err != nil {
			return draws, err
		}
		draws = append(draws, x)
	}
	return draws, nil
}

// Points returns the points of the envelope in order; nil before the first
// draw.
func (a *AdaptiveRejection) Points() []float64 {
	x := make([]float64, len(a.points))
	for i, p := range a.points {
		x[i] = p.x
	}
	return x
}

// UpperHull returns the logarithm of the envelope at x, and LowerHull that of
// the squeeze below the density, −Inf outside the points; both up to the
// constant of the log density, and NaN before the first draw.
func (a *AdaptiveRejection) UpperHull(x float64) float64 {
	if a.points == nil {
		return math.NaN()
	}
	return a.upper(x)
}

// LowerHull returns the logarithm of the squeeze; see UpperHull.
func (a *AdaptiveRejection) LowerHull(x float64) float64 {
	if a.points == nil {
		return math.NaN()
	}
	return a.lower(x)
}

// Acceptance returns the share of proposals accepted so far.
func (a *AdaptiveRejection) Acceptance() float64 { return float64(a.draws) / float64(a.tries) }

// Evaluations returns the number of calls of Gradient or LogDensity so far.
func (a *AdaptiveRejection) Evaluations() int { return a.evaluate }

// at evaluates h at x.
func (a *AdaptiveRejection) at(x float64) (hullPoint, error) {
	const op = "sampling.AdaptiveRejection"
	a.evaluate++
	p := hullPoint{x: x}
	if a.Gradient != nil {
		p.h, p.slope = a.Gradient(x)
	} else {
		p.h = a.LogDensity(x)
	}
	if math.IsNaN(p.h) || math.IsInf(p.h, 1) {
		return p, densityError(op, []float64{x}, p.h)
	}
	if !math.IsInf(p.h, -1) && p.slope-p.slope != 0 {
		return p, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the slope of the log density at %.6g is %v", x, p.slope), Try: "leaving Gradient out, which needs no slopes"}
	}
	return p, nil
}

// begin evaluates the first points.
func (a *AdaptiveRejection) begin() error {
	const op = "sampling.AdaptiveRejection"
	if a.Gradient == nil && a.LogDensity == nil {
		panic("sampling: AdaptiveRejection without Gradient and LogDensity")
	}
	a.hull = hull{left: a.Lower, right: a.Upper, tangents: a.Gradient != nil}
	if a.Lower == 0 && a.Upper == 0 {
		a.left, a.right = math.Inf(-1), math.Inf(1)
	}
	if !(a.left < a.right) {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the support reaches from %v to %v", a.left, a.right), Try: "the lower bound first"}
	}
	if a.MaxPoints == 0 {
		a.MaxPoints = 64
	}
	a.MaxPoints = max(a.MaxPoints, 5)
	for i, x := range a.Start {
		if !(x >= a.left && x <= a.right) || math.IsInf(x, 0) {
			return &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the start %v is not between %v and %v", x, a.left, a.right), Try: "a start inside the support"}
		}
		if err := a.add(x); err != nil {
			return err
		}
	}
	if len(a.points) == 0 {
		if err := a.find(); err != nil {
			return err
		}
	}
	// On to either side, until the density falls and there are three points, so
	// that even chords have something to extend.
	step := [2]float64{1, 1}
	for k := 0; k < 2 || len(a.points) < 3 || !a.falls(-1) || !a.falls(1); k++ {
		side, sign := k%2, float64(2*(k%2)-1)
		if k > 1 && len(a.points) >= 3 && a.falls(sign) {
			continue
		}
		x := a.beyond(sign, &step[side])
		if math.IsInf(x, 0) {
			return &lvm.DataError{
				Op: op, Row: -1, Col: -1,
				Problem: fmt.Sprintf("the log density does not fall towards %v", x),
				Try:     "a density that can be normalised, or finite Lower and Upper",
			}
		}
		if k > 2*maxExpansions {
			return &lvm.DataError{
				Op: op, Row: -1, Col: -1,
				Problem: fmt.Sprintf("only %d points with density were found, near %.6g", len(a.points), a.points[0].x),
				Try:     "Start points inside the support, or a scale of x that float64 can hold",
			}
		}
		if err := a.add(x); err != nil {
			return err
		}
	}
	return a.rebuild(op)
}

// add evaluates h at x and adds the point, without the envelope.
func (a *AdaptiveRejection) add(x float64) error {
	p, err := a.at(x)
	if err != nil {
		return err
	}
	_, err = a.place("sampling.AdaptiveRejection", p)
	return err
}

// find looks for a first point with density.
func (a *AdaptiveRejection) find() error {
	x := searchPoints(a.left, a.right, nil)
	// From the middle outwards: that is near zero if the support is infinite.
	for i := range x {
		at := len(x)/2 + (i+1)/2
		if i%2 == 1 {
			at = len(x)/2 - (i+1)/2
		}
		p, err := a.at(x[min(max(at, 0), len(x)-1)])
		if err != nil {
			return err
		}
		if !math.IsInf(p.h, -1) {
			a.points = append(a.points, p)
			return nil
		}
	}
	return &lvm.DataError{
		Op: "sampling.AdaptiveRejection", Row: -1, Col: -1,
		Problem: fmt.Sprintf("the log density is −Inf at all of %d points between %.6g and %.6g", len(x), a.left, a.right),
		Try:     "a Start inside the support",
	}
}
