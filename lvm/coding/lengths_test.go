package coding

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

func sym(d int, v ...float64) *mat.SymDense { return mat.NewSymDense(d, v) }

// twoOnALine has overlapping components and seven rows, with lengths worked out
// by another program: see TestLengthsByHand.
func twoOnALine() (*Mixture, *mat.Dense) {
	m := &clustering.GMM{Weights: []float64{0.4, 0.6}, Means: mat.NewDense(2, 1, []float64{-0.5, 2}), Covs: []*mat.SymDense{sym(1, 1), sym(1, 1)}}
	x := mat.NewDense(7, 1, []float64{-1.5, -0.7, 0.1, 0.9, 1.6, 2.4, 3.1})
	return &Mixture{Model: m, Grid: Grid{{First: -8, Width: 0.01, Bins: 2001}}}, x
}

// Values computed from densities, −log₂(p(x)·Δ): the mass of a bin differs from that
// by a factor 1 + (z²−1)·Δ²/24, less than 5e-5 bits over seven rows.
func TestLengthsByHand(t *testing.T) {
	m, x := twoOnALine()
	n, _ := x.Dims()
	half := mat.NewDense(n, 2, nil)
	half.Apply(func(_, _ int, _ float64) float64 { return 0.5 }, half)
	posterior := m.Model.Posterior(x)
	for _, c := range []struct {
		name string
		f    func() (float64, error)
		want float64
	}{
		{"bound", func() (float64, error) { return m.Bound(x) }, 64.576693},
		{"deterministic", func() (float64, error) { return m.Deterministic(x) }, 65.687255},
		{"stochastic, posterior", func() (float64, error) { return m.Stochastic(x, posterior) }, 64.576693},
		{"stochastic, one half", func() (float64, error) { return m.Stochastic(x, half) }, 75.841235},
	} {
		if got, err := c.f(); err != nil || math.Abs(got-c.want) > 2e-4 {
			t.Errorf("%s: %.6f bits, %v, want %.6f", c.name, got, err, c.want)
		}
	}
	// (3.1 − (−1.5))/0.01 = 460 bins.
	if got := 7 * (Grid{{0, 0.01, 460}}).Bits(); math.Abs(got-61.918) > 5e-4 {
		t.Errorf("naive: %.3f bits", got)
	}
}

// three has three components in two dimensions that overlap, of any shape.
func three(shape clustering.Shape) *clustering.GMM {
	m := &clustering.GMM{Weights: []float64{0.5, 0.3, 0.2}, Means: mat.NewDense(3, 2, []float64{0, 0, 2, 1.5, 2, -1}), Shape: shape}
	switch shape {
	case clustering.Full:
		m.Covs = []*mat.SymDense{sym(2, 1.5, 0.8, 0.8, 1), sym(2, 1, -0.6, -0.6, 0.8), sym(2, 0.3, 0.1, 0.1, 1.2)}
	case clustering.Tied:
		c := sym(2, 1.5, 0.8, 0.8, 1)
		m.Covs = []*mat.SymDense{c, c, c}
	case clustering.Diagonal:
		m.Covs = []*mat.SymDense{sym(2, 1.5, 0, 0, 1), sym(2, 1, 0, 0, 0.8), sym(2, 0.3, 0, 0, 1.2)}
	case clustering.Spherical:
		m.Covs = []*mat.SymDense{sym(2, 1.5, 0, 0, 1.5), sym(2, 1, 0, 0, 1), sym(2, 0.3, 0, 0, 0.3)}
	}
	return m
}

var shapes = []clustering.Shape{clustering.Full, clustering.Tied, clustering.Diagonal, clustering.Spherical}

