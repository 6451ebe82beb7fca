package coding

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Against mpmath 1.3.0 with 60 digits: log((erfc(-hi/sqrt(2)) - erfc(-lo/sqrt(2)))/2),
// mirrored where lo > 0. The series far out errs by 3/z⁴.
func TestLogBetween(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ lo, hi, want, tol float64 }{
		{-1, 1, -0.38171514630212607, 1e-14},
		{0.5, 0.50001, -12.556866498195077, 1e-9},
		{3, 4, -6.6314677865382251, 1e-13},
		{-8, -7.5, -31.095579450839753, 1e-12},
		{10, 10.5, -53.236969371752502, 1e-12},
		{-37.5, -37.4, -703.94517785417366, 2e-6},
		{38, 39, -726.55721601882013, 2e-6},
		{50, 50.001, -1257.8515898122793, 2e-6},
		{-200, -199, -19806.712268608223, 1e-8},
		{1000, 1000.0001, -500010.17886227509, 1e-8},
		{-inf, -60, -1805.0135606805671, 1e-6},
		{20, inf, -203.91715537109726, 1e-10},
		{-inf, inf, 0, 0},
		{-1e-9, 1e-9, -20.949057189591139, 1e-13},
		{100, 100.00001, -5012.4323639562076, 1e-6},
	} {
		if got := logBetween(c.lo, c.hi); !(math.Abs(got-c.want) <= c.tol) {
			t.Errorf("from %v to %v: %.16g, want %.16g", c.lo, c.hi, got, c.want)
		}
		if a, b := logBetween(c.lo, c.hi), logBetween(-c.hi, -c.lo); a != b {
			t.Errorf("from %v to %v: %v, mirrored %v", c.lo, c.hi, a, b)
		}
	}
}

// However wild the Gaussian is, every bin owns a slot, neighbours touch, and find
// knows the owner; and no bin costs more than its mass says, but for what is set
// aside.
func TestSlots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a := Axis{First: 100 * rng.NormFloat64(), Width: math.Exp(4 * rng.NormFloat64()), Bins: 1 + rng.IntN(1<<rng.IntN(12))}
		mean := a.First + float64(a.Bins)*a.Width*(2*rng.Float64()-0.5)
		sd := a.Width * math.Exp(8*rng.NormFloat64())
		allowed := -math.Log2(1 - 2*float64(a.Bins)/(1<<precision))
		next := uint32(0)
		for b := range a.Bins {
			own := a.slots(b, mean, sd)
			if own.start != next || own.freq == 0 || own.freq > 1<<precision {
				t.Fatalf("%+v, N(%v, %v²): bin %d owns %d slots from %d on, want from %d", a, mean, sd, b, own.freq, own.start, next)
			}
			next += own.freq
			for _, slot := range []uint32{own.start, own.start + own.freq/2, own.start + own.freq - 1} {
				if got := a.find(slot, mean, sd); got != b {
					t.Fatalf("slot %d belongs to bin %d, found %d", slot, b, got)
				}
			}
			if over := precision - math.Log2(float64(own.freq)) + a.logMass(b, mean, sd)/math.Ln2; over > allowed+1e-6 {
				t.Errorf("%+v, N(%v, %v²): bin %d costs %v bits more, allowed are %v", a, mean, sd, b, over, allowed)
			}
		}
		if next != 1<<precision {
			t.Errorf("%d slots are owned", next)
		}
	}
}

// Also means and deviations that are not numbers, or nearly: a stream must be
// refused, not crash.
func TestSlotsOfNonsense(t *testing.T) {
	a := Axis{First: 0, Width: 1, Bins: 5}
	for _, mean := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, 2} {
		for _, sd := range []float64{1e-320, 1, 1e308, math.Inf(1), math.NaN()} {
			next := uint32(0)
			for b := range a.Bins {
				own := a.slots(b, mean, sd)
				if own.start != next || own.freq == 0 {
					t.Fatalf("N(%v, %v²): bin %d owns %d slots from %d on", mean, sd, b, own.freq, own.start)
				}
				next += own.freq
			}
			if next != 1<<precision {
				t.Errorf("N(%v, %v²): %d slots", mean, sd, next)
			}
		}
	}
}

// The masses of the bins of an axis sum to one.
func TestLogMassSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		a := Axis{First: rng.NormFloat64(), Width: math.Exp(3 * rng.NormFloat64()), Bins: 1 + rng.IntN(2000)}
		mean, sd := 100*rng.NormFloat64(), math.Exp(3*rng.NormFloat64())
		var sum float64
		for b := range a.Bins {
			sum += math.Exp(a.logMass(b, mean, sd))
		}
		if math.Abs(sum-1) > 1e-8 { // the midpoint rule for narrow bins errs by 1e-4²/24
			t.Errorf("%+v, N(%v, %v²): masses sum to %.12f", a, mean, sd, sum)
		}
	}
}
