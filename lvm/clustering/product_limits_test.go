package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

func TestProductStarts(t *testing.T) {
	m, x := tinyPoisson()
	var shape *lvm.ShapeError
	if _, _, err := FitPoissonMixture(nil, x, 2, &PoissonOptions{Start: m}); !errors.As(err, &shape) || shape.Got != 3 || shape.Want != 2 {
		t.Errorf("a start of three for two: %v", err)
	}
	if _, _, err := FitPoissonMixture(nil, mat.NewDense(3, 1, []float64{1, 2, 3}), 3, &PoissonOptions{Start: m}); !errors.As(err, &shape) || shape.Got != 1 || shape.Want != 2 {
		t.Errorf("a start of two columns for one: %v", err)
	}
	// A start below the floor is raised to it and stays what it was.
	fit, trace, err := FitPoissonMixture(nil, x, 3, &PoissonOptions{Start: m, Floor: 2, Options: lvm.Options{MaxIter: 1}})
	if err != nil || mat.Min(fit.Rates) < 2 || trace.Objective[1] < trace.Objective[0] || m.Rates.At(1, 1) != 0.5 {
		t.Errorf("floor of 2: rates %v, path %v, start %v, %v", mat.Formatted(fit.Rates), trace.Objective, m.Rates.At(1, 1), err)
	}
	// A component that no row belongs to.
	m.Rates.SetRow(2, []float64{1e8, 1e8})
	_, _, err = m.Step(x)
	var degenerate *lvm.DegenerateError
	if !errors.As(err, &degenerate) || degenerate.Component != 2 || !strings.Contains(err.Error(), "empty") {
		t.Errorf("a component far from all rows: %v", err)
	}
}

// k-means starts on 20,000 rows of many, of which here hardly ever two are
// distinct; then it takes them all.
func TestProductStartNeedsAllRows(t *testing.T) {
	x := mat.NewDense(10*startRows, 1, nil)
	x.Set(7, 0, 9)
	x.Set(12345, 0, 30)
	m, _, err := FitPoissonMixture(rand.New(rand.NewPCG(1, 2)), x, 3, &PoissonOptions{Options: lvm.Options{Restarts: 1, MaxIter: 5}, Floor: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	if z := m.Assign(mat.NewDense(3, 1, []float64{0, 9, 30})); z[0] == z[1] || z[1] == z[2] || z[0] == z[2] {
		t.Errorf("0, 9 and 30 have the labels %v", z)
	}
}

func TestProductSamples(t *testing.T) {
	m, _ := tinyBernoulli()
	if z, x := m.Sample(rand.New(rand.NewPCG(1, 2)), 0); len(z) != 0 || !x.IsEmpty() {
		t.Error("a sample of no rows is not empty")
	}
	for name, f := range map[string]func(){
		"n = -1":       func() { m.Sample(rand.New(rand.NewPCG(1, 2)), -1) },
		"no generator": func() { m.Sample(nil, 1) },
		"nil for a fit": func() {
			_, _, _ = FitBernoulliMixture(nil, mat.NewDense(1, 1, nil), 1, nil)
		},
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
	m.Probs.Set(0, 0, 0)
	if err := recovered(func() { m.NumParams() }); err == nil || !strings.Contains(err.Error(), "component 0") {
		t.Errorf("NumParams of no mixture: %v", err)
	}
}

func TestCriterionNames(t *testing.T) {
	for c, want := range map[Criterion]string{BIC: "BIC", ICL: "ICL", AIC: "AIC", 7: "Criterion(7)"} {
		if c.String() != want {
			t.Errorf("%q, want %q", c, want)
		}
	}
}

// A floor so low that 1−Floor is one leaves probabilities below one.
func TestBernoulliLowFloor(t *testing.T) {
	_, x := bernoulliTruth().Sample(rand.New(rand.NewPCG(1, 2)), 60)
	for _, floor := range []float64{1e-16, 1e-17, 1e-300} {
		m, trace, err := FitBernoulliMixture(rand.New(rand.NewPCG(3, 4)), x, 8, &BernoulliOptions{Floor: floor})
		if err != nil {
			t.Fatalf("floor %v: %v", floor, err)
		}
		if mat.Max(m.Probs) != 1-max(floor, 0x1p-53) || mat.Min(m.Probs) != floor || trace.Final() < trace.Objective[0] {
			t.Errorf("floor %v: probabilities from %v to %v", floor, mat.Min(m.Probs), mat.Max(m.Probs))
		}
	}
}

// LogProbs is LogProb of every row, impossible rows included.
func TestProductLogProbs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	counts, switches := poissonTruth(), bernoulliTruth()
	_, x := counts.Sample(rng, 700)
	_, y := switches.Sample(rng, 700)
	for _, c := range []struct {
		m interface {
			LogProb([]float64) float64
			LogProbs(mat.Matrix) []float64
		}
		x *mat.Dense
	}{{counts, x}, {switches, y}} {
		c.x.Set(300, 1, 0.5)
		c.x.Set(301, 0, math.NaN())
		for i, got := range c.m.LogProbs(c.x) {
			want := c.m.LogProb(c.x.RawRowView(i))
			if same := got == want || math.Abs(got-want) < 1e-10; same != (i != 301) || math.IsNaN(got) != (i == 301) || math.IsInf(got, -1) != (i == 300) {
				t.Errorf("%T, row %d: %v, want %v", c.m, i, got, want)
			}
		}
	}
}
