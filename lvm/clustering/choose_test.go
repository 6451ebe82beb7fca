package clustering_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// One Gaussian in one column: every fold against the mean and the variance of
// the other rows, by gonum.
func TestCrossValidateByHand(t *testing.T) {
	x := mat.DenseCopyOf(datasets.OldFaithful().X.Slice(0, 103, 1, 2))
	h, err := clustering.CrossValidate(seeded(1), x, 1, 4, clustering.Gaussians(nil))
	if err != nil {
		t.Fatal(err)
	}
	size := make([]int, 4)
	for fold := range 4 {
		var rest []float64
		for i, f := range h.Fold {
			if f != fold {
				rest = append(rest, x.At(i, 0))
			} else {
				size[fold]++
			}
		}
		mean, variance := stat.PopMeanVariance(rest, nil)
		g := distuv.Normal{Mu: mean, Sigma: math.Sqrt(variance)}
		for i, f := range h.Fold {
			if want := g.LogProb(x.At(i, 0)); f == fold && math.Abs(h.LogProb[i]-want) > 1e-12 {
				t.Errorf("row %d: %v, want %v", i, h.LogProb[i], want)
			}
		}
	}
	if !slices.Equal(size, []int{26, 26, 26, 25}) {
		t.Errorf("folds of %v rows", size)
	}
	if got := h.LogLikelihood(); math.Abs(got-floats.Sum(h.LogProb)) > 0 {
		t.Errorf("held-out log-likelihood %v", got)
	}
}

// A family of one's own is scored row by row, those of the package all rows at
// once: the same up to rounding.
func TestCrossValidateOwnFamily(t *testing.T) {
	x, fit := datasets.OldFaithful().X, clustering.Gaussians(nil)
	type plain struct{ clustering.Mixture }
	own := func(rng *rand.Rand, x mat.Matrix, k int) (clustering.Mixture, lvm.Trace, error) {
		m, trace, err := fit(rng, x, k)
		return plain{m}, trace, err
	}
	a, err := clustering.CrossValidate(seeded(1), x, 2, 3, fit)
	if err != nil {
		t.Fatal(err)
	}
	b, err := clustering.CrossValidate(seeded(1), x, 2, 3, own)
	if err != nil || !floats.EqualApprox(a.LogProb, b.LogProb, 1e-12) {
		t.Errorf("held-out log-likelihoods %v and %v, %v", a.LogLikelihood(), b.LogLikelihood(), err)
	}
}

// The log-likelihood of the fit grows with K, and the held-out one is largest at
// the truth, for every family.
func TestCrossValidateFindsK(t *testing.T) {
	gaussian := &clustering.GMM{Weights: []float64{0.4, 0.3, 0.3}, Means: mat.NewDense(3, 2, []float64{0, 0, 6, 0, 0, 6}),
		Covs: []*mat.SymDense{mat.NewSymDense(2, []float64{1, 0, 0, 1}), mat.NewSymDense(2, []float64{1, 0, 0, 1}), mat.NewSymDense(2, []float64{1, 0, 0, 1})}}
	bernoulli := &clustering.BernoulliMixture{Weights: []float64{0.4, 0.3, 0.3}, Probs: mat.NewDense(3, 12, nil)}
	bernoulli.Probs.Apply(func(c, j int, _ float64) float64 {
		if j/4 == c {
			return 0.9
		}
		return 0.15
	}, bernoulli.Probs)
	poisson := &clustering.PoissonMixture{Weights: []float64{0.4, 0.3, 0.3}, Rates: mat.NewDense(3, 2, []float64{2, 2, 15, 3, 4, 20})}
	for name, c := range map[string]struct {
		truth clustering.Mixture
		fit   clustering.Family
	}{
		"Gaussian":  {gaussian, clustering.Gaussians(nil)},
		"Bernoulli": {bernoulli, clustering.Bernoullis(nil)},
		"Poisson":   {poisson, clustering.Poissons(nil)},
	} {
		_, x := c.truth.Sample(seeded(2), 400)
		var runs []*clustering.HeldOut
		last := math.Inf(-1)
		for k := 1; k <= 5; k++ {
			m, _, err := c.fit(seeded(3), x, k)
			if err != nil {
				t.Fatal(err)
			}
			if l := m.LogLikelihood(x); l < last-1e-3 { // both stop within about 1e-5
				t.Errorf("%s: the fit with %d components has %v, with fewer %v", name, k, l, last)
			} else {
				last = l
			}
			h, err := clustering.CrossValidate(seeded(4), x, k, 5, c.fit)
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, h)
		}
		for k, h := range runs {
			if !slices.Equal(h.Fold, runs[0].Fold) {
				t.Errorf("%s: other folds with %d components", name, k+1)
			}
			if mean, se := runs[2].Over(h); k < 2 && mean < 4*se || k != 2 && mean < 0 {
				t.Errorf("%s: three components are better than %d by %v ± %v", name, k+1, mean, se)
			}
		}
	}
}

