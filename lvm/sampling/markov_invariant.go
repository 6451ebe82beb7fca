package sampling

import (
	"fmt"

	"github.com/latent-lessons/latent/lvm"
)

// ReducibleError reports a chain with more than one closed class, and so
// with more than one invariant distribution.
type ReducibleError struct {
	Op     string
	Closed [][]int // the states of each closed class
}

// Error names the classes, and what to try.
func (e *ReducibleError) Error() string {
	return fmt.Sprintf("%s: the chain cannot leave either of %d closed classes, such as the states %v and %v, so its invariant distribution is not unique; try one class at a time, or restarts like those of PageRank",
		e.Op, len(e.Closed), e.Closed[0], e.Closed[1])
}

// Invariant returns the distribution with p = p T, by elimination. States
// that the chain leaves for ever have none of it. It exists for a periodic
// chain too, which does not converge to it. With several closed classes the
// error is a *ReducibleError.
//
// The elimination of Grassmann, Taksar & Heyman 1985 subtracts nothing, so
// even tiny probabilities come out to nearly all digits.
//
// Cost: O(n³).
func (c *MarkovChain) Invariant() ([]float64, error) {
	n := c.must()
	closed := c.Closed()
	if len(closed) > 1 {
		return nil, &ReducibleError{Op: "sampling.MarkovChain.Invariant", Closed: closed}
	}
	class := closed[0]
	m := len(class)
	a := make([][]float64, m)
	for i := range a {
		a[i] = make([]float64, m)
		for j := range a[i] {
			a[i][j] = c.Transition.At(class[i], class[j])
		}
	}
	// Take the states out one by one; what remains is the chain watched only
	// while it is in the others.
	for k := m - 1; k > 0; k-- {
		var leave float64
		for _, p := range a[k][:k] {
			leave += p
		}
		for i := range k {
			a[i][k] /= leave
			for j := range k {
				a[i][j] += a[i][k] * a[k][j]
			}
		}
	}
	// And put them back.
	visits := make([]float64, m)
	visits[0] = 1
	sum := 1.0
	for k := 1; k < m; k++ {
		for i := range k {
			visits[k] += visits[i] * a[i][k]
		}
		sum += visits[k]
	}
	p := make([]float64, n)
	for i, v := range visits {
		p[class[i]] = v / sum
	}
	return p, nil
}

// PowerOptions are the settings of the power iteration.
type PowerOptions struct {
	// Tol ends the iteration when a step moves less than this mass: the total
	// variation of p and p T. 0 means 1e-12.
	Tol float64

	// MaxIter is the largest number of steps. 0 means 10,000.
	MaxIter int
}

func (o *PowerOptions) or() PowerOptions {
	var r PowerOptions
	if o != nil {
		r = *o
	}
	if r.Tol < 0 || r.MaxIter < 0 {
		panic(fmt.Sprintf("sampling: power iteration with tolerance %v and %d steps", r.Tol, r.MaxIter))
	}
	if r.Tol == 0 {
		r.Tol = 1e-12
	}
	if r.MaxIter == 0 {
		r.MaxIter = 10_000
	}
	return r
}

// InvariantByPower applies the chain to p until it stands still. The
// objective of the trace is minus the mass that the next step moves; Err of
// the trace tells whether it stopped, which for a periodic chain it does
// not. With several closed classes the limit depends on p.
//
// Cost: O(n²) per step.
func (c *MarkovChain) InvariantByPower(p []float64, opts *PowerOptions) ([]float64, lvm.Trace) {
	c.mustDistribution("InvariantByPower", p)
	return powerIteration(p, opts.or(), c.advance)
}

func powerIteration(start []float64, o PowerOptions, advance func(next, p []float64)) ([]float64, lvm.Trace) {
	p, next := append([]float64(nil), start...), make([]float64, len(start))
	var trace lvm.Trace
	for {
		advance(next, p)
		moved := TotalVariation(p, next)
		trace.Objective = append(trace.Objective, -moved)
		if moved <= o.Tol {
			trace.Status = lvm.Converged
			break
		}
		if trace.Steps() == o.MaxIter {
			trace.Status = lvm.IterationLimit
			break
		}
		p, next = next, p
	}
	trace.Finals = []float64{trace.Final()}
	return p, trace
}
