package coding

import "math"

// precision is that of the symbols of a Mixture, in bits: 256 slots for each of
// the most bins that an axis may have, and 2^−8 of a state at its smallest.
const precision = 24

// slots returns the slots that bin b owns under N(mean, sd²).
func (a Axis) slots(b int, mean, sd float64) slots {
	start := a.start(b, mean, sd)
	return slots{start: start, freq: a.start(b+1, mean, sd) - start}
}

// start returns the first slot of bin b. Two slots per bin are set aside, the
// others shared out by the distribution function. Were that to fall by a rounding
// error from one edge to the next, a share would be one slot less than none, and
// the bin still has one.
func (a Axis) start(b int, mean, sd float64) uint32 {
	switch b {
	case 0:
		return 0
	case a.Bins:
		return 1 << precision
	}
	free := float64(1<<precision - 2*a.Bins)
	return uint32(2*b) + uint32(free*below((a.edge(b)-mean)/sd))
}

// find returns the bin that owns a slot.
func (a Axis) find(slot uint32, mean, sd float64) int {
	lo, hi := 0, a.Bins
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; a.start(mid, mean, sd) <= slot {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// edge returns where bin b begins.
func (a Axis) edge(b int) float64 { return a.First + (float64(b)-0.5)*a.Width }

// logMass returns the log probability, in nats, of bin b under N(mean, sd²).
func (a Axis) logMass(b int, mean, sd float64) float64 {
	lo, hi := math.Inf(-1), math.Inf(1)
	if b > 0 {
		lo = (a.edge(b) - mean) / sd
	}
	if b < a.Bins-1 {
		hi = (a.edge(b+1) - mean) / sd
	}
	return logBetween(lo, hi)
}

// below returns Φ(z); 0 for NaN.
func below(z float64) float64 {
	if !(z > -40) {
		return 0
	}
	return 0.5 * math.Erfc(-z/math.Sqrt2)
}

// logBetween returns ln(Φ(hi) − Φ(lo)) for lo < hi.
func logBetween(lo, hi float64) float64 {
	if lo+hi > 0 {
		lo, hi = -hi, -lo // to the left, where Φ keeps its digits
	}
	if h := hi - lo; h*max(1, -lo) < 1e-4 {
		mid := lo + h/2 // Φ(hi) and Φ(lo) would cancel
		return math.Log(h) - 0.5*mid*mid - 0.5*math.Log(2*math.Pi)
	}
	if p := below(hi) - below(lo); p > 1e-300 {
		return math.Log(p)
	}
	// Far out Φ(z) ≈ φ(z)/|z|·(1 − 1/z²).
	a, b := 1-1/(hi*hi), 1-1/(lo*lo)
	ratio := math.Exp(0.5*(hi-lo)*(hi+lo)) * hi / lo * b / a
	return -0.5*hi*hi - math.Log(-hi) - 0.5*math.Log(2*math.Pi) + math.Log(a) + math.Log1p(-ratio)
}