// A fold without which too few rows are distinct fails by itself, and is
// reported.
func TestCrossValidateReportsFailures(t *testing.T) {
	x := mat.NewDense(8, 1, []float64{0, 0, 1, 0, 1, 0, 1, 5})
	h, err := clustering.CrossValidate(seeded(1), x, 3, 8, clustering.Poissons(nil))
	var data *lvm.DataError
	if !errors.As(err, &data) || !strings.Contains(err.Error(), "without fold ") {
		t.Fatal(err)
	}
	for i, l := range h.LogProb {
		if lost := i == 7; math.IsNaN(l) != lost || (h.Errors[h.Fold[i]] != nil) != lost || (h.Models[h.Fold[i]] == nil) != lost {
			t.Errorf("row %d: %v with error %v", i, l, h.Errors[h.Fold[i]])
		}
	}
	if !math.IsNaN(h.LogLikelihood()) {
		t.Errorf("held-out log-likelihood %v", h.LogLikelihood())
	}
	if _, err := clustering.CrossValidate(seeded(1), x, 1, 9, clustering.Poissons(nil)); !errors.As(err, &data) {
		t.Errorf("9 folds of 8 rows: %v", err)
	}
}

// Data from the null: p-values are uniform on {1/20, …, 1}. The mean of 60 of
// them is within four of its standard errors of 0.037, and one in 20 is at the
// least value: more than 10 of 60 have probability 2e-4. Data from two components
// far apart, the control, gets the least value each time.
func TestBootstrapLevel(t *testing.T) {
	one := &clustering.PoissonMixture{Weights: []float64{1}, Rates: mat.NewDense(1, 1, []float64{5})}
	two := &clustering.PoissonMixture{Weights: []float64{0.5, 0.5}, Rates: mat.NewDense(2, 1, []float64{2, 12})}
	fit := clustering.Poissons(&clustering.PoissonOptions{Options: lvm.Options{Restarts: 2, Tol: 1e-7}})
	var mean float64
	least := 0
	for rep := range 60 {
		_, x := one.Sample(seeded(uint64(rep)), 60)
		test, err := clustering.BootstrapLRT(seeded(uint64(100+rep)), x, 1, 19, fit)
		if err != nil {
			t.Fatal(err)
		}
		mean += test.P / 60
		if test.P <= 1.0/20 {
			least++
		}
	}
	if math.Abs(mean-0.525) > 4*0.037 || least > 10 {
		t.Errorf("p-values under the null have mean %v, and %d of 60 are 1/20", mean, least)
	}
	for rep := range 5 {
		_, x := two.Sample(seeded(uint64(rep)), 60)
		test, err := clustering.BootstrapLRT(seeded(uint64(100+rep)), x, 1, 19, fit)
		if err != nil || test.P != 1.0/20 {
			t.Errorf("two components far apart: p = %v, %v", test.P, err)
		}
	}
}

// Old Faithful, one component against two, against mclust's mclustBootstrapLRT
// (testdata/choose.R): the same statistic, and no draw comes near it. mclust stops at
// a relative change of 1e-5, two tenths of a thousandth below the maximum.
func TestBootstrapOfMclust(t *testing.T) {
	loose := &clustering.GMMOptions{Options: lvm.Options{Restarts: 1, MaxIter: 200, Tol: 1e-7}}
	test, err := clustering.BootstrapLRT(seeded(1), datasets.OldFaithful().X, 1, 19, clustering.Gaussians(loose))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(test.Statistic-319.065354) > 5e-4 || test.P != 1.0/20 || floats.Max(test.Draws) > 60 {
		t.Errorf("statistic %v, p = %v, largest draw %v", test.Statistic, test.P, floats.Max(test.Draws))
	}
}

