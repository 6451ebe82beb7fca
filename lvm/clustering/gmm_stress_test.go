package clustering

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// Awkward data of all kinds: repeated rows, columns that depend on each other
// or differ in scale by 1e12, outliers, far from the origin, more columns than
// rows, as many components as rows, odd weights. A fit ends with a mixture that
// its own methods accept and that keeps to its floor, or with a typed error;
// never with a panic or an objective that fell.
func TestFitGMMAwkwardData(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	fits := 0
	for trial := range 400 {
		n, d := 1+rng.IntN(40), 1+rng.IntN(5)
		k := 1 + rng.IntN(min(n, 6))
		if trial%10 == 0 {
			k = n
		}
		x := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				x.Set(i, j, rng.NormFloat64()+4*float64(rng.IntN(3)))
			}
		}
		opts := &GMMOptions{Options: lvm.Options{MaxIter: 200}, Shape: shapes[trial%4]}
		if rng.IntN(3) == 0 { // repeated rows
			for i := range n {
				x.SetRow(i, mat.Row(nil, rng.IntN(n), x))
			}
		}
		if rng.IntN(3) == 0 { // few values
			x.Apply(func(_, _ int, v float64) float64 { return math.Round(v) }, x)
		}
		if rng.IntN(3) == 0 { // a column that others determine
			for i := range n {
				x.Set(i, d-1, 2*x.At(i, 0))
			}
		}
		if rng.IntN(3) == 0 {
			x.Apply(func(_, j int, v float64) float64 { return v * math.Pow(1e12, float64(j%2)) }, x)
		}
		if rng.IntN(3) == 0 {
			x.Set(rng.IntN(n), rng.IntN(d), 1e9*rng.NormFloat64())
		}
		if rng.IntN(3) == 0 {
			x.Apply(func(_, _ int, v float64) float64 { return v + 1e10 }, x)
		}
		if rng.IntN(3) == 0 {
			opts.Weights = make([]float64, n)
			for i := range opts.Weights {
				opts.Weights[i] = math.Floor(math.Exp(6*rng.NormFloat64())*4) / 4
			}
		}
		if rng.IntN(4) == 0 {
			opts.Floor = []float64{-1, 1e-12, 0.1, 10}[rng.IntN(4)]
		}
		m, trace, err := FitGMM(rng, x, k, opts)
		if err != nil {
			wantTyped(t, "fit", "clustering.FitGMM: ", err, "")
			continue
		}
		fits++
		if err := m.check("test"); err != nil {
			t.Errorf("trial %d: %v", trial, err)
		}
		for i, l := range trace.Objective[1:] {
			// At 1e10, a mean keeps six digits of its column's spread. With next to no
			// floor even less is left; the fit looks after that.
			if l < trace.Objective[i]-1e-7*max(1, math.Abs(l)) && (opts.Floor == 0 || opts.Floor > 0.01) {
				t.Errorf("trial %d: the log-likelihood fell from %v to %v", trial, trace.Objective[i], l)
			}
		}
		for c, s := range m.Covs {
			if m.Floor != nil && !above(s, m.Floor) {
				t.Errorf("trial %d: Σ_%d is below the floor", trial, c)
			}
		}
		for i, z := range m.Assign(x) {
			if z < 0 || z >= k {
				t.Errorf("trial %d: row %d has label %d", trial, i, z)
			}
		}
		if post := m.Posterior(x); math.Abs(mat.Sum(post)-float64(n)) > 1e-12*float64(n) {
			t.Errorf("trial %d: the posterior of %d rows sums to %v", trial, n, mat.Sum(post))
		}
	}
	if fits < 200 { // as a check on the test itself
		t.Errorf("only %d of 400 fits gave a mixture", fits)
	}
}
