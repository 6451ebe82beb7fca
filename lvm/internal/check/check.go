// Package check is the conformance suite: what every iterative model of the
// library promises, tested in the same way for all of them.
//
// A model's test describes to Run how to drive it. Every check is a function
// that returns an error, so that the suite's own test can show that each of
// them catches a model that breaks its promise.
package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// Model tells the suite how to drive models of type M.
type Model[M any] struct {
	// X is the data, n×d with distinct finite rows. More than 512 rows make
	// several blocks, and so let the order of the additions show.
	X *mat.Dense
	// K is the number of components.
	K int
	// Discrete says that rows other than those of X need have no posterior, and
	// that LogProb is that of a probability, not of a density.
	Discrete bool

	// Fit fits from random starts.
	Fit func(rng *rand.Rand, x mat.Matrix, k int) (M, lvm.Trace, error)
	// FitFrom fits from a given start, for exactly the given number of steps.
	FitFrom func(start M, x mat.Matrix, steps int) (M, lvm.Trace, error)
	// Step is the model's step.
	Step func(m M, x mat.Matrix) (M, float64, error)
	// Params lists all parameters.
	Params func(m M) []float64
	// Relabel returns m with component perm[i] in place i.
	Relabel func(m M, perm []int) M
	// Assign labels the rows of x.
	Assign func(m M, x mat.Matrix) []int

	// Posterior is p(z|x), n×k. nil: the model has none.
	Posterior func(m M, x mat.Matrix) *mat.Dense
	// LogProb is ln p(x) of one row; checked to be a density if X has one or
	// two columns. nil: the model has no density.
	LogProb func(m M, x []float64) float64
}

// seed is that of every generator in the suite.
func seed() *rand.Rand { return rand.New(rand.NewPCG(20, 26)) }

// start is a model part of the way up: one step from a random start.
func (m Model[M]) start() (M, error) {
	fit, _, err := m.Fit(seed(), m.X, m.K)
	if err != nil {
		return fit, fmt.Errorf("fit: %w", err)
	}
	// Away from the optimum, on a part of the data.
	n, d := m.X.Dims()
	next, _, err := m.Step(fit, m.X.Slice(0, n/4, 0, d))
	if err != nil {
		return fit, fmt.Errorf("step on a quarter of the data: %w", err)
	}
	return next, nil
}

// Run runs every check that applies to m.
func Run[M any](t *testing.T, m Model[M]) {
	t.Helper()
	for _, c := range checks[M]() {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(m); err != nil {
				t.Error(err)
			}
		})
	}
}

type check[M any] struct {
	name string
	run  func(Model[M]) error
}

func checks[M any]() []check[M] {
	return []check[M]{
		{"the objective never falls", climbs[M]},
		{"the fit visits the models of Step", followsStep[M]},
		{"the trace is honest", honestTrace[M]},
		{"the same bits for any GOMAXPROCS", sameBits[M]},
		{"arguments are not modified", leavesArguments[M]},
		{"data is not retained", retainsNothing[M]},
		{"the storage of the data is irrelevant", anyStorage[M]},
		{"the order of the rows is irrelevant", anyRowOrder[M]},
		{"the order of the components is irrelevant", anyLabelOrder[M]},
		{"bad data is refused", refusesBadData[M]},
		{"mistakes of the caller panic", panicsOnMistakes[M]},
		{"posteriors sum to one", posteriorSums[M]},
		{"the density integrates to one", integrates[M]},
	}
}

// sameParams returns an error if a and b differ anywhere by more than tol
// relative to the larger of the two and 1. tol 0 compares bits.
func (m Model[M]) sameParams(what string, a, b M, tol float64) error {
	p, q := m.Params(a), m.Params(b)
	if len(p) != len(q) {
		return fmt.Errorf("%s: %d parameters and %d", what, len(p), len(q))
	}
	for i := range p {
		if tol == 0 && math.Float64bits(p[i]) != math.Float64bits(q[i]) {
			return fmt.Errorf("%s: parameter %d is %v and %v, not the same bits", what, i, p[i], q[i])
		}
		if !(math.Abs(p[i]-q[i]) <= tol*max(1, math.Abs(p[i]), math.Abs(q[i]))) {
			return fmt.Errorf("%s: parameter %d is %v and %v", what, i, p[i], q[i])
		}
	}
	return nil
}
