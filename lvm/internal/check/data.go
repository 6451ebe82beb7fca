package check

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// refusesBadData: NaN, ±Inf, no rows, fewer rows than components, fewer
// distinct rows, no components and another width are typed errors that say where, from Fit
// and from Step.
func refusesBadData[M any](m Model[M]) error {
	at, err := m.start()
	if err != nil {
		return err
	}
	n, d := m.X.Dims()
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := mat.DenseCopyOf(m.X)
		x.Set(n-2, d-1, bad)
		_, _, fit := m.Fit(seed(), x, m.K)
		_, _, step := m.Step(at, x)
		for _, err := range []error{fit, step} {
			e, ok := errors.AsType[*lvm.DataError](err)
			if !ok {
				return fmt.Errorf("%v in the data: %T %v, want a *lvm.DataError", bad, err, err)
			}
			if e.Row != n-2 || e.Col != d-1 || e.Problem == "" || e.Try == "" {
				return fmt.Errorf("%v in row %d, column %d: %+v", bad, n-2, d-1, *e)
			}
		}
	}

	equal := mat.NewDense(n, d, nil)
	for i := range n {
		equal.SetRow(i, m.X.RawRowView(0))
	}
	for what, x := range map[string]mat.Matrix{
		"no rows":                           &mat.Dense{},
		"fewer rows than components":        m.X.Slice(0, m.K-1, 0, d),
		"duplicates of one row and no more": equal,
	} {
		if _, _, err := m.Fit(seed(), x, m.K); !isDataError(err) {
			return fmt.Errorf("fit to %s: %T %v, want a *lvm.DataError with advice", what, err, err)
		}
	}
	for _, k := range []int{0, -1} {
		if _, _, err := m.Fit(seed(), m.X, k); !isDataError(err) {
			return fmt.Errorf("fit of %d components: %T %v, want a *lvm.DataError with advice", k, err, err)
		}
	}
	if _, _, err := m.Step(at, &mat.Dense{}); !isDataError(err) {
		return fmt.Errorf("step on no rows: %T %v, want a *lvm.DataError with advice", err, err)
	}

	wide := mat.NewDense(n, d+1, nil)
	if _, _, err := m.Step(at, wide); !isShapeError(err, d+1, d) {
		return fmt.Errorf("step on another width: %T %v, want a *lvm.ShapeError", err, err)
	}
	if err, _ := recovered(func() { m.Assign(at, wide) }).(error); !isShapeError(err, d+1, d) {
		return fmt.Errorf("labels for another width: %T %v, want a panic with a *lvm.ShapeError", err, err)
	}
	for i, z := range m.Assign(at, rowWithNaN(m.X)) {
		if (z < 0) != (i == 1) {
			return fmt.Errorf("a NaN in row 1: label %d for row %d", z, i)
		}
	}
	return nil
}

func rowWithNaN(x *mat.Dense) *mat.Dense {
	_, d := x.Dims()
	y := mat.DenseCopyOf(x.Slice(0, 3, 0, d))
	y.Set(1, 0, math.NaN())
	return y
}

func isDataError(err error) bool {
	e, ok := errors.AsType[*lvm.DataError](err)
	return ok && e.Problem != "" && e.Try != ""
}

func isShapeError(err error, got, want int) bool {
	e, ok := errors.AsType[*lvm.ShapeError](err)
	return ok && e.Got == got && e.Want == want
}

// panicsOnMistakes: what no data can cause is a panic that starts with the name
// of a package.
func panicsOnMistakes[M any](m Model[M]) error {
	s, ok := recovered(func() { _, _, _ = m.Fit(nil, m.X, m.K) }).(string)
	if name, _, found := strings.Cut(s, ": "); !ok || !found || strings.Contains(name, " ") {
		return fmt.Errorf("a nil generator: panic %q, want a string that starts with the package", s)
	}
	return nil
}

func recovered(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}