// The counting, with a family whose gains are known: the data has none left
// over, draws gain by their first row, and some fail.
func TestBootstrapCounts(t *testing.T) {
	lost := errors.New("lost")
	data := mat.NewDense(4, 1, []float64{3, 4, 5, 6})
	fit := func(rng *rand.Rand, x mat.Matrix, k int) (clustering.Mixture, lvm.Trace, error) {
		if k == 2 && x.At(0, 0) > 6 {
			return nil, lvm.Trace{}, lost
		}
		m, trace, err := clustering.FitPoissonMixture(rng, x, 1, nil)
		if k == 2 && x.At(0, 0) > 4 {
			m.Rates.Set(0, 0, m.Rates.At(0, 0)*1.1) // a poor fit: no gain
			trace.Status = lvm.IterationLimit
		}
		return m, trace, err
	}
	test, err := clustering.BootstrapLRT(seeded(1), data, 1, 200, fit)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for b, s := range test.Draws {
		if math.IsNaN(s) != errors.Is(test.Errors[b], lost) {
			t.Errorf("draw %d: %v, %v", b, s, test.Errors[b])
		} else if test.Errors[b] != nil {
			failed++
		} else if s != 0 {
			t.Errorf("draw %d: statistic %v, want 0", b, s)
		}
	}
	if failed < 20 || failed > 80 || test.Unconverged < 20 || test.Statistic != 0 || test.P != 1 {
		t.Errorf("%d failed, %d unconverged, statistic %v, p = %v", failed, test.Unconverged, test.Statistic, test.P)
	}
	if _, err := clustering.BootstrapLRT(seeded(1), mat.NewDense(3, 1, []float64{9, 1, 2}), 1, 5, fit); !errors.Is(err, lost) || !strings.HasPrefix(err.Error(), "clustering.BootstrapLRT: 2 components: ") {
		t.Errorf("a fit to the data fails: %v", err)
	}
}

// Against mclust (testdata/choose.R): on Old Faithful and on iris it chooses the
// same as here, with the same value, among the four shapes that both know. EM
// has many ends there; with ten restarts ours is never more than 0.01 above
// mclust's, which starts from one hierarchical clustering, and often below.
func TestSelectGMMOfMclust(t *testing.T) {
	for _, c := range []struct {
		name  string
		x     mat.Matrix
		k     int
		shape clustering.Shape
		best  float64
		bic   [4][6]float64 // of mclust, by shape and K
	}{
		{"Old Faithful", datasets.OldFaithful().X, 3, clustering.Tied, 2314.296, [4][6]float64{
			{2607.623, 2322.192, 2349.442, 2351.429, 2377.076, 2385.728},
			{2607.623, 2325.220, 2314.296, 2320.137, 2327.614, 2347.221},
			{3055.835, 2346.065, 2342.118, 2332.272, 2350.677, 2373.146},
			{4024.721, 3458.299, 3336.533, 3242.780, 3129.047, 3038.142}}},
		{"iris", datasets.Iris().X, 2, clustering.Full, 574.018, [4][6]float64{
			{829.978, 574.018, 580.839, 626.723, 676.594, 721.427},
			{829.978, 688.097, 632.963, 645.975, 604.773, 609.815},
			{1522.120, 857.551, 744.632, 751.013, 711.449, 707.284},
			{1804.085, 1012.235, 853.809, 812.591, 742.599, 705.772}}},
	} {
		s, err := clustering.SelectGMM(seeded(1), c.x, 6, &clustering.SelectOptions{Options: lvm.Options{Restarts: 10}})
		if err != nil {
			t.Fatal(err)
		}
		best := s.Best()
		if best.K != c.k || best.Shape != c.shape || math.Abs(best.BIC-c.best) > 1e-3 {
			t.Errorf("%s: chose %d %v with %v, want %d %v with %v", c.name, best.K, best.Shape, best.BIC, c.k, c.shape, c.best)
		}
		for i, got := range s.Candidates {
			if want := c.bic[i/6][i%6]; got.Sound() && got.BIC > want+0.01 || got.K == 1 && math.Abs(got.BIC-want) > 1e-3 {
				t.Errorf("%s: %d %v has BIC %.3f, mclust's %v", c.name, got.K, got.Shape, got.BIC, want)
			}
		}
	}
}

// Twelve rows in one place make a component that only the floor holds up. By BIC
// alone it would be chosen, and the table says so.
func TestSelectGMMReportsCollapse(t *testing.T) {
	rng := seeded(1)
	x := mat.NewDense(72, 2, nil)
	for i := range 60 {
		x.SetRow(i, []float64{5 + rng.NormFloat64(), 5 + rng.NormFloat64()})
	}
	s, err := clustering.SelectGMM(seeded(2), x, 2, &clustering.SelectOptions{Shapes: []clustering.Shape{clustering.Full, clustering.Spherical}})
	if err != nil {
		t.Fatal(err)
	}
	full := s.Candidates[1]
	if len(full.Collapsed) != 1 || full.Model.Assign(mat.NewDense(1, 2, nil))[0] != full.Collapsed[0] {
		t.Errorf("collapsed: %v", full.Collapsed)
	}
	if best := s.Best(); best.K != 1 || full.BIC > best.BIC {
		t.Errorf("the best has %d components and BIC %v; that of the collapsed one is %v", best.K, best.BIC, full.BIC)
	}

	// With no floor the fit itself fails, and says which component.
	s, err = clustering.SelectGMM(seeded(2), x, 2, &clustering.SelectOptions{Shapes: []clustering.Shape{clustering.Full}, Floor: -1})
	var degenerate *lvm.DegenerateError
	if err != nil || !errors.As(s.Candidates[1].Err, &degenerate) || s.Best().K != 1 {
		t.Errorf("without a floor: %v, %v", err, s.Candidates[1].Err)
	}
	// Rows on a line: nothing is sound.
	line := mat.NewDense(20, 2, nil)
	for i := range 20 {
		line.SetRow(i, []float64{float64(i), 2 * float64(i)})
	}
	s, err = clustering.SelectGMM(seeded(2), line, 2, &clustering.SelectOptions{Shapes: []clustering.Shape{clustering.Full}})
	if !errors.As(err, &degenerate) || s.Best() != nil || len(s.Candidates) != 2 {
		t.Errorf("rows on a line: %v", err)
	}
	var data *lvm.DataError
	if _, err = clustering.SelectGMM(seeded(2), mat.NewDense(3, 1, nil), 2, nil); !errors.As(err, &data) {
		t.Errorf("equal rows: %v", err)
	}
}

