package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
)

func tinyBernoulli() (*BernoulliMixture, *mat.Dense) {
	m := &BernoulliMixture{Weights: []float64{0.6, 0.3, 0.1}, Probs: mat.NewDense(3, 2, []float64{0.9, 0.2, 0.5, 0.7, 0.05, 0.4}), Floor: 1e-6}
	return m, mat.NewDense(5, 2, []float64{1, 0, 1, 1, 0, 0, 0, 1, 1, 0})
}

func tinyPoisson() (*PoissonMixture, *mat.Dense) {
	m := &PoissonMixture{Weights: []float64{0.5, 0.3, 0.2}, Rates: mat.NewDense(3, 2, []float64{1, 4, 10, 0.5, 3, 3}), Floor: 1e-6}
	return m, mat.NewDense(5, 2, []float64{0, 3, 12, 0, 2, 2, 7, 1, 0, 9})
}

// pmf is p(x | m) of one value, from gonum.
type pmf func(m, x float64) float64

func bernoulliPMF(m, x float64) float64 { return distuv.Bernoulli{P: m}.Prob(x) }
func poissonPMF(m, x float64) float64   { return distuv.Poisson{Lambda: m}.Prob(x) }

// everyAssignment goes through all kⁿ assignments of n rows, and returns Σ_z p(x, z), the
// posterior of each row and what one M step makes of it.
func everyAssignment(weights []float64, means, x *mat.Dense, p pmf) (evidence float64, post *mat.Dense, nextWeights []float64, next *mat.Dense) {
	n, d := x.Dims()
	k := len(weights)
	post = mat.NewDense(n, k, nil)
	z := make([]int, n)
	for {
		joint := 1.0
		for i, c := range z {
			joint *= weights[c]
			for j := range d {
				joint *= p(means.At(c, j), x.At(i, j))
			}
		}
		evidence += joint
		for i, c := range z {
			post.Set(i, c, post.At(i, c)+joint)
		}
		at := 0
		for ; at < n && z[at] == k-1; at++ {
			z[at] = 0
		}
		if at == n {
			break
		}
		z[at]++
	}
	post.Scale(1/evidence, post)
	nextWeights, next = make([]float64, k), mat.NewDense(k, d, nil)
	next.Mul(post.T(), x)
	for c := range k {
		count := mat.Sum(post.ColView(c))
		nextWeights[c] = count / float64(n)
		for j := range d {
			next.Set(c, j, next.At(c, j)/count)
		}
	}
	return evidence, post, nextWeights, next
}

// Products of five probabilities, sums of 243 terms: a hundred roundings at most.
func TestProductMixturesByEnumeration(t *testing.T) {
	compare := func(name string, m Mixture, x *mat.Dense, logLik float64, weights []float64, next *mat.Dense, evidence float64, post *mat.Dense, wantWeights []float64, want *mat.Dense) {
		for what, v := range map[string]float64{"Step": logLik, "LogLikelihood": m.LogLikelihood(x)} {
			if !near(v, math.Log(evidence), 1e-14) {
				t.Errorf("%s: log-likelihood of %s %v, want %v", name, what, v, math.Log(evidence))
			}
		}
		if !mat.EqualApprox(m.Posterior(x), post, 1e-14) {
			t.Errorf("%s: posterior\n%v\nwant\n%v", name, mat.Formatted(m.Posterior(x)), mat.Formatted(post))
		}
		if !mat.EqualApprox(next, want, 1e-13) {
			t.Errorf("%s: the M step gives\n%v\nwant\n%v", name, mat.Formatted(next), mat.Formatted(want))
		}
		for c, w := range wantWeights {
			if !near(weights[c], w, 1e-14) {
				t.Errorf("%s: weight %d is %v, want %v", name, c, weights[c], w)
			}
		}
	}
	b, x := tinyBernoulli()
	next, logLik, err := b.Step(x)
	if err != nil {
		t.Fatal(err)
	}
	evidence, post, weights, want := everyAssignment(b.Weights, b.Probs, x, bernoulliPMF)
	compare("Bernoulli", b, x, logLik, next.Weights, next.Probs, evidence, post, weights, want)

	p, x := tinyPoisson()
	nextP, logLik, err := p.Step(x)
	if err != nil {
		t.Fatal(err)
	}
	evidence, post, weights, want = everyAssignment(p.Weights, p.Rates, x, poissonPMF)
	compare("Poisson", p, x, logLik, nextP.Weights, nextP.Rates, evidence, post, weights, want)
}

