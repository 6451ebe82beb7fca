package lvm

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrIterationLimit is wrapped by the error of Trace.Err.
	ErrIterationLimit = errors.New("lvm: iteration limit reached")

	// ErrObjectiveFell is wrapped by the error of a fit whose objective fell
	// where theory says that it cannot.
	ErrObjectiveFell = errors.New("lvm: objective fell")
)

// DataError reports data that a method cannot work with: a NaN or an
// infinity, no rows, fewer rows than components, weights that do not sum to
// a positive number.
type DataError struct {
	Op       string // what was asked for, such as "clustering.FitGMM"
	Row, Col int    // where it is, counted from 0; −1 if it has no one place
	Problem  string // what is wrong
	Try      string // what to do about it
}

// Error says what is wrong, where, and what to try.
func (e *DataError) Error() string {
	var place string
	switch {
	case e.Row >= 0 && e.Col >= 0:
		place = fmt.Sprintf("row %d, column %d: ", e.Row, e.Col)
	case e.Row >= 0:
		place = fmt.Sprintf("row %d: ", e.Row)
	case e.Col >= 0:
		place = fmt.Sprintf("column %d: ", e.Col)
	}
	return message(e.Op, place+e.Problem, e.Try)
}

// ShapeError reports data or parameters of the wrong shape, such as rows of
// another width than the model's.
type ShapeError struct {
	Op        string // what was asked for
	What      string // what has the wrong shape, such as "columns of x"
	Got, Want int
}

// Error says what has which shape and which it should have.
func (e *ShapeError) Error() string {
	return message(e.Op, fmt.Sprintf("%s: got %d, want %d", e.What, e.Got, e.Want), "")
}

// DegenerateError reports a component that the data cannot hold up, such as
// a covariance that has collapsed onto too few points.
type DegenerateError struct {
	Op        string // what was asked for
	Component int    // which component, counted from 0
	Problem   string // what became of it
	Try       string // what to do about it
}

// Error names the component and says what to try.
func (e *DegenerateError) Error() string {
	return message(e.Op, fmt.Sprintf("component %d %s", e.Component, e.Problem), e.Try)
}

func message(op, problem, try string) string {
	var b strings.Builder
	b.WriteString(op)
	b.WriteString(": ")
	b.WriteString(problem)
	if try != "" {
		b.WriteString("; try ")
		b.WriteString(try)
	}
	return b.String()
}
