package clustering_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

// One, five and twenty steps on iris from given labels, against scikit-learn
// (testdata/vb.py): the same formulas in another order, so all parameters agree to
// rounding, which grows with the steps.
func TestVBStepsOfScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/vb.json")
	if err != nil {
		t.Fatal(err)
	}
	var refs []struct {
		Steps            int
		Alpha, Kappa, Nu []float64
		Means            [][]float64
		Scales           [][][]float64
	}
	if err := json.Unmarshal(text, &refs); err != nil {
		t.Fatal(err)
	}
	if len(refs) != 3 {
		t.Fatalf("%d references, want 3", len(refs))
	}
	x := datasets.Iris().X
	scale := mat.NewSymDense(4, nil)
	for j, v := range []float64{0.5, 0.2, 2, 0.5} {
		scale.SetSym(j, j, v)
	}
	prior := clustering.NIW{Mean: []float64{5, 3, 4, 1}, Kappa: 0.3, Nu: 6.5, Scale: scale}
	start := &clustering.VBGMM{Prior: clustering.MixturePrior{Alpha: 1.5, Component: prior}}
	for k := range 3 {
		rows := mat.NewDense(50, 4, nil)
		for i := range 50 {
			rows.SetRow(i, x.RawRowView(3*i+k))
		}
		start.Alpha = append(start.Alpha, 50.5)
		start.Components = append(start.Components, prior.Posterior(rows))
	}
	for _, ref := range refs {
		m := start
		for range ref.Steps {
			if m, _, err = m.Step(x); err != nil {
				t.Fatal(err)
			}
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-10*max(1, math.Abs(want)) {
				t.Errorf("%d steps: %s %v, want %v", ref.Steps, what, got, want)
			}
		}
		for k, c := range m.Components {
			near("α", m.Alpha[k], ref.Alpha[k])
			near("κ", c.Kappa, ref.Kappa[k])
			near("ν", c.Nu, ref.Nu[k])
			for i := range 4 {
				near("mean", c.Mean[i], ref.Means[k][i])
				for j := range 4 {
					near("Ψ", c.Scale.At(i, j), ref.Scales[k][i][j])
				}
			}
		}
	}
}

// The figure of the notes (Bishop 2006, Figure 10.7): the bound of Old Faithful
// against K, from random starts. It is largest at K = 2, with and without ln K!
// for the labellings, and most starts of K = 2 reach it; more components find
// lower maxima now and then.
func TestBoundAgainstK(t *testing.T) {
	starts := 100
	if testing.Short() {
		starts = 10
	}
	x, _, _, err := datasets.Standardise(datasets.OldFaithful().X)
	if err != nil {
		t.Fatal(err)
	}
	var best [6]float64
	lower := false
	for k := 1; k <= 5; k++ {
		_, trace, err := clustering.FitVBGMM(rand.New(rand.NewPCG(1, uint64(k))), x, k, &clustering.VBGMMOptions{
			Options: lvm.Options{Restarts: starts, Tol: 1e-7}, From: clustering.FromRows})
		if err != nil {
			t.Fatal(err)
		}
		best[k] = trace.Final()
		reached := 0
		for _, f := range trace.Finals {
			if f > best[k]-0.01 {
				reached++
			}
		}
		lower = lower || reached < starts
		if k <= 2 && reached < starts*9/10 {
			t.Errorf("K = %d: %d of %d starts reach the bound %v", k, reached, starts, best[k])
		}
		t.Logf("K = %d: bound %.3f, reached by %d of %d", k, best[k], reached, starts)
	}
	if !lower {
		t.Error("no start ends in a lower maximum")
	}
	labels := 0.0
	for k := 1; k <= 5; k++ {
		labels += math.Log(float64(k))
		if k != 2 && (best[k] >= best[2] || best[k]+labels >= best[2]+math.Ln2) {
			t.Errorf("bound %v for K = %d, %v for K = 2", best[k], k, best[2])
		}
	}
}

// Six components for two clusters: four empty out, and go back to the prior.
// With α = 60 they must stay.
func TestUnusedComponentsEmptyOut(t *testing.T) {
	x, _, _, err := datasets.Standardise(datasets.OldFaithful().X)
	if err != nil {
		t.Fatal(err)
	}
	component, err := clustering.DataNIW(x)
	if err != nil {
		t.Fatal(err)
	}
	component.Kappa = 1
	for alpha, used := range map[float64]int{0.01: 2, 60: 6} {
		m, _, err := clustering.FitVBGMM(rand.New(rand.NewPCG(3, 4)), x, 6, &clustering.VBGMMOptions{
			Prior: &clustering.MixturePrior{Alpha: alpha, Component: component}})
		if err != nil {
			t.Fatal(err)
		}
		counts := m.Counts()
		full := 0
		for k, n := range counts {
			if n > 1 {
				full++
			} else if c := m.Components[k]; math.Abs(c.Mean[0]-component.Mean[0]) > 0.01 || n > 0.01 {
				t.Errorf("α = %v: component %d with %v rows has the mean %v", alpha, k, n, c.Mean)
			}
		}
		if full != used {
			t.Errorf("α = %v: rows %.2f, want %d components in use", alpha, counts, used)
		}
	}
}

// The predictive density of held-out rows is above that of maximum likelihood
// when there are few rows for many parameters.
func TestVBPredictsBetter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	all := datasets.Iris().X
	perm := rng.Perm(150)
	train, test := mat.NewDense(60, 4, nil), mat.NewDense(90, 4, nil)
	for r, i := range perm {
		if r < 60 {
			train.SetRow(r, all.RawRowView(i))
		} else {
			test.SetRow(r-60, all.RawRowView(i))
		}
	}
	em, _, err := clustering.FitGMM(rng, train, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	vb, _, err := clustering.FitVBGMM(rng, train, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := vb.LogLikelihood(test), em.LogLikelihood(test); a < b+10 {
		t.Errorf("held-out log-likelihood %v of the posterior, %v of maximum likelihood", a, b)
	}
}
