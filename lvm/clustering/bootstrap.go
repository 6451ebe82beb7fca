package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// LikelihoodRatioTest is a test of k components against k+1.
type LikelihoodRatioTest struct {
	Null, Alternative Mixture // of k and of k+1 components, fitted to the data

	// Statistic is 2 (ln p(x | Alternative) − ln p(x | Null)), or 0 if the fit of
	// the larger mixture ended lower: its best is not below.
	Statistic float64

	// Draws holds the same for data sampled from Null; NaN where a fit failed.
	Draws []float64

	// Errors says why a draw failed; nil where it did not.
	Errors []error

	// Unconverged counts the draws in which a fit reached its iteration limit.
	// They count all the same.
	Unconverged int

	// P is the p-value (1 + b)/(1 + B): of B draws that did not fail, b have a
	// statistic as large as that of the data. It is never below 1/(1+B), and
	// 1 if all fail.
	P float64
}

// BootstrapLRT tests by parametric bootstrap whether the data needs k+1
// components: could the gain in log-likelihood have come from a mixture of k?
//
// The usual χ² distribution of twice the gain does not hold, because the
// mixture of k lies on the edge of those of k+1, where parameters have no unique
// value. So the distribution is found by doing: sample n rows from the fitted
// mixture of k, fit k and k+1 components to them, and note twice the gain.
//
// A fit to sampled data that fails, such as by a component that collapses,
// is left out and reported in Errors. If a fit to the data itself fails, that
// is the error of the test.
//
// It panics if rng is nil, or k or draws is less than 1. The result does not
// depend on the number of cores.
//
// Cost: 2 (draws + 1) fits.
//
// Source: McLachlan (1987), On bootstrapping the likelihood ratio test statistic
// for the number of components in a normal mixture; the counting of the data as
// one more draw is that of Davison and Hinkley (1997), Bootstrap Methods, §4.2.
func BootstrapLRT(rng *rand.Rand, x mat.Matrix, k, draws int, fit Family) (*LikelihoodRatioTest, error) {
	const op = "clustering.BootstrapLRT"
	checkRand("BootstrapLRT", rng)
	if draws < 1 {
		panic(fmt.Sprintf("clustering: BootstrapLRT with %d draws", draws))
	}
	if err := checkComponents(op, k); err != nil {
		return nil, err
	}
	data, err := gain(rng, x, k, fit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	n, _ := x.Dims()
	t := &LikelihoodRatioTest{Null: data.null, Alternative: data.alternative, Statistic: data.statistic, Draws: make([]float64, draws), Errors: make([]error, draws)}
	unconverged := make([]bool, draws)
	inParallel(rng, draws, func(b int, rng *rand.Rand) {
		_, sampled := data.null.Sample(rng, n)
		g, err := gain(rng, sampled, k, fit)
		t.Draws[b], t.Errors[b], unconverged[b] = g.statistic, err, g.unconverged
	})
	var done, larger int
	for b, s := range t.Draws {
		if t.Errors[b] != nil {
			t.Draws[b] = math.NaN()
			continue
		}
		done++
		if s >= t.Statistic {
			larger++
		}
		if unconverged[b] {
			t.Unconverged++
		}
	}
	t.P = float64(1+larger) / float64(1+done)
	return t, nil
}

type gained struct {
	null, alternative Mixture
	statistic         float64
	unconverged       bool
}

// gain fits k and k+1 components.
func gain(rng *rand.Rand, x mat.Matrix, k int, fit Family) (g gained, err error) {
	null, trace0, err := fit(rng, x, k)
	if err != nil {
		return g, fmt.Errorf("%d components: %w", k, err)
	}
	alternative, trace1, err := fit(rng, x, k+1)
	if err != nil {
		return g, fmt.Errorf("%d components: %w", k+1, err)
	}
	statistic := max(0, 2*(alternative.LogLikelihood(x)-null.LogLikelihood(x)))
	return gained{null, alternative, statistic, trace0.Err() != nil || trace1.Err() != nil}, nil
}
