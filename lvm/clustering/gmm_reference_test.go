package clustering_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

var shapes = []clustering.Shape{clustering.Full, clustering.Tied, clustering.Diagonal, clustering.Spherical}

// Old Faithful, two full covariances, against mclust (testdata/gmm.R), which
// prints six decimals of the log-likelihood and nine digits of the parameters.
// It stops when the former stands still to 1e-14, where a parameter is still moving
// in its seventh digit. Ours settles the log-likelihood by default.
func TestOldFaithful(t *testing.T) {
	x := datasets.OldFaithful().X
	m, trace, err := clustering.FitGMM(rand.New(rand.NewPCG(1, 2)), x, 2, nil)
	if err != nil || trace.Err() != nil {
		t.Fatal(err, trace.Err())
	}
	if math.Abs(trace.Final()+1130.263960) > 1e-6 {
		t.Errorf("log-likelihood %v by default, want −1130.263960", trace.Final())
	}
	m, _, err = clustering.FitGMM(nil, x, 2, &clustering.GMMOptions{Options: lvm.Options{MaxIter: 100, Tol: -1}, Start: m})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string][2]float64{
		"log-likelihood": {m.LogLikelihood(x), -1130.263960},
		"BIC":            {m.BIC(x), 2322.191743},
		"ICL":            {m.ICL(x), 2322.704681},
	} {
		if math.Abs(v[0]-v[1]) > 1e-6 {
			t.Errorf("%s %v, want %v", name, v[0], v[1])
		}
	}
	a, b := 0, 1 // long eruptions and short ones
	if m.Means.At(a, 0) < m.Means.At(b, 0) {
		a, b = b, a
	}
	for _, v := range [][2]float64{
		{m.Weights[a], 0.64412714}, {m.Weights[b], 0.35587286},
		{m.Means.At(a, 0), 4.28966198}, {m.Means.At(a, 1), 79.96811524},
		{m.Means.At(b, 0), 2.03638846}, {m.Means.At(b, 1), 54.47851644},
		{m.Covs[a].At(0, 0), 0.169968429}, {m.Covs[a].At(0, 1), 0.940609229}, {m.Covs[a].At(1, 1), 36.046210307},
		{m.Covs[b].At(0, 0), 0.0691676775}, {m.Covs[b].At(0, 1), 0.435167677}, {m.Covs[b].At(1, 1), 33.697282427},
	} {
		if math.Abs(v[0]-v[1]) > 2e-7*v[1] {
			t.Errorf("parameter %v, want %v", v[0], v[1])
		}
	}
}

// Iris, three components of every shape, against mclust (testdata/gmm.R).
func TestIris(t *testing.T) {
	x := datasets.Iris().X
	for i, want := range []struct {
		logLik   float64
		free     int
		bic, icl float64 // 0: not known for this maximum
	}{
		{-180.185477, 44, 580.838907, 584.045459},
		{-256.354043, 24, 632.963333, 637.794458},
		{-306.860461, 26, 0, 0},
		{-384.314095, 17, 853.808990, 860.900728},
	} {
		m, trace, err := clustering.FitGMM(rand.New(rand.NewPCG(1, 2)), x, 3, &clustering.GMMOptions{
			Options: lvm.Options{Tol: 1e-12}, Shape: shapes[i]})
		if err != nil || trace.Err() != nil {
			t.Fatal(err, trace.Err())
		}
		if math.Abs(trace.Final()-want.logLik) > 2e-6 {
			t.Errorf("%v: log-likelihood %.6f, want %v", m.Shape, trace.Final(), want.logLik)
		}
		if m.NumParams() != want.free {
			t.Errorf("%v: %d parameters, want %d", m.Shape, m.NumParams(), want.free)
		}
		if got := m.BIC(x); want.bic != 0 && math.Abs(got-want.bic) > 4e-6 {
			t.Errorf("%v: BIC %.6f, want %v", m.Shape, got, want.bic)
		}
		if got := m.ICL(x); want.icl != 0 && math.Abs(got-want.icl) > 1e-3 {
			t.Errorf("%v: ICL %.6f, want %v", m.Shape, got, want.icl)
		}
	}
}