// 2^−Bound is a probability: it sums to one over all cells of a grid, coarse as it
// may be, and even if much lies beyond.
func TestBoundIsADistribution(t *testing.T) {
	for _, shape := range shapes {
		m := &Mixture{Model: three(shape), Grid: Grid{{-2, 0.7, 7}, {-1, 1.1, 5}}}
		var sum float64
		for a := range 7 {
			for b := range 5 {
				l, err := m.Bound(mat.NewDense(1, 2, []float64{m.Grid[0].centre(a), m.Grid[1].centre(b)}))
				if err != nil {
					t.Fatal(err)
				}
				sum += math.Exp2(-l)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%v: probabilities sum to %.15f", shape, sum)
		}
	}
}

// On a fine grid the bound is the negative log-likelihood with the volume of the
// bins; the order is bound ≤ deterministic, bound ≤ stochastic, with what lies between
// as the doc comments say.
func TestLengthsOnAFineGrid(t *testing.T) {
	for _, shape := range shapes {
		model := three(shape)
		_, x := model.Sample(rand.New(rand.NewPCG(1, 2)), 500)
		grid := Grid{{-10, 0.01, 2001}, {-10, 0.02, 1001}} // no row is near its ends, which take the tails
		m := &Mixture{Model: model, Grid: grid}
		r, err := grid.Round(x)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := m.Bound(x)
		want := -model.LogLikelihood(r)/math.Ln2 - 500*math.Log2(0.01*0.02)
		// A bin of Δ sd has (z²−1)·Δ²/24 more than φ·Δ, less than 1e-3 bits a row here.
		if err != nil || math.Abs(bound-want) > 0.1 {
			t.Errorf("%v: bound %.3f, %v, from the density %.3f", shape, bound, err, want)
		}
		posterior := model.Posterior(r)
		deterministic, _ := m.Deterministic(x)
		best, q := 0.0, mat.NewDense(500, 3, nil)
		var kl float64
		for i := range 500 {
			row := posterior.RawRowView(i)
			best -= math.Log2(floats.Max(row))
			q.SetRow(i, []float64{0.2, 0.5, 0.3})
			for k, p := range q.RawRowView(i) {
				kl += p * math.Log2(p/row[k])
			}
		}
		if math.Abs(deterministic-bound-best) > 0.1 {
			t.Errorf("%v: deterministic is %.3f bits over the bound, want %.3f", shape, deterministic-bound, best)
		}
		if got, err := m.Stochastic(x, q); err != nil || math.Abs(got-bound-kl) > 1e-4*kl {
			t.Errorf("%v: stochastic is %.3f bits over the bound, %v, want %.3f", shape, got-bound, err, kl)
		}
		if got, err := m.Stochastic(x, posterior); err != nil || got < bound-1e-9 || got > bound+0.01 {
			t.Errorf("%v: with the posterior %.6f bits, %v, bound %.6f", shape, got, err, bound)
		}
	}
}

func TestLengthsRefuse(t *testing.T) {
	m, x := twoOnALine()
	var shape *lvm.ShapeError
	var data *lvm.DataError
	var degenerate *lvm.DegenerateError
	if _, err := m.Stochastic(x, mat.NewDense(7, 3, nil)); !errors.As(err, &shape) {
		t.Errorf("three columns of q: %v", err)
	}
	if _, err := m.Stochastic(x, mat.NewDense(6, 2, nil)); !errors.As(err, &shape) {
		t.Errorf("six rows of q: %v", err)
	}
	q := mat.NewDense(7, 2, nil)
	for i := range 7 {
		q.SetRow(i, []float64{0.5, 0.5})
	}
	q.Set(4, 1, 0.6)
	if _, err := m.Stochastic(x, q); !errors.As(err, &data) || data.Row != 4 {
		t.Errorf("q that sums to 1.1: %v", err)
	}
	q.Set(2, 1, math.NaN())
	if _, err := m.Stochastic(x, q); !errors.As(err, &data) || data.Row != 2 || data.Col != 1 {
		t.Errorf("NaN in q: %v", err)
	}
	x.Set(5, 0, 100)
	if _, err := m.Bound(x); !errors.As(err, &data) || data.Row != 5 || data.Col != 0 {
		t.Errorf("100 is outside of the grid: %v", err)
	}
	if _, err := m.Deterministic(mat.NewDense(2, 2, nil)); !errors.As(err, &shape) {
		t.Errorf("two columns: %v", err)
	}
	if _, err := (&Mixture{Grid: m.Grid}).Stochastic(x, q); !errors.As(err, &data) {
		t.Errorf("no model: %v", err)
	}
	x.Set(5, 0, 0)
	m.Model.Covs[0], m.Model.Covs[1] = sym(1, 1e-280), sym(1, 1e-280)
	m.Model.Means.Scale(1e300, m.Model.Means)
	if _, err := m.Bound(x); !errors.As(err, &data) || data.Row != 0 {
		t.Errorf("distances that overflow: %v", err)
	}
	m.Model.Covs[1] = sym(1, 0)
	if _, err := m.Bound(x); !errors.As(err, &degenerate) || degenerate.Component != 1 {
		t.Errorf("variance 0: %v", err)
	}
}
