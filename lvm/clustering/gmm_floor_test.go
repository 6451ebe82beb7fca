package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// expected is the part of Q that depends on one covariance: −½ (ln|Σ| + tr Σ⁻¹S).
func expected(t *testing.T, sigma, s *mat.SymDense) float64 {
	t.Helper()
	var c mat.Cholesky
	if !c.Factorize(sigma) {
		t.Fatal("not positive definite")
	}
	var p mat.Dense
	if err := c.SolveTo(&p, s); err != nil {
		t.Fatal(err)
	}
	return -0.5 * (c.LogDet() + mat.Trace(&p))
}

// above reports whether Σ ≽ diag(f), up to rounding of the size of Σ.
func above(sigma *mat.SymDense, f []float64) bool {
	d := sigma.SymmetricDim()
	diff := mat.NewSymDense(d, nil)
	diff.CopySym(sigma)
	for j, v := range f {
		diff.SetSym(j, j, sigma.At(j, j)-v)
	}
	var e mat.EigenSym
	e.Factorize(diff, false)
	return e.Values(nil)[0] >= -1e-13*mat.Max(sigma)
}

// randomCov returns a covariance of rank at most rank.
func randomCov(rng *rand.Rand, d, rank int) *mat.SymDense {
	s := mat.NewSymDense(d, nil)
	for range rank {
		v := mat.NewVecDense(d, nil)
		for j := range d {
			v.SetVec(j, rng.NormFloat64()*math.Exp(rng.NormFloat64()))
		}
		s.SymRankOne(s, 1, v)
	}
	return s
}

// The covariances that constrain returns keep to the floor, and no other that
// does is better: neither random ones nor small changes of the answer. The clamp
// of the eigenvalues without the change of units is not good enough.
func TestFloorIsOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	controls := 0
	for trial := range 40 {
		d := 1 + trial%4
		floor := make([]float64, d)
		for j := range floor {
			floor[j] = math.Exp(3 * rng.NormFloat64())
		}
		s := []*mat.SymDense{randomCov(rng, d, 1+trial%3), randomCov(rng, d, 6)}
		weights := []float64{0.3, 0.7}
		for _, shape := range shapes {
			m := &GMM{Weights: weights, Means: mat.NewDense(2, d, nil), Shape: shape, Floor: floor}
			for _, sk := range s {
				own := mat.NewSymDense(d, nil)
				own.CopySym(sk)
				if shape >= Diagonal {
					for i := range d {
						for j := range i {
							own.SetSym(i, j, 0)
						}
					}
				}
				m.Covs = append(m.Covs, own)
			}
			m.constrain()
			q := func(covs []*mat.SymDense) float64 {
				return weights[0]*expected(t, covs[0], s[0]) + weights[1]*expected(t, covs[1], s[1])
			}
			best := q(m.Covs)
			for k, c := range m.Covs {
				if !above(c, floor) {
					t.Errorf("%v: Σ_%d is below the floor", shape, k)
				}
			}
			for range 200 {
				other := []*mat.SymDense{randomFeasible(rng, m, 0), randomFeasible(rng, m, 1)}
				if shape == Tied {
					other[1] = other[0]
				}
				if !above(other[0], floor) || !above(other[1], floor) {
					t.Fatal("the test's own covariance is below the floor")
				}
				if v := q(other); v > best+1e-10*math.Abs(best) {
					t.Fatalf("%v, d = %d: Q is %v, and %v for another covariance", shape, d, best, v)
				}
			}
			if shape == Full && d > 1 {
				naive := []*mat.SymDense{addFloor(s[0], floor), addFloor(s[1], floor)}
				if q(naive) < best-1e-3 {
					controls++
				}
			}
		}
	}
	if controls < 20 { // of 30: S + F keeps to the floor too, but is worse
		t.Errorf("control: S + diag(Floor) is clearly worse in %d cases only", controls)
	}
}

func addFloor(s *mat.SymDense, f []float64) *mat.SymDense {
	r := mat.NewSymDense(len(f), nil)
	r.CopySym(s)
	for j, v := range f {
		r.SetSym(j, j, s.At(j, j)+v)
	}
	return r
}

// randomFeasible returns a covariance of m's shape above its floor: half of the
// time close to that of component k.
func randomFeasible(rng *rand.Rand, m *GMM, k int) *mat.SymDense {
	d := m.dim()
	extra := randomCov(rng, d, d)
	extra.ScaleSym(math.Exp(4*rng.NormFloat64()-3), extra)
	if m.Shape >= Diagonal {
		for i := range d {
			for j := range i {
				extra.SetSym(i, j, 0)
			}
		}
	}
	r := addFloor(extra, m.Floor)
	if rng.IntN(2) == 0 { // the feasible set is convex
		share := math.Exp(-8 * rng.Float64())
		r.ScaleSym(share, r)
		var c mat.SymDense
		c.ScaleSym(1-share, m.Covs[k])
		r.AddSym(r, &c)
	}
	if m.Shape == Spherical {
		most := 0.0
		for j := range d {
			most = max(most, r.At(j, j))
		}
		for j := range d {
			r.SetSym(j, j, most)
		}
	}
	return r
}

