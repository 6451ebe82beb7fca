package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// randomResponsibilities returns n rows of k probabilities; every seventh row is
// certain.
func randomResponsibilities(rng *rand.Rand, n, k int) *mat.Dense {
	q := mat.NewDense(n, k, nil)
	for i := range n {
		row := q.RawRowView(i)
		if i%7 == 0 {
			row[rng.IntN(k)] = 1
			continue
		}
		for c := range row {
			row[c] = rng.ExpFloat64()
		}
		total := sum(row)
		for c := range row {
			row[c] /= total
		}
	}
	return q
}

// Notes 004, A17: two unit Gaussians at 0 and 2, one row at 0.5. What is printed
// there as the bound, KL(q‖p(x, z)), is the negative of it.
func TestFreeEnergyOfTheNotes(t *testing.T) {
	m := &GMM{Weights: []float64{0.5, 0.5}, Means: mat.NewDense(2, 1, []float64{0, 2}), Covs: []*mat.SymDense{sym(1, 1), sym(1, 1)}}
	f, err := m.FreeEnergy(mat.NewDense(1, 1, []float64{0.5}), mat.NewDense(1, 2, []float64{0.3, 0.7}))
	if err != nil {
		t.Fatal(err)
	}
	entropy := -0.3*math.Log(0.3) - 0.7*math.Log(0.7)
	for _, v := range []struct {
		name      string
		got, want float64
	}{{"bound", f.Bound(), -1.826221}, {"gap", f.Gap, 0.402397}, {"entropy", f.Entropy, entropy}, {"log-likelihood", f.Bound() + f.Gap, -1.423824}} {
		if math.Abs(v.got-v.want) > 5e-7 { // six printed digits
			t.Errorf("%s %v, want %v", v.name, v.got, v.want)
		}
	}
}

// The expectations over all 3⁵ labellings of five rows, each labelling with the
// probability that q gives it.
func TestFreeEnergyByEnumeration(t *testing.T) {
	const n, k = 5, 3
	for _, shape := range shapes {
		rng := rand.New(rand.NewPCG(1, 2))
		m := testGMM(shape)
		_, x := m.Sample(rng, n)
		q := randomResponsibilities(rng, n, k)
		var evidence float64
		eachLabelling(n, k, func(z []int) { evidence += math.Exp(complete(m, x, z)) })
		var expected, entropy, gap float64
		eachLabelling(n, k, func(z []int) {
			p := 1.0
			for i, c := range z {
				p *= q.At(i, c)
			}
			if p > 0 {
				joint := complete(m, x, z)
				expected += p * joint
				entropy -= p * math.Log(p)
				gap += p * (math.Log(p) - (joint - math.Log(evidence)))
			}
		})
		f, err := m.FreeEnergy(x, q)
		if err != nil {
			t.Fatal(err)
		}
		if !near(f.Expected, expected, 1e-13) || !near(f.Entropy, entropy, 1e-13) || !near(f.Gap, gap, 1e-13) {
			t.Errorf("%v: %+v, want %v, %v, %v", shape, f, expected, entropy, gap)
		}
	}
}

// F + KL = log-likelihood for any q, to the rounding of 3 × 700 terms; the bound
// is one; and it touches at the posterior and only there.
func TestGapIdentity(t *testing.T) {
	for _, shape := range shapes {
		rng := rand.New(rand.NewPCG(3, 4))
		m := testGMM(shape)
		_, x := m.Sample(rng, 700)
		logLik := m.LogLikelihood(x)
		for range 5 {
			f, err := m.FreeEnergy(x, randomResponsibilities(rng, 700, 3))
			if err != nil {
				t.Fatal(err)
			}
			if !near(f.Bound()+f.Gap, logLik, 1e-13) || f.Gap < 1 || f.Entropy < 0 {
				t.Errorf("%v: %+v add up to %v, want %v", shape, f, f.Bound()+f.Gap, logLik)
			}
		}
		f, err := m.FreeEnergy(x, m.Posterior(x))
		if err != nil {
			t.Fatal(err)
		}
		if f.Gap < 0 || f.Gap > 1e-12 || !near(f.Bound(), logLik, 1e-13) {
			t.Errorf("%v: at the posterior %+v, want the bound to be %v", shape, f, logLik)
		}
	}
}

