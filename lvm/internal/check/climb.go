package check

import (
	"fmt"
	"math"
	"runtime"

	"gonum.org/v1/gonum/mat"
)

const steps = 12

// climbs: the objective never falls along Step. Rounding may move a sum of n
// terms by a few units in the last place of each.
func climbs[M any](m Model[M]) error {
	at, err := m.start()
	if err != nil {
		return err
	}
	last := math.Inf(-1)
	for t := range steps {
		next, objective, err := m.Step(at, m.X)
		if err != nil {
			return fmt.Errorf("step %d: %w", t, err)
		}
		if math.IsNaN(objective) || objective < last-1e-12*math.Abs(last) {
			return fmt.Errorf("the objective went from %v to %v in step %d", last, objective, t)
		}
		at, last = next, objective
	}
	return nil
}

// followsStep: a fit is a loop over Step. A fit may keep work between steps
// and so round differently, hence the tolerance.
func followsStep[M any](m Model[M]) error {
	at, err := m.start()
	if err != nil {
		return err
	}
	fit, trace, err := m.FitFrom(at, m.X, steps)
	if err != nil {
		return err
	}
	if trace.Steps() != steps {
		return fmt.Errorf("asked for %d steps, took %d", steps, trace.Steps())
	}
	for t := range steps {
		next, objective, err := m.Step(at, m.X)
		if err != nil {
			return err
		}
		if got := trace.Objective[t]; math.Abs(got-objective) > 1e-12*math.Abs(objective) {
			return fmt.Errorf("objective %d is %v in the fit and %v by Step", t, got, objective)
		}
		at = next
	}
	return m.sameParams(fmt.Sprintf("fit and %d steps", steps), fit, at, 1e-9)
}

// honestTrace: the trace ends with the objective of the model returned, the
// best restart is the best, and the steps are counted.
func honestTrace[M any](m Model[M]) error {
	fit, trace, err := m.Fit(seed(), m.X, m.K)
	if err != nil {
		return err
	}
	_, objective, err := m.Step(fit, m.X)
	if err != nil {
		return err
	}
	if math.Abs(trace.Final()-objective) > 1e-12*math.Abs(objective) {
		return fmt.Errorf("the trace ends with %v, the model has %v", trace.Final(), objective)
	}
	for r, f := range trace.Finals {
		if f > trace.Final() {
			return fmt.Errorf("restart %d ended higher, with %v, than the best, with %v", r, f, trace.Final())
		}
	}
	if trace.Finals[trace.Restart] != trace.Final() {
		return fmt.Errorf("restart %d is the best with %v, but the trace ends with %v", trace.Restart, trace.Finals[trace.Restart], trace.Final())
	}
	return nil
}

// sameBits: the same seed and data give the same bits however many cores work.
func sameBits[M any](m Model[M]) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	type result struct {
		fit, next M
		path      []float64
		z         []int
	}
	var first result
	for i, procs := range []int{1, 2, 4, 2} {
		runtime.GOMAXPROCS(procs)
		fit, trace, err := m.Fit(seed(), m.X, m.K)
		if err != nil {
			return err
		}
		next, _, err := m.Step(fit, m.X)
		if err != nil {
			return err
		}
		r := result{fit, next, trace.Objective, m.Assign(fit, m.X)}
		if i == 0 {
			first = r
			continue
		}
		what := fmt.Sprintf("GOMAXPROCS 1 and %d", procs)
		if err := m.sameParams("fit with "+what, first.fit, r.fit, 0); err != nil {
			return err
		}
		if err := m.sameParams("step with "+what, first.next, r.next, 0); err != nil {
			return err
		}
		if err := sameInts("labels with "+what, first.z, r.z); err != nil {
			return err
		}
		if len(first.path) != len(r.path) {
			return fmt.Errorf("%s: %d and %d objectives", what, len(first.path), len(r.path))
		}
		for t := range first.path {
			if math.Float64bits(first.path[t]) != math.Float64bits(r.path[t]) {
				return fmt.Errorf("%s: objective %d is %v and %v", what, t, first.path[t], r.path[t])
			}
		}
	}
	return nil
}

