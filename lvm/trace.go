package lvm

import "fmt"

// Status says why an iterative fit stopped.
type Status int

const (
	// Converged: the objective stopped changing, within Options.Tol.
	Converged Status = iota
	// IterationLimit: Options.MaxIter steps were taken first.
	IterationLimit
)

// String returns the status in words.
func (s Status) String() string {
	switch s {
	case Converged:
		return "converged"
	case IterationLimit:
		return "iteration limit"
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

// Trace is the record of a fit: the path of its best restart, and where the
// others ended.
type Trace struct {
	// Objective holds the objective of every model that the best restart
	// visited, larger is better: first the start's, last that of the model
	// returned. A fit of t steps has t+1 values.
	Objective []float64

	// Status says why the best restart stopped.
	Status Status

	// Restart is the index of the best restart, from 0.
	Restart int

	// Finals holds the last objective of each restart, NaN for one that
	// ended in an error. Its spread shows how rugged the objective is.
	Finals []float64
}

// Steps returns the number of steps that the best restart took.
func (t Trace) Steps() int { return max(0, len(t.Objective)-1) }

// Final returns the objective of the model returned. It panics if the trace
// is empty.
func (t Trace) Final() float64 { return t.Objective[len(t.Objective)-1] }

// Err returns nil if the fit converged, and otherwise an error that wraps
// ErrIterationLimit and says how much the objective still moved.
// The model of such a fit is valid; it is just not the last word.
func (t Trace) Err() error {
	if t.Status == Converged {
		return nil
	}
	n := t.Steps()
	if n == 0 {
		return fmt.Errorf("%w: no step taken; raise MaxIter", ErrIterationLimit)
	}
	last := t.Objective[n] - t.Objective[n-1]
	return fmt.Errorf("%w: after %d steps the objective still rose by %.3g; raise MaxIter or loosen Tol", ErrIterationLimit, n, last)
}