// Without a floor a component that starts on one row collapses onto it, the
// log-likelihood rising on the way, until the covariance is none (notes 002,
// §7.7). With a floor it stays a mixture, and the log-likelihood never falls.
func TestSingularity(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 60)
	for _, shape := range []Shape{Full, Diagonal, Spherical} {
		start := &GMM{Weights: []float64{0.5, 0.5}, Means: mat.NewDense(2, 2, nil), Shape: shape,
			Covs: []*mat.SymDense{sym(2, 4, 0, 0, 4), sym(2, 1e-6, 0, 0, 1e-6)}}
		start.Means.SetRow(1, x.RawRowView(17))

		m, last := start, math.Inf(-1)
		var err error
		for step := range 100 {
			var next *GMM
			var l float64
			if next, l, err = m.Step(x); err != nil {
				break
			}
			if l < last {
				t.Errorf("%v: the log-likelihood fell to %v in step %d", shape, l, step)
			}
			m, last = next, l
		}
		var degenerate *lvm.DegenerateError
		if !errors.As(err, &degenerate) || degenerate.Component != 1 || degenerate.Try == "" {
			t.Errorf("%v: %v, want a *lvm.DegenerateError for component 1", shape, err)
		}
		if _, _, err := FitGMM(nil, x, 2, &GMMOptions{Start: start, Floor: -1}); !errors.As(err, &degenerate) {
			t.Errorf("%v: the fit without a floor: %v", shape, err)
		}

		fit, trace, err := FitGMM(nil, x, 2, &GMMOptions{Start: start})
		if err != nil || trace.Err() != nil {
			t.Fatal(shape, err, trace.Err())
		}
		for k, c := range fit.Covs {
			if !above(c, fit.Floor) {
				t.Errorf("%v: Σ_%d is below the floor", shape, k)
			}
		}
		for i, l := range trace.Objective[1:] {
			if l < trace.Objective[i]-1e-12*math.Abs(l) {
				t.Errorf("%v: with a floor the log-likelihood fell from %v to %v", shape, trace.Objective[i], l)
			}
		}
	}
}

// Fewer rows than columns leave every full covariance singular. The floor mends
// them all, and the log-likelihood still never falls.
func TestFloorMendsMoreColumnsThanRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n, d = 20, 30
	x := mat.NewDense(n, d, nil)
	x.Apply(func(i, _ int, _ float64) float64 { return float64(i%2) + rng.NormFloat64() }, x)
	for _, shape := range []Shape{Full, Tied} {
		fit, trace, err := FitGMM(rng, x, 2, &GMMOptions{Shape: shape, Floor: 1e-3})
		if err != nil || trace.Err() != nil {
			t.Fatal(shape, err, trace.Err())
		}
		for k, c := range fit.Covs {
			if !above(c, fit.Floor) {
				t.Errorf("%v: Σ_%d is below the floor", shape, k)
			}
		}
		if _, _, err := FitGMM(rng, x, 2, &GMMOptions{Shape: shape, Floor: -1}); err == nil {
			t.Errorf("%v: control: without a floor the covariance is positive definite", shape)
		}
	}
}

// Columns in other units give the same mixture in those units: the floor is
// relative to the columns. Scaling by powers of two is exact.
func TestUnits(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 120)
	units := []float64{1 << 20, 1. / (1 << 30)}
	scaled := mat.DenseCopyOf(x)
	scaled.Apply(func(_, j int, v float64) float64 { return v * units[j] }, scaled)
	for _, shape := range []Shape{Full, Tied, Diagonal} {
		for _, floor := range []float64{0, 0.2} { // the second clamps some covariances
			opts := &GMMOptions{Options: lvm.Options{MaxIter: 30, Tol: -1, Restarts: 1}, Shape: shape, Floor: floor}
			a, ta, err := FitGMM(rand.New(rand.NewPCG(3, 4)), x, 4, opts)
			if err != nil {
				t.Fatal(err)
			}
			b, tb, err := FitGMM(rand.New(rand.NewPCG(3, 4)), scaled, 4, opts)
			if err != nil {
				t.Fatal(err)
			}
			if want := ta.Final() - 120*(math.Log(units[0])+math.Log(units[1])); !near(tb.Final(), want, 1e-9) {
				t.Errorf("%v: log-likelihood %v, want %v", shape, tb.Final(), want)
			}
			b.Means.Apply(func(_, j int, v float64) float64 { return v / units[j] }, b.Means)
			for _, c := range b.Covs {
				for i := range 2 {
					for j := i; j < 2; j++ {
						c.SetSym(i, j, c.At(i, j)/units[i]/units[j])
					}
				}
			}
			sameGMM(t, shape.String(), b, a, 1e-7)
		}
	}
}
