package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
)

// logDensity is a density that is a function.
type logDensity func(x []float64) float64

func (f logDensity) LogProb(x []float64) float64 { return f(x) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// skewed draws rows that are nothing like a Gaussian.
func skewed(rng *rand.Rand, n int) *mat.Dense {
	x := mat.NewDense(n, 2, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.ExpFloat64() * rng.ExpFloat64() }, x)
	return x
}

// For a density that is quite wrong the rate of false alarms is ⌊α(n+1)⌋/(n+1) on
// average, within Monte Carlo error over 4000 calibrations with one new row each; and
// over many new rows it varies from calibration to calibration as the beta
// distribution does.
func TestDetectorRate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	wrong := logDensity(func(x []float64) float64 { return -(x[0]-1)*(x[0]-1) - math.Abs(x[1]) })
	for _, c := range []struct {
		n    int
		rate float64
		want float64
	}{{19, 0.1, 0.1}, {19, 0.05, 0.05}, {30, 0.1, 3. / 31}, {99, 0.07, 0.07}} {
		const trials, each = 4000, 20
		rates := make([]float64, trials)
		first := 0.0
		for i := range rates {
			d, err := NewDetector(wrong, skewed(rng, c.n))
			must(t, err)
			alarm, err := d.Detect(skewed(rng, each), c.rate)
			must(t, err)
			for j, a := range alarm {
				if a {
					rates[i] += 1. / each
					if j == 0 {
						first++
					}
				}
			}
		}
		r := math.Round(c.want * float64(c.n+1))
		beta := distuv.Beta{Alpha: r, Beta: float64(c.n) + 1 - r}
		if se := math.Sqrt(c.want * (1 - c.want) / trials); math.Abs(first/trials-c.want) > 4*se {
			t.Errorf("n = %d, rate %v: %.4f alarms, want %.4f ± %.4f", c.n, c.rate, first/trials, c.want, se)
		}
		// Var = E[p(1−p)]/each + Var p, E p² = Var p + (E p)². The variance of a variance of 4000
		// skewed values is some 5 % of it.
		p, v := beta.Mean(), beta.Variance()
		if got, want := stat.Variance(rates, nil), (p-v-p*p)/each+v; math.Abs(got/want-1) > 0.2 {
			t.Errorf("n = %d, rate %v: variance of the rate %.5f, want %.5f", c.n, c.rate, got, want)
		}
	}
}

// The control: calibrated with the 40 rows that eight components were fitted to, the
// detector alarms far too often.
func TestDetectorNeedsOtherRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	train, held, fresh := skewed(rng, 40), skewed(rng, 199), skewed(rng, 4000)
	m, _, err := FitGMM(rng, train, 8, nil)
	must(t, err)
	rate := func(normal mat.Matrix) (sum float64) {
		d, err := NewDetector(m, normal)
		must(t, err)
		alarm, err := d.Detect(fresh, 0.1)
		must(t, err)
		for _, a := range alarm {
			if a {
				sum += 1. / 4000
			}
		}
		return sum
	}
	if honest, fooled := rate(held), rate(train); math.Abs(honest-0.1) > 4*0.021 || fooled < 0.3 {
		t.Errorf("rates %.3f from held-out rows, %.3f from training rows", honest, fooled)
	}
}

// Detect and PValues agree, a single calibrating row is enough for a rate of one half,
// and among equals nobody is an anomaly.
func TestDetectorPValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	p := logDensity(func(x []float64) float64 { return math.Round(2 * x[0]) }) // many ties
	for range 200 {
		n := 1 + rng.IntN(60)
		d, err := NewDetector(p, skewed(rng, n))
		must(t, err)
		x := skewed(rng, 50)
		values, err := d.PValues(x)
		must(t, err)
		rate := 1/float64(n+1) + rng.Float64()*(1-1/float64(n+1))
		alarm, err := d.Detect(x, rate)
		must(t, err)
		for i, v := range values {
			if alarm[i] != (v <= rate) {
				t.Fatalf("n = %d, rate %v: alarm %v with the p-value %v", n, rate, alarm[i], v)
			}
		}
	}
	d, err := NewDetector(p, mat.NewDense(1, 1, []float64{3}))
	must(t, err)
	values, err := d.PValues(mat.NewDense(3, 1, []float64{2, 3, 4}))
	must(t, err)
	for i, want := range []float64{0.5, 1, 1} {
		if values[i] != want {
			t.Errorf("p-values %v, want 1/2, 1, 1", values)
		}
	}
}

func TestDetectorRefuses(t *testing.T) {
	nan := logDensity(func(x []float64) float64 { return math.Log(x[0]) })
	var data *lvm.DataError
	if _, err := NewDetector(nan, mat.NewDense(3, 1, []float64{1, 2, -1})); !errors.As(err, &data) || data.Row != 2 {
		t.Errorf("a log density of NaN: %v", err)
	}
	if _, err := NewDetector(nan, mat.NewDense(2, 2, []float64{1, 2, math.Inf(1), 3})); !errors.As(err, &data) || data.Row != 1 || data.Col != 0 {
		t.Errorf("an infinity: %v", err)
	}
	if _, err := NewDetector(nan, &mat.Dense{}); !errors.As(err, &data) {
		t.Errorf("no rows: %v", err)
	}
	d, err := NewDetector(nan, mat.NewDense(9, 1, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}))
	must(t, err)
	for _, rate := range []float64{0, 1, -1, math.NaN(), 0.099} {
		if _, err := d.Detect(mat.NewDense(1, 1, nil), rate); !errors.As(err, &data) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
	if got, err := d.Threshold(0.1); err != nil || got != 0 {
		t.Errorf("nine rows are enough for 0.1: %v, %v", got, err)
	}
	if _, err := d.PValues(mat.NewDense(1, 1, []float64{math.NaN()})); !errors.As(err, &data) {
		t.Errorf("NaN: %v", err)
	}
	if v, err := d.PValues(mat.NewDense(1, 1, nil)); err != nil || v[0] != 0.1 { // ln 0 = −∞
		t.Errorf("a density of zero: %v, %v", v, err)
	}
}

// LogProbs is LogProb of every row, NaN included, and their sum the log-likelihood.
func TestGMMLogProbs(t *testing.T) {
	m := &GMM{Weights: []float64{0.3, 0.7}, Means: mat.NewDense(2, 2, []float64{0, 0, 3, 1}), Covs: []*mat.SymDense{
		mat.NewSymDense(2, []float64{1, 0.5, 0.5, 2}), mat.NewSymDense(2, []float64{0.3, 0, 0, 1})}}
	_, x := m.Sample(rand.New(rand.NewPCG(7, 8)), 700)
	x.SetRow(300, []float64{1e200, 0})
	x.SetRow(301, []float64{math.NaN(), 0})
	for i, got := range m.LogProbs(x) {
		if want := m.LogProb(x.RawRowView(i)); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
	student := &StudentMixture{Weights: m.Weights, Means: m.Means, Scales: m.Covs, DF: []float64{3, 7}}
	for i, got := range student.LogProbs(x) {
		if want := student.LogProb(x.RawRowView(i)); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("Student-t, row %d: %v, want %v", i, got, want)
		}
	}
	must(t, m.Check())
	m.Covs[1].SetSym(0, 0, 0)
	var degenerate *lvm.DegenerateError
	if err := m.Check(); !errors.As(err, &degenerate) || degenerate.Component != 1 {
		t.Errorf("variance 0: %v", err)
	}
}