// Up the stairs: each E half-step lifts F to the log-likelihood, each M half-step
// lifts F by no more than the log-likelihood, and leaves the entropy alone.
func TestStaircase(t *testing.T) {
	for _, shape := range shapes {
		rng := rand.New(rand.NewPCG(5, 6))
		_, x := testGMM(Full).Sample(rng, 400)
		m, q := testGMM(shape), randomResponsibilities(rng, 400, 3)
		last := math.Inf(-1)
		for step := range 10 {
			before, err := m.FreeEnergy(x, q)
			if err != nil {
				t.Fatal(err)
			}
			q = m.Posterior(x)
			after, err := m.FreeEnergy(x, q)
			if err != nil {
				t.Fatal(err)
			}
			if !near(after.Bound(), m.LogLikelihood(x), 1e-13) || after.Bound() < before.Bound() || before.Bound() < last {
				t.Errorf("%v: step %d: the bound goes from %v by %v to %v, the log-likelihood is %v", shape, step, last, before.Bound(), after.Bound(), m.LogLikelihood(x))
			}
			next, err := m.MStep(x, q)
			if err != nil {
				t.Fatal(err)
			}
			raised, err := next.FreeEnergy(x, q)
			if err != nil {
				t.Fatal(err)
			}
			if raised.Entropy != after.Entropy || raised.Expected < after.Expected {
				t.Errorf("%v: step %d: the M step leads from %+v to %+v", shape, step, after, raised)
			}
			m, last = next, raised.Bound()
		}
	}
}

// With the posterior for q an M step is a step, to the last bit, also where
// a floor holds or the means move far.
func TestMStepIsStep(t *testing.T) {
	for _, shape := range shapes {
		_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(7, 8)), 700)
		far, floor := testGMM(shape), testGMM(shape)
		far.Means.Apply(func(_, _ int, v float64) float64 { return v + 1e4 }, far.Means)
		floor.Floor = []float64{1, 1}
		for name, m := range map[string]*GMM{"plain": testGMM(shape), "far": far, "floor": floor} {
			want, _, err := m.Step(x)
			if err != nil {
				if _, err2 := m.MStep(x, m.Posterior(x)); err2 == nil {
					t.Errorf("%v %s: %v, but not by MStep", shape, name, err)
				}
				continue
			}
			got, err := m.MStep(x, m.Posterior(x))
			if err != nil {
				t.Fatal(err)
			}
			a, b := gmmModel(x, shape).Params(got), gmmModel(x, shape).Params(want)
			for i := range a {
				if a[i] != b[i] {
					t.Fatalf("%v %s: parameter %d is %v by MStep and %v by Step", shape, name, i, a[i], b[i])
				}
			}
		}
	}
}

// For any q the M step is the one of the equations, whatever the receiver's
// parameters are, and nothing in a small neighbourhood is better.
func TestMStepMaximises(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	_, x := testGMM(Full).Sample(rng, 300)
	for _, shape := range shapes {
		q := randomResponsibilities(rng, 300, 3)
		m := testGMM(shape)
		got, err := m.MStep(x, q)
		if err != nil {
			t.Fatal(err)
		}
		sameGMM(t, shape.String(), got, plainMStep(m, x, q), 1e-12)
		m.Means.Apply(func(_, _ int, v float64) float64 { return 3 - v }, m.Means)
		m.Weights = []float64{0.1, 0.2, 0.7}
		again, err := m.MStep(x, q)
		if err != nil {
			t.Fatal(err)
		}
		sameGMM(t, shape.String()+" from elsewhere", again, got, 1e-12)

		top, err := got.FreeEnergy(x, q)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			near := got.clone()
			near.Means.Apply(func(_, _ int, v float64) float64 { return v + 0.01*rng.NormFloat64() }, near.Means)
			stretch := math.Exp(0.01 * rng.NormFloat64())
			for _, c := range near.Covs {
				c.ScaleSym(stretch, c)
			}
			if shape == Spherical {
				for _, c := range near.Covs {
					c.SetSym(1, 1, c.At(0, 0))
				}
			}
			for c := range near.Weights {
				near.Weights[c] *= math.Exp(0.01 * rng.NormFloat64())
			}
			total := sum(near.Weights)
			for c := range near.Weights {
				near.Weights[c] /= total
			}
			f, err := near.FreeEnergy(x, q)
			if err != nil {
				t.Fatal(err)
			}
			if f.Expected >= top.Expected {
				t.Errorf("%v: expected log-likelihood %v beside the maximum of %v", shape, f.Expected, top.Expected)
			}
		}
	}
}

