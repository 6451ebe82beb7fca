package sampling

import (
	"math"
	"math/rand/v2"
)

// Scan is the order in which a Gibbs sampler visits its blocks.
type Scan int

const (
	// Systematic visits every block once, in order. The sweep leaves the
	// target invariant but is not reversible.
	Systematic Scan = iota
	// RandomScan visits as many blocks, each drawn at random; it is reversible.
	RandomScan
)

// Gibbs redraws one block of the state after the other from its full
// conditional, given the newest values of all others,
//
//	x_b ~ p(x_b | x_{−b})  for every block b
//
// Each is a Metropolis–Hastings move that is always accepted. To derive a
// full conditional, write down the joint density, drop every factor that
// does not depend on the block (notes 000 have this the wrong way round),
// and recognise what is left.
//
// Larger blocks cost more and mix better when their elements are correlated.
// [GaussianGibbs], [FactorGibbs] and [Ising] work out the conditionals by
// themselves.
//
// Geman & Geman 1984; notes 000, Algorithm 6 and (5.29); notes 002, §11.5.3,
// where (11.19) should read p(z_i|z_{−i}) p(z_{−i}).
type Gibbs[E any] struct {
	// Conditionals redraw one block each, in place, and leave the rest of x.
	Conditionals []func(rng *rand.Rand, x []E)

	// Scan is the order of the blocks. The zero value is Systematic.
	Scan Scan

	// LogDensity, if not nil, is evaluated once per step for Info.LogDensity.
	LogDensity func(x []E) float64

	buf [2][]E
}

// Step redraws every block once.
func (g *Gibbs[E]) Step(rng *rand.Rand, x []E) ([]E, Info) {
	y := nextBuffer(&g.buf, x)
	for b := range g.Conditionals {
		if g.Scan == RandomScan {
			b = rng.IntN(len(g.Conditionals))
		}
		g.Conditionals[b](rng, y)
	}
	info := Info{LogDensity: math.NaN(), Acceptance: 1, Accepted: true}
	if g.LogDensity != nil {
		info.LogDensity, info.Evaluations = g.LogDensity(y), 1
	}
	return y, info
}

// nextBuffer copies x to the buffer of the two that is not x.
func nextBuffer[E any](buf *[2][]E, x []E) []E {
	if len(x) == 0 {
		return x
	}
	if len(buf[0]) != len(x) {
		buf[0], buf[1] = make([]E, len(x)), make([]E, len(x))
	}
	y := buf[0]
	if &y[0] == &x[0] {
		y = buf[1]
	}
	copy(y, x)
	return y
}
