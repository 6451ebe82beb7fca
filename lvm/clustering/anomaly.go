package clustering

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Density is a model that says how probable a row is.
// With a method LogProbs(x mat.Matrix) []float64 it is asked for all rows at once.
type Density interface {
	LogProb(x []float64) float64 // ln p(x)
}

// Detector finds rows in which a density does not believe. It compares their log
// densities with those of normal rows that the density was not fitted to, so that
// the rate of false alarms holds whether or not the density is right:
//
//	p(x) = (1 + #{i : ln p(x_i) ≤ ln p(x)}) / (n + 1)
//
// is the rank of x among all n + 1, from the least probable. A normal row is as
// likely to have any rank as any other, so P(p(x) ≤ α) ≤ α for every rate α, whatever
// n and the distribution are: all that is needed is that x and the n rows could have
// come in any order. Rows that the density was fitted to are not like new ones:
// calibrated with them it finds new rows improbable, and alarms too often.
//
// The promise is about the average over calibration sets. Given the n rows that
// there are, the rate is itself random: Beta(r, n+1−r) with r = ⌊α(n+1)⌋, so that its
// standard deviation is about √(α/n).
//
// Source: Vovk, Gammerman and Shafer (2005), Algorithmic learning in a random world,
// in the split form of Laxhammar and Falkman (2010).
type Detector struct {
	Density Density
	Scores  []float64 // ln p(x_i) of the n rows, rising
}

// NewDetector calibrates a density with normal rows, n×d, that it was not fitted to.
// Rows that are not finite, or where the log density is NaN, are a *lvm.DataError;
// what the density does with rows of another width is up to it.
func NewDetector(p Density, normal mat.Matrix) (*Detector, error) {
	scores, err := logProbs("clustering.NewDetector", p, normal)
	if err != nil {
		return nil, err
	}
	slices.Sort(scores)
	return &Detector{Density: p, Scores: scores}, nil
}

// Threshold returns the log density t such that a row with ln p(x) < t has a
// p-value of rate at most: the ⌊rate·(n+1)⌋-th smallest score. A rate outside of
// (0, 1), or below 1/(n+1), which n rows cannot support, is a *lvm.DataError.
func (d *Detector) Threshold(rate float64) (float64, error) {
	const op = "clustering.Detector.Threshold"
	if !(rate > 0 && rate < 1) {
		return 0, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the rate of false alarms is %v", rate), Try: "a number between 0 and 1"}
	}
	n := len(d.Scores)
	r := min(int(rate*float64(n+1)*(1+0x1p-50)), n) // 0.07·100 is 7, whatever it is rounded to
	if r < 1 {
		return 0, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("%d rows cannot tell a rate of %v", n, rate),
			Try: fmt.Sprintf("at least %.0f rows, or a rate of %.2g", math.Ceil(1/rate)-1, 1/float64(n+1))}
	}
	return d.Scores[r-1], nil
}

// Detect reports for each row of x whether it is an anomaly, with the given rate of
// false alarms among normal rows.
func (d *Detector) Detect(x mat.Matrix, rate float64) ([]bool, error) {
	t, err := d.Threshold(rate)
	if err != nil {
		return nil, err
	}
	scores, err := logProbs("clustering.Detector.Detect", d.Density, x)
	if err != nil {
		return nil, err
	}
	alarm := make([]bool, len(scores))
	for i, s := range scores {
		alarm[i] = s < t
	}
	return alarm, nil
}

// PValues returns p(x_i) of every row, at least 1/(n+1).
func (d *Detector) PValues(x mat.Matrix) ([]float64, error) {
	p, err := logProbs("clustering.Detector.PValues", d.Density, x)
	if err != nil {
		return nil, err
	}
	for i, s := range p {
		below := sort.Search(len(d.Scores), func(j int) bool { return d.Scores[j] > s })
		p[i] = float64(1+below) / float64(len(d.Scores)+1)
	}
	return p, nil
}

// logProbs returns ln p(x_i) of every row, after checking the data and the result.
func logProbs(op string, p Density, x mat.Matrix) ([]float64, error) {
	if _, err := num.CheckData(op, x); err != nil {
		return nil, err
	}
	l := logProbsOf(p, x)
	for i, v := range l {
		if math.IsNaN(v) {
			return nil, &lvm.DataError{Op: op, Row: i, Col: -1, Problem: "the log density is NaN", Try: "another density"}
		}
	}
	return l, nil
}

// logProbsOf returns ln p(x_i) of every row, in one sweep if the density can: mixtures of
// this package take the logarithms or factors that they need once for all.
func logProbsOf(p Density, x mat.Matrix) []float64 {
	if all, ok := p.(interface{ LogProbs(mat.Matrix) []float64 }); ok {
		return all.LogProbs(x)
	}
	rows := num.RowsOf(x)
	l := make([]float64, rows.N)
	for i := range l {
		l[i] = p.LogProb(slices.Clone(rows.Row(i)))
	}
	return l
}