// All probabilities there are sum to one: four rows of two switches, and the
// counts up to 60, beyond which rates of 10 leave less than 1e-25.
func TestProductMixturesSumToOne(t *testing.T) {
	b, _ := tinyBernoulli()
	var sum float64
	for i := range 4 {
		sum += math.Exp(b.LogProb([]float64{float64(i & 1), float64(i >> 1)}))
	}
	if !near(sum, 1, 1e-14) {
		t.Errorf("the probabilities of all rows of the Bernoulli mixture sum to %v", sum)
	}
	p, _ := tinyPoisson()
	sum = 0
	for i := range 61 {
		for j := range 61 {
			sum += math.Exp(p.LogProb([]float64{float64(i), float64(j)}))
		}
	}
	if !near(sum, 1, 1e-12) {
		t.Errorf("the probabilities of all rows of the Poisson mixture sum to %v", sum)
	}
}

// One component is known in closed form: the means of the columns, within the floor.
func TestOneProduct(t *testing.T) {
	x := mat.NewDense(4, 3, []float64{1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1})
	b, trace, err := FitBernoulliMixture(rand.New(rand.NewPCG(1, 2)), x, 1, &BernoulliOptions{Floor: 0.01})
	if err != nil || trace.Err() != nil {
		t.Fatal(err, trace.Err())
	}
	want := 4*math.Log(0.5) + 8*math.Log(0.99)
	if !slices.Equal(b.Probs.RawRowView(0), []float64{0.5, 0.01, 0.99}) || !near(trace.Final(), want, 1e-14) {
		t.Errorf("θ = %v, log-likelihood %v, want %v", b.Probs.RawRowView(0), trace.Final(), want)
	}
	x = mat.NewDense(4, 2, []float64{1, 0, 3, 0, 0, 0, 6, 0})
	p, trace, err := FitPoissonMixture(rand.New(rand.NewPCG(1, 2)), x, 1, nil)
	if err != nil || trace.Err() != nil {
		t.Fatal(err, trace.Err())
	}
	want = -4*2.5 + 10*math.Log(2.5) - math.Log(6) - math.Log(720) - 4*0.001
	if !slices.Equal(p.Rates.RawRowView(0), []float64{2.5, 0.001}) || !near(trace.Final(), want, 1e-14) {
		t.Errorf("λ = %v, log-likelihood %v, want %v", p.Rates.RawRowView(0), trace.Final(), want)
	}
}

// A weight of 2 is two rows and a weight of 0 is none, though a row of weight 0
// must still be counts.
func TestProductRowWeights(t *testing.T) {
	p, x := tinyPoisson()
	w := []float64{2, 1, 0, 1, 3}
	twice := mat.NewDense(7, 2, nil)
	for r, i := range []int{0, 0, 1, 3, 4, 4, 4} {
		twice.SetRow(r, x.RawRowView(i))
	}
	a, la, err := p.StepWeighted(x, w)
	if err != nil {
		t.Fatal(err)
	}
	b, lb, err := p.Step(twice)
	if err != nil {
		t.Fatal(err)
	}
	if !near(la, lb, 1e-14) || !mat.EqualApprox(a.Rates, b.Rates, 1e-13) {
		t.Errorf("weights: %v\n%v\nrows: %v\n%v", la, mat.Formatted(a.Rates), lb, mat.Formatted(b.Rates))
	}
	fit := func(x mat.Matrix, w []float64) float64 {
		_, trace, err := FitPoissonMixture(nil, x, 3, &PoissonOptions{Start: p, Weights: w})
		if err != nil {
			t.Fatal(err)
		}
		return trace.Final()
	}
	if a, b := fit(x, w), fit(twice, nil); !near(a, b, 1e-8) { // both stop within 1e-9 of their limit
		t.Errorf("fits: %v with weights, %v with rows", a, b)
	}
}

// EM from many starts on noise never falls; climb itself refuses a fall, so the
// fits end without an error. Patterns with columns that never vary are held up
// by the floor.
func TestProductMixturesClimb(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for trial := range 60 {
		n, d, k := 20+rng.IntN(300), 1+rng.IntN(12), 1+rng.IntN(5)
		binary, counts := mat.NewDense(n, d, nil), mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				binary.Set(i, j, float64(rng.IntN(2)*rng.IntN(1+j%3)))
				counts.Set(i, j, math.Floor(math.Exp(rng.Float64()*float64(1+2*(j%5)))))
			}
		}
		b, trace, err := FitBernoulliMixture(rng, binary, k, nil)
		checkClimb(t, trial, "Bernoulli", trace, err)
		if err == nil && (mat.Min(b.Probs) < 1e-3 || mat.Max(b.Probs) > 1-1e-3) {
			t.Errorf("trial %d: θ from %v to %v", trial, mat.Min(b.Probs), mat.Max(b.Probs))
		}
		_, trace, err = FitPoissonMixture(rng, counts, k, nil)
		checkClimb(t, trial, "Poisson", trace, err)
	}
}