// The criterion that is asked for decides.
func TestSelectGMMBy(t *testing.T) {
	x := datasets.OldFaithful().X
	for _, by := range []clustering.Criterion{clustering.BIC, clustering.ICL, clustering.AIC} {
		s, err := clustering.SelectGMM(seeded(1), x, 3, &clustering.SelectOptions{By: by, Options: lvm.Options{Tol: 1e-6}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Candidates {
			value := map[clustering.Criterion]float64{clustering.BIC: c.Model.BIC(x), clustering.ICL: c.Model.ICL(x), clustering.AIC: c.Model.AIC(x)}[by]
			if c.Value(by) != value || value < s.Best().Value(by) {
				t.Errorf("%v of %d %v is %v, of the model %v, of the best %v", by, c.K, c.Shape, c.Value(by), value, s.Best().Value(by))
			}
		}
	}
}

// The same bits on one core and on three.
func TestChoiceBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	x := datasets.OldFaithful().X
	loose := lvm.Options{Restarts: 2, Tol: 1e-5}
	fit := clustering.Gaussians(&clustering.GMMOptions{Options: loose})
	var first string
	for _, procs := range []int{1, 3} {
		runtime.GOMAXPROCS(procs)
		h, err := clustering.CrossValidate(seeded(1), x, 2, 5, fit)
		if err != nil {
			t.Fatal(err)
		}
		b, err := clustering.BootstrapLRT(seeded(1), x, 2, 8, fit)
		if err != nil {
			t.Fatal(err)
		}
		s, err := clustering.SelectGMM(seeded(1), x, 3, &clustering.SelectOptions{Options: loose})
		if err != nil {
			t.Fatal(err)
		}
		all := fmt.Sprint(h.LogProb, b.Draws, b.P)
		for _, c := range s.Candidates {
			all += fmt.Sprint(c.BIC, c.Trace.Objective)
		}
		if first == "" {
			first = all
		} else if all != first {
			t.Error("other results on three cores")
		}
	}
}

func TestChoiceOfNoComponents(t *testing.T) {
	x, fit := datasets.OldFaithful().X, clustering.Gaussians(nil)
	for name, f := range map[string]func() error{
		"cross-validation": func() error { _, err := clustering.CrossValidate(seeded(1), x, 0, 5, fit); return err },
		"bootstrap":        func() error { _, err := clustering.BootstrapLRT(seeded(1), x, 0, 5, fit); return err },
		"selection":        func() error { _, err := clustering.SelectGMM(seeded(1), x, 0, nil); return err },
		"start":            func() error { _, err := clustering.InitPlusPlus(seeded(1), x, 0); return err },
	} {
		if e, ok := errors.AsType[*lvm.DataError](f()); !ok || e.Try == "" {
			t.Errorf("%s: %v, want a *lvm.DataError with advice", name, f())
		}
	}
}

func TestChoiceMistakes(t *testing.T) {
	x, fit := datasets.OldFaithful().X, clustering.Gaussians(nil)
	for name, f := range map[string]func(){
		"no generator": func() { _, _ = clustering.CrossValidate(nil, x, 1, 5, fit) },
		"one fold":     func() { _, _ = clustering.CrossValidate(seeded(1), x, 1, 1, fit) },
		"no draws":     func() { _, _ = clustering.BootstrapLRT(seeded(1), x, 1, 0, fit) },
		"no shape": func() {
			_, _ = clustering.SelectGMM(seeded(1), x, 1, &clustering.SelectOptions{Shapes: []clustering.Shape{9}})
		},
		"no criterion":    func() { _, _ = clustering.SelectGMM(seeded(1), x, 1, &clustering.SelectOptions{By: 9}) },
		"other held-outs": func() { (&clustering.HeldOut{LogProb: make([]float64, 2)}).Over(&clustering.HeldOut{}) },
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "clustering: ") {
					t.Errorf("%s: %v", name, r)
				}
			}()
			f()
		}()
	}
}