// 0·ln 0 is 0 on both sides, and a component that cannot have a row makes the
// bound infinitely bad.
func TestFreeEnergyOfZeroWeight(t *testing.T) {
	m := testGMM(Full)
	m.Weights = []float64{0.6, 0.4, 0}
	_, x := m.Sample(rand.New(rand.NewPCG(1, 2)), 10)
	f, err := m.FreeEnergy(x, m.Posterior(x))
	if err != nil || !near(f.Bound(), m.LogLikelihood(x), 1e-13) {
		t.Errorf("%+v, %v; want the bound to be %v", f, err, m.LogLikelihood(x))
	}
	q := m.Posterior(x)
	q.SetRow(3, []float64{0.5, 0, 0.5})
	f, err = m.FreeEnergy(x, q)
	if err != nil || !math.IsInf(f.Bound(), -1) || !math.IsInf(f.Gap, 1) {
		t.Errorf("%+v, %v; want an infinite gap", f, err)
	}
}

func TestFreeEnergySameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(1, 2))
	m := testGMM(Full)
	_, x := m.Sample(rng, 3000)
	q := randomResponsibilities(rng, 3000, 3)
	var first FreeEnergy
	for i, procs := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(procs)
		f, err := m.FreeEnergy(x, q)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = f
		}
		if f != first {
			t.Errorf("%+v on %d cores, %+v on one", f, procs, first)
		}
	}
}

func TestBadResponsibilities(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := testGMM(Full)
	_, x := m.Sample(rng, 20)
	good := func() *mat.Dense { return randomResponsibilities(rng, 20, 3) }
	spoil := func(row, col int, v float64) *mat.Dense {
		q := good()
		q.Set(row, col, v)
		return q
	}
	over := good()
	over.Set(4, 1, over.At(4, 1)+1e-5)
	for _, c := range []struct {
		name, says string
		q          mat.Matrix
	}{
		{"rows", "rows of q: got 19, want 20", good().Slice(0, 19, 0, 3)},
		{"columns", "columns of q: got 2, want 3", good().Slice(0, 20, 0, 2)},
		{"transposed", "rows of q: got 3", good().T()},
		{"empty", "rows of q: got 0", &mat.Dense{}},
		{"negative", "row 3, column 1: the responsibility is -0.1", spoil(3, 1, -0.1)},
		{"NaN", "row 5, column 2: the responsibility is NaN", spoil(5, 2, math.NaN())},
		{"infinite", "row 5, column 0: the responsibility is +Inf", spoil(5, 0, math.Inf(1))},
		{"sum", "row 4: the responsibilities sum to 1.00001", over},
		{"zeros", "row 0: the responsibilities sum to 0", mat.NewDense(20, 3, nil)},
	} {
		_, err := m.FreeEnergy(x, c.q)
		wantTyped(t, c.name, "clustering.GMM.FreeEnergy: ", err, c.says)
		_, err = m.MStep(x, c.q)
		wantTyped(t, c.name, "clustering.GMM.MStep: ", err, c.says)
	}

	q := good()
	wide := mat.NewDense(20, 3, nil)
	nan := mat.DenseCopyOf(x)
	nan.Set(2, 1, math.NaN())
	broken := m.clone()
	broken.Covs[1].SetSym(0, 1, 5)
	var data *lvm.DataError
	var shape *lvm.ShapeError
	var degenerate *lvm.DegenerateError
	for name, f := range map[string]func(m *GMM, x mat.Matrix) error{
		"FreeEnergy": func(m *GMM, x mat.Matrix) error { _, err := m.FreeEnergy(x, q); return err },
		"MStep":      func(m *GMM, x mat.Matrix) error { _, err := m.MStep(x, q); return err },
	} {
		if err := f(m, wide); !errors.As(err, &shape) || shape.What != "columns of x" {
			t.Errorf("%s of wide data: %v", name, err)
		}
		if err := f(m, nan); !errors.As(err, &data) || data.Row != 2 || data.Col != 1 {
			t.Errorf("%s of NaN: %v", name, err)
		}
		if err := f(broken, x); !errors.As(err, &degenerate) || degenerate.Component != 1 {
			t.Errorf("%s of a broken mixture: %v", name, err)
		}
	}
	// A row at 1e139 standard deviations of 1e-20: the square of that overflows.
	far, narrow := mat.DenseCopyOf(x), m.clone()
	far.Set(7, 0, 1e139)
	for _, c := range narrow.Covs {
		c.ScaleSym(1e-40, c)
	}
	if _, err := narrow.FreeEnergy(far, q); !errors.As(err, &data) || data.Row != 7 || !strings.Contains(err.Error(), "density is zero") {
		t.Errorf("a row with density zero: %v", err)
	}

	empty := mat.NewDense(20, 3, nil)
	for i := range 20 {
		empty.Set(i, 0, 0.5)
		empty.Set(i, 1, 0.5)
	}
	if _, err := m.MStep(x, empty); !errors.As(err, &degenerate) || degenerate.Component != 2 {
		t.Errorf("an empty component: %v", err)
	}
}
