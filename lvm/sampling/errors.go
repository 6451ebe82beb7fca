package sampling

import (
	"fmt"
	"math"
	"slices"
)

// DensityError reports a log density that a sampler cannot go on with: +Inf,
// which no distribution has, and NaN; for a Markov chain, which passes over
// NaN at a proposal, NaN and −Inf at its current state, where it can only be
// if it started there.
type DensityError struct {
	Op    string    // the sampler, such as "sampling.Metropolis"
	At    []float64 // the state, nil if it is not a vector
	Value float64   // the log density there
	Try   string    // what to do about it
}

// Error says where the log density is what, and what to try.
func (e *DensityError) Error() string {
	at := ""
	if e.At != nil {
		at = fmt.Sprintf(" at %.6g", e.At[:min(len(e.At), 8)])
		if len(e.At) > 8 {
			at += fmt.Sprintf(" and %d more coordinates", len(e.At)-8)
		}
	}
	return fmt.Sprintf("%s: the log density is %v%s; try %s", e.Op, e.Value, at, e.Try)
}

// checkDensity returns the error for a log density that the current state of
// a chain cannot have.
func checkDensity(op string, x []float64, logp float64) error {
	if logp-logp == 0 { // neither NaN nor ±Inf
		return nil
	}
	e := &DensityError{Op: op, At: slices.Clone(x), Value: logp}
	switch {
	case math.IsInf(logp, 1):
		e.Try = "a density that is bounded, or a change of variables that removes its pole"
	case math.IsNaN(logp):
		e.Try = "returning −Inf where the density is not defined, and a start inside its support"
	default:
		e.Try = "a start inside the support of the density"
	}
	return e
}
