package sampling

import (
	"fmt"
	"math"
	"slices"
)

// densityError returns the error for a log density that no weight can be
// made of: NaN or +Inf.
func densityError(op string, x []float64, logp float64) error {
	e := &DensityError{Op: op, At: slices.Clone(x), Value: logp}
	if math.IsNaN(logp) {
		e.Try = "returning −Inf where the density is not defined"
	} else {
		e.Try = "a density that is bounded, or a change of variables that removes its pole"
	}
	return e
}

// AcceptanceError reports that proposals were rejected so often that a
// sampler gave up.
type AcceptanceError struct {
	Op       string
	Accepted int    // draws accepted before
	Tries    int    // proposals rejected in a row since
	Try      string // what to do about it
}

// Error says how many proposals were rejected, and what to try.
func (e *AcceptanceError) Error() string {
	return fmt.Sprintf("%s: after %d draws, %d proposals in a row were rejected; try %s", e.Op, e.Accepted, e.Tries, e.Try)
}
