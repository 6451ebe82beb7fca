package lvm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/latent-lessons/latent/lvm"
)

func ExampleTrace_Err() {
	trace := lvm.Trace{Objective: []float64{-10, -4, -3.5}, Status: lvm.IterationLimit}
	fmt.Println(trace.Steps(), trace.Final(), trace.Status)
	fmt.Println(trace.Err())
	// Output:
	// 2 -3.5 iteration limit
	// lvm: iteration limit reached: after 2 steps the objective still rose by 0.5; raise MaxIter or loosen Tol
}

func TestTraceErr(t *testing.T) {
	if err := (lvm.Trace{Objective: []float64{1}}).Err(); err != nil {
		t.Errorf("a converged trace has the error %v", err)
	}
	for _, steps := range []int{0, 3} {
		err := (lvm.Trace{Objective: make([]float64, steps+1), Status: lvm.IterationLimit}).Err()
		if !errors.Is(err, lvm.ErrIterationLimit) {
			t.Errorf("%d steps: error %v does not wrap ErrIterationLimit", steps, err)
		}
	}
}

func TestOptionsOr(t *testing.T) {
	defaults := lvm.Options{MaxIter: 100, Tol: 1e-6, Restarts: 10}
	if got := (lvm.Options{}).Or(defaults); got != defaults {
		t.Errorf("zero options become %+v, want the defaults", got)
	}
	given := lvm.Options{MaxIter: 7, Tol: -1, Restarts: 1}
	if got := given.Or(defaults); got != given {
		t.Errorf("given options become %+v", got)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&lvm.DataError{Op: "p.Fit", Row: 3, Col: 1, Problem: "the value is NaN", Try: "another row"}, "p.Fit: row 3, column 1: the value is NaN; try another row"},
		{&lvm.DataError{Op: "p.Fit", Row: 3, Col: -1, Problem: "bad"}, "p.Fit: row 3: bad"},
		{&lvm.DataError{Op: "p.Fit", Row: -1, Col: 0, Problem: "is constant"}, "p.Fit: column 0: is constant"},
		{&lvm.DataError{Op: "p.Fit", Row: -1, Col: -1, Problem: "no rows"}, "p.Fit: no rows"},
		{&lvm.ShapeError{Op: "p.Fit", What: "columns of x", Got: 2, Want: 3}, "p.Fit: columns of x: got 2, want 3"},
		{&lvm.DegenerateError{Op: "p.Fit", Component: 2, Problem: "is empty", Try: "fewer"}, "p.Fit: component 2 is empty; try fewer"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if s := lvm.Status(9).String(); !strings.Contains(s, "9") {
		t.Errorf("an unknown status is called %q", s)
	}
}