func checkClimb(t *testing.T, trial int, name string, trace lvm.Trace, err error) {
	t.Helper()
	if err != nil {
		if _, few := errors.AsType[*lvm.DataError](err); !few {
			t.Errorf("trial %d: %s: %v", trial, name, err)
		}
		return
	}
	for i, l := range trace.Objective[1:] {
		if l < trace.Objective[i]-1e-11*math.Abs(l) {
			t.Errorf("trial %d: %s: the log-likelihood fell from %v to %v", trial, name, trace.Objective[i], l)
		}
	}
}

// Where λ is small, a count is hardly ever more than one: the Poisson mixture
// becomes the Bernoulli mixture. A 1 has the probability λe^−λ instead of λ, so
// that their logarithms differ by λ.
func TestPoissonBecomesBernoulli(t *testing.T) {
	_, x := tinyBernoulli()
	last := math.Inf(1)
	for _, small := range []float64{1e-1, 1e-2, 1e-3} {
		b := &BernoulliMixture{Weights: []float64{0.7, 0.3}, Probs: mat.NewDense(2, 2, []float64{small, 2 * small, 3 * small, small})}
		p := &PoissonMixture{Weights: b.Weights, Rates: b.Probs}
		off := math.Abs(b.LogLikelihood(x) - p.LogLikelihood(x))
		if off > 5*2*3*small || off > last/9 { // five rows of two, λ up to three times as large
			t.Errorf("λ about %v: the log-likelihoods differ by %v, before by %v", small, off, last)
		}
		last = off
	}
}

// Components that start equal stay equal: EM cannot tell them apart.
func TestEqualComponentsStayEqual(t *testing.T) {
	_, x := tinyPoisson()
	m := &PoissonMixture{Weights: []float64{0.5, 0.5}, Rates: mat.NewDense(2, 2, []float64{3, 1, 3, 1})}
	for range 3 {
		next, _, err := m.Step(x)
		if err != nil {
			t.Fatal(err)
		}
		m = next
	}
	if !slices.Equal(m.Rates.RawRowView(0), m.Rates.RawRowView(1)) || m.Weights[0] != m.Weights[1] {
		t.Errorf("%v with weights %v", mat.Formatted(m.Rates), m.Weights)
	}
}