// One, five and twenty steps on iris from a given start, against scikit-learn
// (testdata/gmm.py): the same formulas in another order, so all parameters agree to
// rounding, which grows with the steps.
func TestStepsOfScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/gmm.json")
	if err != nil {
		t.Fatal(err)
	}
	var refs []struct {
		Shape         string
		Steps         int
		Weights       []float64
		Means         [][]float64
		Covs          [][][]float64
		LogLikelihood float64
		BIC, AIC      float64
	}
	if err := json.Unmarshal(text, &refs); err != nil {
		t.Fatal(err)
	}
	if len(refs) != 12 {
		t.Fatalf("%d references, want 12", len(refs))
	}
	x := datasets.Iris().X
	for _, ref := range refs {
		m := &clustering.GMM{Weights: []float64{0.5, 0.3, 0.2}, Means: mat.NewDense(3, 4, nil)}
		for _, s := range shapes {
			if s.String() == ref.Shape {
				m.Shape = s
			}
		}
		for k, i := range []int{0, 60, 120} {
			m.Means.SetRow(k, x.RawRowView(i))
			cov := mat.NewSymDense(4, nil)
			for j, v := range []float64{0.5, 0.2, 2, 0.5} {
				if m.Shape == clustering.Spherical {
					v = 0.5
				}
				cov.SetSym(j, j, v)
			}
			m.Covs = append(m.Covs, cov)
		}
		for range ref.Steps {
			if m, _, err = m.Step(x); err != nil {
				t.Fatal(err)
			}
		}
		const tol = 1e-9
		same := func(what string, got, want float64) {
			if math.Abs(got-want) > tol*max(1, math.Abs(want)) {
				t.Errorf("%s, %d steps: %s %v, want %v", ref.Shape, ref.Steps, what, got, want)
			}
		}
		for k := range 3 {
			same("weight", m.Weights[k], ref.Weights[k])
			for i := range 4 {
				same("mean", m.Means.At(k, i), ref.Means[k][i])
				for j := range 4 {
					same("covariance", m.Covs[k].At(i, j), ref.Covs[k][i][j])
				}
			}
		}
		same("log-likelihood", m.LogLikelihood(x), ref.LogLikelihood)
		same("BIC", m.BIC(x), ref.BIC)
		same("AIC", m.AIC(x), ref.AIC)
	}
}

// Planted components are found again, within five standard errors of a mean
// whose labels were known. As a control, spheres do not find them.
func TestRecovery(t *testing.T) {
	truth := &clustering.GMM{
		Weights: []float64{0.5, 0.3, 0.2},
		Means:   mat.NewDense(3, 2, []float64{0, 0, 2, -2, 8, 2}),
		Covs: []*mat.SymDense{ // long and thin, the first two side by side
			mat.NewSymDense(2, []float64{9, 8.5, 8.5, 9}),
			mat.NewSymDense(2, []float64{9, 8.5, 8.5, 9}),
			mat.NewSymDense(2, []float64{1, -0.5, -0.5, 2}),
		},
	}
	const n = 3000
	rng := rand.New(rand.NewPCG(21, 22))
	z, x := truth.Sample(rng, n)
	m, trace, err := clustering.FitGMM(rng, x, 3, &clustering.GMMOptions{Options: lvm.Options{Restarts: 10}})
	if err != nil || trace.Err() != nil {
		t.Fatal(err, trace.Err())
	}
	if trace.Final() < truth.LogLikelihood(x) {
		t.Errorf("log-likelihood %v, lower than that of the truth, %v", trace.Final(), truth.LogLikelihood(x))
	}
	ari := clustering.AdjustedRand(m.Assign(x), z)
	if best := clustering.AdjustedRand(truth.Assign(x), z); ari < best-0.01 {
		t.Errorf("adjusted Rand index %v, want that of the truth, %v", ari, best)
	}
	perm, _ := clustering.Match(m.Assign(x), z)
	for a, b := range perm {
		nb := truth.Weights[b] * n
		if se := math.Sqrt(truth.Weights[b] * (1 - truth.Weights[b]) / n); math.Abs(m.Weights[a]-truth.Weights[b]) > 5*se {
			t.Errorf("π = %v, want %v", m.Weights[a], truth.Weights[b])
		}
		for j := range 2 {
			if se := math.Sqrt(truth.Covs[b].At(j, j) / nb); math.Abs(m.Means.At(a, j)-truth.Means.At(b, j)) > 5*se {
				t.Errorf("μ_%d[%d] = %v, want %v ± %v", b, j, m.Means.At(a, j), truth.Means.At(b, j), se)
			}
		}
	}

	spheres, _, err := clustering.FitGMM(rng, x, 3, &clustering.GMMOptions{Shape: clustering.Spherical})
	if err != nil {
		t.Fatal(err)
	}
	if got := clustering.AdjustedRand(spheres.Assign(x), z); got > ari-0.3 {
		t.Errorf("control: spheres reach an adjusted Rand index of %v, ellipses %v", got, ari)
	}
}

