package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Awkward data of all kinds: repeated rows, columns that depend on each other
// or differ in scale by 1e12, outliers, far from the origin, more columns than
// rows, as many components as rows, odd weights. A fit ends with a mixture that
// its own methods accept and that keeps to its floor, or with a typed error;
// never with a panic or an objective that fell.
func TestFitAwkwardData(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	fits := make([]int, 3)
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
		for i, fit := range []struct {
			name string
			fit  fitFunc
			keep float64 // how much of the floor is kept
		}{{"FitGMM", FitGMM, 1}, {"FitICM", FitICM, 1}, {"FitGradient", FitGradient, 0.9989}} {
			if i == 2 {
				opts.MaxIter = 25 // its steps are slow, and its path no smoother further on
			}
			m, trace, err := fit.fit(num.Split(rng), x, k, opts)
			if err != nil {
				wantTyped(t, "fit", "clustering."+fit.name+": ", err, "")
				continue
			}
			fits[i]++
			checkAwkward(t, fmt.Sprintf("%s, trial %d", fit.name, trial), m, trace, x, opts, fit.keep)
		}
	}
	for i, n := range fits {
		if n < 200 { // as a check on the test itself
			t.Errorf("only %d of 400 fits by route %d gave a mixture", n, i)
		}
	}
}

func checkAwkward(t *testing.T, what string, m *GMM, trace lvm.Trace, x *mat.Dense, opts *GMMOptions, keep float64) {
	t.Helper()
	if err := m.check("test"); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	for i, l := range trace.Objective[1:] {
		// At 1e10, a mean keeps six digits of its column's spread. With next to no
		// floor even less is left; the fit looks after that.
		if l < trace.Objective[i]-1e-7*max(1, math.Abs(l)) && (opts.Floor == 0 || opts.Floor > 0.01) {
			t.Errorf("%s: the objective fell from %v to %v", what, trace.Objective[i], l)
		}
	}
	floor := make([]float64, len(m.Floor))
	for j, f := range m.Floor {
		floor[j] = keep * f
	}
	for c, s := range m.Covs {
		if m.Floor != nil && !above(s, floor) {
			t.Errorf("%s: Σ_%d is below the floor", what, c)
		}
	}
	k, n := len(m.Weights), x.RawMatrix().Rows
	for i, z := range m.Assign(x) {
		if z < 0 || z >= k {
			t.Errorf("%s: row %d has label %d", what, i, z)
		}
	}
	if post := m.Posterior(x); math.Abs(mat.Sum(post)-float64(n)) > 1e-12*float64(n) {
		t.Errorf("%s: the posterior of %d rows sums to %v", what, n, mat.Sum(post))
	}
}