// Planted mixtures are found again: every mean within five standard errors, of
// 72 and 15. A fit with a component too few, the control, stays far off.
func TestProductMixturesRecover(t *testing.T) {
	const n = 4000
	b := bernoulliTruth()
	z, x := b.Sample(rand.New(rand.NewPCG(5, 6)), n)
	fit, _, err := FitBernoulliMixture(rand.New(rand.NewPCG(1, 2)), x, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	far := func(m Mixture, weights []float64, got, want *mat.Dense, variance func(float64) float64) float64 {
		perm, _ := Match(m.Assign(x), z)
		var worst float64
		for c, to := range perm {
			if to < 0 {
				continue
			}
			for j, v := range got.RawRowView(c) {
				w := want.At(to, j)
				worst = max(worst, math.Abs(v-w)/math.Sqrt(variance(w)/(n*weights[to])))
			}
		}
		return worst
	}
	noise := func(p float64) float64 { return p * (1 - p) }
	if off := far(fit, b.Weights, fit.Probs, b.Probs, noise); off > 5 {
		t.Errorf("Bernoulli: off by %v standard errors", off)
	}
	fit, _, _ = FitBernoulliMixture(rand.New(rand.NewPCG(1, 2)), x, 2, nil)
	if off := far(fit, b.Weights, fit.Probs, b.Probs, noise); off < 10 {
		t.Errorf("Bernoulli with two components: off by %v standard errors only", off)
	}
	p := poissonTruth()
	z, x = p.Sample(rand.New(rand.NewPCG(5, 6)), n)
	fitP, _, err := FitPoissonMixture(rand.New(rand.NewPCG(1, 2)), x, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if off := far(fitP, p.Weights, fitP.Rates, p.Rates, func(l float64) float64 { return l }); off > 5 {
		t.Errorf("Poisson: off by %v standard errors", off)
	}
}

func TestProductCriteria(t *testing.T) {
	b, x := tinyBernoulli()
	p, y := tinyPoisson()
	for _, c := range []struct {
		m Mixture
		x *mat.Dense
	}{{b, x}, {p, y}} {
		l, post := c.m.LogLikelihood(c.x), c.m.Posterior(c.x)
		var doubt float64
		for i, z := range c.m.Assign(c.x) {
			doubt += math.Log(post.At(i, z))
		}
		if c.m.NumParams() != 2+6 {
			t.Errorf("%T: %d parameters", c.m, c.m.NumParams())
		}
		for name, v := range map[string][2]float64{
			"AIC": {c.m.AIC(c.x), -2*l + 16}, "BIC": {c.m.BIC(c.x), -2*l + 8*math.Log(5)}, "ICL": {c.m.ICL(c.x), -2*l + 8*math.Log(5) - 2*doubt},
		} {
			if !near(v[0], v[1], 1e-14) {
				t.Errorf("%T: %s %v, want %v", c.m, name, v[0], v[1])
			}
		}
	}
}

// Values that are not counts are refused, with the place; rows with them have
// probability zero and no posterior.
func TestNoCounts(t *testing.T) {
	b, x := tinyBernoulli()
	p, y := tinyPoisson()
	for _, v := range []float64{-1, 0.5, 2, 1e10, math.NaN(), math.Inf(1)} {
		for name, step := range map[string]func() error{
			"BernoulliMixture": func() error { x.Set(3, 1, v); _, _, err := b.Step(x); return err },
			"PoissonMixture":   func() error { y.Set(3, 1, v); _, _, err := p.Step(y); return err },
		} {
			var data *lvm.DataError
			err := step()
			if name == "PoissonMixture" && v == 2 {
				if err != nil {
					t.Error(err)
				}
				continue
			}
			if !errors.As(err, &data) || data.Row != 3 || data.Col != 1 || data.Try == "" || data.Op != "clustering."+name+".Step" {
				t.Errorf("%v for %s: %v", v, name, err)
			}
		}
		want := math.Inf(-1)
		if math.IsNaN(v) {
			want = v
		}
		if l := b.LogProb([]float64{0, v}); l != want && !math.IsNaN(want) || math.IsNaN(l) != math.IsNaN(want) {
			t.Errorf("Bernoulli: ln p(0, %v) = %v", v, l)
		}
		if z := b.Assign(x); z[3] != -1 || z[0] < 0 || !math.IsNaN(b.Posterior(x).At(3, 0)) {
			t.Errorf("Bernoulli: %v has the label %d", v, z[3])
		}
	}
}

func TestInvalidProducts(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{0, 1, 1, 0})
	for _, c := range []struct {
		name  string
		spoil func(m *BernoulliMixture)
		says  string
	}{
		{"empty", func(m *BernoulliMixture) { *m = BernoulliMixture{} }, "no components"},
		{"fewer rows", func(m *BernoulliMixture) { m.Probs = mat.NewDense(2, 2, nil) }, "rows of Probs"},
		{"weights", func(m *BernoulliMixture) { m.Weights = []float64{1, 1, 1} }, "sum to 3"},
		{"zero", func(m *BernoulliMixture) { m.Probs.Set(2, 1, 0) }, "component 2 has 0 in column 1 of Probs"},
		{"one", func(m *BernoulliMixture) { m.Probs.Set(1, 0, 1) }, "component 1 has 1 in column 0 of Probs"},
		{"NaN", func(m *BernoulliMixture) { m.Probs.Set(1, 0, math.NaN()) }, "component 1 has NaN"},
		{"floor", func(m *BernoulliMixture) { m.Floor = 0.5 }, "Floor is 0.5"},
		{"NaN floor", func(m *BernoulliMixture) { m.Floor = math.NaN() }, "Floor is NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := tinyBernoulli()
			c.spoil(m)
			_, _, err := m.Step(x)
			wantTyped(t, "Step", "clustering.BernoulliMixture.Step: ", err, c.says)
			_, _, err = FitBernoulliMixture(nil, x, 2, &BernoulliOptions{Start: m})
			if c.says != "Floor is 0.5" && c.says != "Floor is NaN" { // the fit has a floor of its own
				wantTyped(t, "fit", "clustering.FitBernoulliMixture: ", err, c.says)
			}
			for name, f := range map[string]func(){
				"LogProb":   func() { m.LogProb([]float64{0, 1}) },
				"Posterior": func() { m.Posterior(x) },
				"BIC":       func() { m.BIC(x) },
				"Sample":    func() { m.Sample(rand.New(rand.NewPCG(1, 2)), 3) },
			} {
				wantTyped(t, name, "clustering: BernoulliMixture.", recovered(f), c.says)
			}
		})
	}
	for _, rate := range []float64{0, -1, math.Inf(1), math.NaN()} {
		m, y := tinyPoisson()
		m.Rates.Set(1, 1, rate)
		_, _, err := m.Step(y)
		wantTyped(t, "Step", "clustering.PoissonMixture.Step: ", err, "component 1")
	}
	for _, floor := range []float64{-1, 0.5, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic with a Floor of %v", floor)
				}
			}()
			_, _, _ = FitBernoulliMixture(rand.New(rand.NewPCG(1, 2)), x, 1, &BernoulliOptions{Floor: floor})
		}()
	}
}