// Data that no mixture can be fitted to, and what the error says.
func TestFitGMMBadData(t *testing.T) {
	x := datasets.Iris().X
	n, d := x.Dims()
	constant := mat.DenseCopyOf(x)
	for i := range n {
		constant.Set(i, 2, 0.1)
	}
	weights := make([]float64, n)
	for i := range 50 {
		weights[i] = 1
	}
	constantWhereWeighted := mat.DenseCopyOf(x)
	for i := range 50 {
		constantWhereWeighted.Set(i, 1, 3)
	}
	equal := mat.NewDense(10, 1, nil)
	tiny := mat.DenseCopyOf(x)
	tiny.Apply(func(_, j int, v float64) float64 {
		if j == 3 {
			return v * 1e-80
		}
		return v
	}, tiny)
	huge := mat.DenseCopyOf(x)
	huge.Scale(1e150, x)
	fit := func(x mat.Matrix, k int, o *clustering.GMMOptions) error {
		m, _, err := clustering.FitGMM(rand.New(rand.NewPCG(1, 2)), x, k, o)
		if m != nil {
			t.Error("a mixture came with the error")
		}
		return err
	}
	for name, c := range map[string]struct {
		err      error
		row, col int
	}{
		"constant column":            {fit(constant, 3, nil), -1, 2},
		"constant where it counts":   {fit(constantWhereWeighted, 3, &clustering.GMMOptions{Weights: weights}), -1, 1},
		"one component, equal rows":  {fit(equal, 1, nil), -1, -1},
		"one row":                    {fit(x.Slice(0, 1, 0, d), 1, nil), -1, -1},
		"two components, equal rows": {fit(equal, 2, nil), -1, -1},
		"fewer rows than components": {fit(x.Slice(0, 2, 0, d), 3, nil), -1, -1},
		"underflow":                  {fit(tiny, 3, nil), -1, 3},
		"overflow":                   {fit(huge, 3, nil), 0, 0},
		"no weights":                 {fit(x, 3, &clustering.GMMOptions{Weights: make([]float64, n)}), -1, -1},
	} {
		data, ok := errors.AsType[*lvm.DataError](c.err)
		if !ok || data.Row != c.row || data.Col != c.col || data.Try == "" {
			t.Errorf("%s: %v, want a *lvm.DataError for row %d, column %d", name, c.err, c.row, c.col)
		}
	}

	good, _, err := clustering.FitGMM(rand.New(rand.NewPCG(1, 2)), x, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	narrow := mat.DenseCopyOf(x.Slice(0, n, 0, 3))
	for name, err := range map[string]error{
		"start of another size":  fit(x, 2, &clustering.GMMOptions{Start: good}),
		"start of another width": fit(narrow, 3, &clustering.GMMOptions{Start: good}),
		"weights for fewer rows": fit(x, 3, &clustering.GMMOptions{Weights: weights[:9]}),
	} {
		if _, ok := errors.AsType[*lvm.ShapeError](err); !ok {
			t.Errorf("%s: %v, want a *lvm.ShapeError", name, err)
		}
	}

	empty := &clustering.GMM{}
	if _, ok := errors.AsType[*lvm.DataError](fit(x, 2, &clustering.GMMOptions{Start: empty})); !ok {
		t.Error("a start without components: want a *lvm.DataError")
	}

	// A component that no row belongs to.
	lost := &clustering.GMM{Weights: []float64{0.5, 0.5}, Means: mat.NewDense(2, 4, nil), Covs: good.Covs[:2]}
	lost.Means.SetRow(1, []float64{1e5, 1e5, 1e5, 1e5})
	if e, ok := errors.AsType[*lvm.DegenerateError](fit(x, 2, &clustering.GMMOptions{Start: lost})); !ok || e.Component != 1 || e.Try == "" {
		t.Errorf("lost component: %v", e)
	}
}

// A start looks at 20,000 rows at most, and at all of them where those are too
// much alike.
func TestFitGMMRareRow(t *testing.T) {
	x := mat.NewDense(40000, 1, nil)
	for i := range 40000 {
		x.Set(i, 0, float64(i%2))
	}
	x.Set(7, 0, 50)
	for seed := range uint64(4) { // one restart draws row 7 every other time
		m, _, err := clustering.FitGMM(rand.New(rand.NewPCG(seed, 0)), x, 3, &clustering.GMMOptions{Options: lvm.Options{Restarts: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if z := m.Assign(x.Slice(5, 8, 0, 1)); z[0] == z[2] || z[1] == z[2] {
			t.Errorf("seed %d: the rare row is in the cluster of another: %v", seed, z)
		}
	}
}
