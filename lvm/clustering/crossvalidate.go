package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/latent-lessons/latent/lvm"
)

// HeldOut is how well rows are foretold by mixtures that have not seen them.
type HeldOut struct {
	// LogProb holds ln p(x_i) of every row, in nats, under the mixture that was
	// fitted to the other folds; NaN if that fit failed.
	LogProb []float64

	// Fold is the fold that each row is in, from 0.
	Fold []int

	// Models are the mixtures fitted without each fold; nil if that failed.
	Models []Mixture

	// Errors says for each fold why its fit failed; nil if it did not.
	Errors []error
}

// CrossValidate fits a mixture of k components once without each fold, and
// scores the rows of that fold by it. Unlike the log-likelihood of the fit,
// the held-out log-likelihood falls when components are too many.
//
// The rows are dealt to the folds at random, n/folds to each but for the
// remainder. The folds depend on rng and n alone: from the same seed they are the
// same for every k and family, so that HeldOut.Over compares like with like.
//
// If a fit fails, that of another fold goes on; the rows of the fold get NaN, so
// that LogLikelihood is NaN, and CrossValidate returns the error of the
// first such fold with the result.
//
// It panics if rng is nil or there are fewer than two folds; k < 1 is a *lvm.DataError. Fewer rows than folds
// are a *lvm.DataError; the other errors are those of the fit, wrapped.
//
// Cost: folds fits to n − n/folds rows each.
//
// Source: Smyth (2000), Model selection for probabilistic clustering using
// cross-validated likelihood.
func CrossValidate(rng *rand.Rand, x mat.Matrix, k, folds int, fit Family) (*HeldOut, error) {
	const op = "clustering.CrossValidate"
	checkRand("CrossValidate", rng)
	if folds < 2 {
		panic(fmt.Sprintf("clustering: CrossValidate with %d folds", folds))
	}
	if err := checkComponents(op, k); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	if n < folds {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("%d rows for %d folds", n, folds), Try: "fewer folds"}
	}
	h := &HeldOut{make([]float64, n), make([]int, n), make([]Mixture, folds), make([]error, folds)}
	for place, i := range rng.Perm(n) {
		h.Fold[i] = place % folds
	}
	inParallel(rng, folds, func(fold int, rng *rand.Rand) {
		var in, out []float64
		var left []int
		row := make([]float64, d)
		for i, f := range h.Fold {
			if mat.Row(row, i, x); f != fold {
				in = append(in, row...)
			} else {
				out, left = append(out, row...), append(left, i)
			}
		}
		m, _, err := fit(rng, mat.NewDense(len(in)/d, d, in), k)
		if err != nil {
			h.Errors[fold] = fmt.Errorf("%s: without fold %d: %w", op, fold, err)
			for _, i := range left {
				h.LogProb[i] = math.NaN()
			}
			return
		}
		h.Models[fold] = m
		for at, l := range logProbsOf(m, mat.NewDense(len(left), d, out)) {
			h.LogProb[left[at]] = l
		}
	})
	for _, err := range h.Errors {
		if err != nil {
			return h, err
		}
	}
	return h, nil
}

// LogLikelihood returns the held-out log-likelihood Σ_i ln p(x_i), larger is
// better; NaN if a fit failed, −Inf if a row is impossible for the mixture that
// has not seen it.
func (h *HeldOut) LogLikelihood() float64 { return floats.Sum(h.LogProb) }

// Over returns by how many nats a row is foretold better, on average, than by
// other, and the standard error of that mean, as if the rows were independent. Both
// must be of the same rows; it panics if they differ in number.
func (h *HeldOut) Over(other *HeldOut) (mean, stdErr float64) {
	n := len(h.LogProb)
	if len(other.LogProb) != n {
		panic(fmt.Sprintf("clustering: HeldOut.Over of %d rows and %d", n, len(other.LogProb)))
	}
	gain := floats.SubTo(make([]float64, n), h.LogProb, other.LogProb)
	mean, sd := stat.MeanStdDev(gain, nil)
	return mean, sd / math.Sqrt(float64(n))
}
