package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Cycle applies kernels one after the other; together they are one step. If
// each leaves a distribution invariant, so does the cycle, though it is not
// reversible. A kernel that should come twice needs two values of it.
//
// The Info sums the evaluations, averages the acceptance, and else is that
// of the last kernel; it is divergent, invalid or accepted if any was.
type Cycle[S any] struct {
	Kernels []Kernel[S]

	states []S
	infos  []Info
}

// Step applies every kernel in order.
func (c *Cycle[S]) Step(rng *rand.Rand, s S) (S, Info) {
	if len(c.Kernels) == 0 {
		panic("sampling: Cycle of no kernels")
	}
	c.states, c.infos = grow(c.states, len(c.Kernels)), grow(c.infos, len(c.Kernels))
	var sum Info
	for i, k := range c.Kernels {
		var info Info
		s, info = k.Step(rng, s)
		c.states[i], c.infos[i] = s, info
		accepted, accept := sum.Accepted || info.Accepted, sum.Acceptance+info.Acceptance
		evals, divergent, invalid := sum.Evaluations+info.Evaluations, sum.Divergent || info.Divergent, sum.Invalid || info.Invalid
		sum = info
		sum.Accepted, sum.Acceptance, sum.Evaluations, sum.Divergent, sum.Invalid = accepted, accept, evals, divergent, invalid
		if info.Err != nil {
			sum.Err = fmt.Errorf("kernel %d of the cycle: %w", i, info.Err)
			break
		}
	}
	sum.Acceptance /= float64(len(c.Kernels))
	return s, sum
}

// Adapt adapts every kernel that adapts, each with its own part of the step.
func (c *Cycle[S]) Adapt(rng *rand.Rand, t, n int, s S, info Info) {
	for i, k := range c.Kernels {
		if a, ok := k.(Adaptive[S]); ok {
			if t == 0 {
				a.Adapt(rng, 0, n, s, info)
			} else {
				a.Adapt(rng, t, n, c.states[i], c.infos[i])
			}
		}
	}
}

// Mixture applies one of several kernels at each step, drawn with
// probabilities that do not depend on the state. If each leaves a
// distribution invariant, so does the mixture, and it is reversible if they
// all are: a way to mix small steps with bold ones. It does not adapt its
// kernels; settle them first with [BurnIn].
type Mixture[S any] struct {
	Kernels []Kernel[S]

	// Weights are the probabilities, up to a factor. nil means equal ones.
	Weights []float64

	picked int    // by the last step
	infos  []Info // of the last step of each kernel
}

// Step applies one kernel.
func (m *Mixture[S]) Step(rng *rand.Rand, s S) (S, Info) {
	m.picked = m.draw(rng)
	return m.Kernels[m.picked].Step(rng, s)
}

func (m *Mixture[S]) draw(rng *rand.Rand) int {
	if len(m.Kernels) == 0 {
		panic("sampling: Mixture of no kernels")
	}
	if m.Weights == nil {
		return rng.IntN(len(m.Kernels))
	}
	if len(m.Weights) != len(m.Kernels) {
		panic(fmt.Sprintf("sampling: Mixture of %d kernels with %d weights", len(m.Kernels), len(m.Weights)))
	}
	var sum float64
	for _, w := range m.Weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			panic(fmt.Sprintf("sampling: Mixture with weight %v", w))
		}
		sum += w
	}
	if sum == 0 {
		panic("sampling: Mixture with no positive weight")
	}
	return pick(rng, m.Weights, sum)
}

// Adapt adapts the kernel that took the step, and all at the first and the
// last call.
func (m *Mixture[S]) Adapt(rng *rand.Rand, t, n int, s S, info Info) {
	m.infos = grow(m.infos, len(m.Kernels))
	if t > 0 {
		m.infos[m.picked] = info
	}
	for i, k := range m.Kernels {
		if a, ok := k.(Adaptive[S]); ok && (t == 0 || t == n || i == m.picked) {
			if t == 0 {
				m.infos[i] = info
			}
			a.Adapt(rng, t, n, s, m.infos[i])
		}
	}
}

// pick draws an index with probability weights[i]/sum.
func pick(rng *rand.Rand, weights []float64, sum float64) int {
	u, last := rng.Float64()*sum, 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if u < w {
			return i
		}
		u -= w
		last = i
	}
	return last // rounding left a little of u
}