// leavesArguments: neither the data nor the receiver of Step is modified.
func leavesArguments[M any](m Model[M]) error {
	x := mat.DenseCopyOf(m.X)
	at, err := m.start()
	if err != nil {
		return err
	}
	before := append([]float64(nil), m.Params(at)...)
	if _, _, err := m.Step(at, m.X); err != nil {
		return err
	}
	m.Assign(at, m.X)
	if m.Posterior != nil {
		m.Posterior(at, m.X)
	}
	if _, _, err := m.FitFrom(at, m.X, steps); err != nil {
		return err
	}
	for i, v := range m.Params(at) {
		if math.Float64bits(v) != math.Float64bits(before[i]) {
			return fmt.Errorf("parameter %d of the receiver went from %v to %v", i, before[i], v)
		}
	}
	n, d := x.Dims()
	for i := range n {
		for j := range d {
			if math.Float64bits(x.At(i, j)) != math.Float64bits(m.X.At(i, j)) {
				return fmt.Errorf("row %d, column %d of the data went from %v to %v", i, j, x.At(i, j), m.X.At(i, j))
			}
		}
	}
	return nil
}

// retainsNothing: a model does not change when the data does, afterwards.
func retainsNothing[M any](m Model[M]) error {
	x := mat.DenseCopyOf(m.X)
	fit, _, err := m.Fit(seed(), x, m.K)
	if err != nil {
		return err
	}
	next, _, err := m.Step(fit, x)
	if err != nil {
		return err
	}
	wantFit := append([]float64(nil), m.Params(fit)...)
	wantNext := append([]float64(nil), m.Params(next)...)
	x.Zero()
	for i := range wantFit {
		if m.Params(fit)[i] != wantFit[i] || m.Params(next)[i] != wantNext[i] {
			return fmt.Errorf("parameter %d changed with the data", i)
		}
	}
	return nil
}

// anyStorage: a slice of a wider matrix and a transpose give the bits that a
// plain matrix gives.
func anyStorage[M any](m Model[M]) error {
	n, d := m.X.Dims()
	wide := mat.NewDense(n+2, d+3, nil)
	wide.Slice(1, n+1, 2, d+2).(*mat.Dense).Copy(m.X)
	at, err := m.start()
	if err != nil {
		return err
	}
	want, objective, err := m.Step(at, m.X)
	if err != nil {
		return err
	}
	for what, x := range map[string]mat.Matrix{
		"a slice":     wide.Slice(1, n+1, 2, d+2),
		"a transpose": mat.DenseCopyOf(m.X.T()).T(),
	} {
		got, o, err := m.Step(at, x)
		if err != nil {
			return err
		}
		if o != objective {
			return fmt.Errorf("%s of a matrix: objective %v, want %v", what, o, objective)
		}
		if err := m.sameParams(what+" of a matrix", want, got, 0); err != nil {
			return err
		}
		if err := sameInts("labels of "+what, m.Assign(at, m.X), m.Assign(at, x)); err != nil {
			return err
		}
	}
	return nil
}

// anyRowOrder: from the same model, permuted rows give the same step up to the
// rounding of sums in another order, and permuted labels.
func anyRowOrder[M any](m Model[M]) error {
	at, err := m.start()
	if err != nil {
		return err
	}
	n, d := m.X.Dims()
	perm := seed().Perm(n)
	x := mat.NewDense(n, d, nil)
	for i, p := range perm {
		x.SetRow(i, m.X.RawRowView(p))
	}
	want, _, err := m.Step(at, m.X)
	if err != nil {
		return err
	}
	got, _, err := m.Step(at, x)
	if err != nil {
		return err
	}
	if err := m.sameParams("permuted rows", want, got, 1e-9); err != nil {
		return err
	}
	z := m.Assign(at, m.X)
	for i, l := range m.Assign(at, x) {
		if l != z[perm[i]] {
			return fmt.Errorf("row %d has label %d, and %d in another place", perm[i], z[perm[i]], l)
		}
	}
	return nil
}

// anyLabelOrder: a model with its components in another order steps to the
// same model in that order.
func anyLabelOrder[M any](m Model[M]) error {
	at, err := m.start()
	if err != nil {
		return err
	}
	perm := make([]int, m.K)
	for i := range perm {
		perm[i] = (i + 1) % m.K
	}
	want, o, err := m.Step(at, m.X)
	if err != nil {
		return err
	}
	got, p, err := m.Step(m.Relabel(at, perm), m.X)
	if err != nil {
		return err
	}
	if math.Abs(o-p) > 1e-12*math.Abs(o) {
		return fmt.Errorf("objective %v, and %v with the components in another order", o, p)
	}
	return m.sameParams("components in another order", m.Relabel(want, perm), got, 1e-9)
}

func sameInts(what string, a, b []int) error {
	if len(a) != len(b) {
		return fmt.Errorf("%s: %d and %d", what, len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			return fmt.Errorf("%s: row %d has %d and %d", what, i, a[i], b[i])
		}
	}
	return nil
}
