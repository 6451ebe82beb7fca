package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// spaceGMM returns a mixture of two in three dimensions.
func spaceGMM(shape Shape) *GMM {
	m := &GMM{Weights: []float64{0.7, 0.3}, Means: mat.NewDense(2, 3, []float64{0, 1, -1, 2, -1, 0.5}), Shape: shape}
	switch shape {
	case Full:
		m.Covs = []*mat.SymDense{sym(3, 1, 0.3, 0.1, 0.3, 2, -0.5, 0.1, -0.5, 0.8), sym(3, 0.5, 0, 0.2, 0, 0.5, 0.1, 0.2, 0.1, 1)}
	case Tied:
		m.Covs = []*mat.SymDense{sym(3, 1, 0.3, 0.1, 0.3, 2, -0.5, 0.1, -0.5, 0.8), sym(3, 1, 0.3, 0.1, 0.3, 2, -0.5, 0.1, -0.5, 0.8)}
	case Diagonal:
		m.Covs = []*mat.SymDense{sym(3, 1, 0, 0, 0, 2, 0, 0, 0, 0.8), sym(3, 0.5, 0, 0, 0, 0.4, 0, 0, 0, 1)}
	case Spherical:
		m.Covs = []*mat.SymDense{sym(3, 1.5, 0, 0, 0, 1.5, 0, 0, 0, 1.5), sym(3, 0.6, 0, 0, 0, 0.6, 0, 0, 0, 0.6)}
	}
	return m
}

// plainCoordinates is the map of GMMGradient from mixtures to numbers; plainMixture
// leads back.
func plainCoordinates(m *GMM) (v []float64) {
	for _, w := range m.Weights {
		v = append(v, math.Log(w))
	}
	v = append(v, mat.DenseCopyOf(m.Means).RawMatrix().Data...)
	for k, cov := range m.Covs {
		d := cov.SymmetricDim()
		above := mat.NewSymDense(d, nil)
		above.CopySym(cov)
		for j := range m.Floor {
			above.SetSym(j, j, cov.At(j, j)-0.999*floorAt(m, j))
		}
		var chol mat.Cholesky
		if !chol.Factorize(above) {
			panic("below the floor")
		}
		var l mat.TriDense
		chol.LTo(&l)
		switch {
		case m.Shape == Tied && k > 0:
		case m.Shape == Spherical:
			v = append(v, math.Log(l.At(0, 0)))
		default:
			for i := range d {
				for j := range i {
					if m.Shape != Diagonal {
						v = append(v, l.At(i, j))
					}
				}
				v = append(v, math.Log(l.At(i, i)))
			}
		}
	}
	return v
}

func floorAt(m *GMM, j int) float64 {
	switch {
	case m.Floor == nil:
		return 0
	case m.Shape == Spherical:
		return slices.Max(m.Floor)
	}
	return m.Floor[j]
}

func plainMixture(like *GMM, v []float64) *GMM {
	m := like.clone()
	k, d := m.Means.Dims()
	total := math.Exp(floats.LogSumExp(v[:k]))
	for c := range k {
		m.Weights[c] = math.Exp(v[c]) / total
	}
	copy(m.Means.RawMatrix().Data, v[k:])
	v = v[k+k*d:]
	next := func() (first float64) { first, v = v[0], v[1:]; return first }
	for c, cov := range m.Covs {
		if m.Shape == Tied && c > 0 {
			cov.CopySym(m.Covs[0])
			continue
		}
		l := mat.NewDense(d, d, nil)
		for i := range d {
			for j := range i {
				if m.Shape < Diagonal {
					l.Set(i, j, next())
				}
			}
			if m.Shape != Spherical || i == 0 {
				l.Set(i, i, math.Exp(next()))
			} else {
				l.Set(i, i, l.At(0, 0))
			}
		}
		var p mat.Dense
		p.Mul(l, l.T())
		for i := range d {
			for j := range i + 1 {
				cov.SetSym(i, j, p.At(i, j))
			}
			cov.SetSym(i, i, cov.At(i, i)+0.999*floorAt(m, i))
		}
	}
	return m
}

// flat lists the derivatives in the order of plainCoordinates.
func flat(g *GMMGradient) []float64 {
	v := append(slices.Clone(g.Logits), mat.DenseCopyOf(g.Means).RawMatrix().Data...)
	for k, f := range g.Factors {
		d, _ := f.Dims()
		switch {
		case g.Shape == Tied && k > 0:
		case g.Shape == Spherical:
			v = append(v, f.At(0, 0))
		default:
			for i := range d {
				for j := range i {
					if g.Shape != Diagonal {
						v = append(v, f.At(i, j))
					}
				}
				v = append(v, f.At(i, i))
			}
		}
	}
	return v
}

// gradientCases are mixtures of every shape, in two and three dimensions, with
// and without a floor.
func gradientCases() (all []*GMM) {
	for _, shape := range shapes {
		plane, floored, space := testGMM(shape), testGMM(shape), spaceGMM(shape)
		floored.Floor = []float64{0.1, 0.15}
		all = append(all, plane, floored, space)
	}
	return all
}

// The gradient by central differences of the log-likelihood, in coordinates
// that the test computes by itself. Values around 1000 are good to 1e-12 or so; over
// 2·1e-4 that is 1e-8, and the third derivatives add about as much.
func TestGradientByDifferences(t *testing.T) {
	for _, m := range gradientCases() {
		_, x := spaceGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 300)
		x = mat.DenseCopyOf(x.Slice(0, 300, 0, m.dim()))
		g, err := m.Gradient(x)
		if err != nil {
			t.Fatal(err)
		}
		at, got := plainCoordinates(m), flat(g)
		if len(at) != len(got) {
			t.Fatalf("%v: %d coordinates and %d derivatives", m.Shape, len(at), len(got))
		}
		for i := range at {
			const eps = 1e-4
			up, down := slices.Clone(at), slices.Clone(at)
			up[i] += eps
			down[i] -= eps
			want := (plainMixture(m, up).LogLikelihood(x) - plainMixture(m, down).LogLikelihood(x)) / (2 * eps)
			if math.Abs(got[i]-want) > 1e-5*max(1, math.Abs(want)) {
				t.Errorf("%v, floor %v: derivative %d is %v, by differences %v", m.Shape, m.Floor, i, got[i], want)
			}
		}
		if norm := floats.Norm(got, 2); !near(g.Norm(), norm, 1e-14) {
			t.Errorf("%v: norm %v, want %v", m.Shape, g.Norm(), norm)
		}
		if s := floats.Sum(g.Logits); math.Abs(s) > 1e-10 {
			t.Errorf("%v: the derivatives by the logits sum to %v", m.Shape, s)
		}
	}
}

// Ascend moves in the same coordinates.
func TestAscend(t *testing.T) {
	for _, m := range gradientCases() {
		_, x := spaceGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 50)
		g, err := m.Gradient(x.Slice(0, 50, 0, m.dim()))
		if err != nil {
			t.Fatal(err)
		}
		for _, rate := range []float64{0, 1e-3, -1e-3, 0.02} {
			got, err := m.Ascend(g, rate)
			if err != nil {
				t.Fatal(err)
			}
			at := plainCoordinates(m)
			floats.AddScaled(at, rate, flat(g))
			sameGMM(t, m.Shape.String(), got, plainMixture(m, at), 1e-13)
		}
	}
}

// The derivatives by covariance and precision of the notes, with the formulas of
// GMMGradient, against differences along symmetric directions: tr(G E). Taken for
// each other, as one of the notes prints them, they are far off.
func TestPrecisionGradient(t *testing.T) {
	m := testGMM(Full)
	_, x := m.Sample(rand.New(rand.NewPCG(1, 2)), 200)
	x.Scale(1.2, x)
	gamma := m.Posterior(x)
	const k = 1
	scatter, n := mat.NewSymDense(2, nil), 0.0
	for i := range 200 {
		var y mat.VecDense
		y.SubVec(x.RowView(i), m.Means.RowView(k))
		scatter.SymRankOne(scatter, gamma.At(i, k), &y)
		n += gamma.At(i, k)
	}
	var p, byPrecision, byCov mat.Dense
	if err := p.Inverse(m.Covs[k]); err != nil {
		t.Fatal(err)
	}
	byPrecision.Scale(n, m.Covs[k])
	byPrecision.Sub(&byPrecision, scatter)
	byPrecision.Scale(0.5, &byPrecision)
	byCov.Product(&p, &byPrecision, &p)
	byCov.Scale(-1, &byCov)

	for _, e := range []*mat.SymDense{sym(2, 1, 0, 0, 0), sym(2, 0, 1, 1, 0), sym(2, 0, 0, 0, 1)} {
		slope := func(move func(m *GMM, eps float64)) float64 {
			const eps = 1e-5
			up, down := m.clone(), m.clone()
			move(up, eps)
			move(down, -eps)
			return (up.LogLikelihood(x) - down.LogLikelihood(x)) / (2 * eps)
		}
		cov := slope(func(m *GMM, eps float64) {
			var step mat.SymDense
			step.ScaleSym(eps, e)
			m.Covs[k].AddSym(m.Covs[k], &step)
		})
		precision := slope(func(m *GMM, eps float64) {
			var moved, inv mat.Dense
			moved.Scale(eps, e)
			moved.Add(&moved, &p)
			if err := inv.Inverse(&moved); err != nil {
				t.Fatal(err)
			}
			m.Covs[k] = sym(2, inv.At(0, 0), inv.At(0, 1), inv.At(0, 1), inv.At(1, 1))
		})
		trace := func(g *mat.Dense) float64 {
			var ge mat.Dense
			ge.Mul(g, e)
			return mat.Trace(&ge)
		}
		if !near(trace(&byCov), cov, 1e-6) {
			t.Errorf("derivative by Σ along %v is %v, by differences %v", e.RawSymmetric().Data, trace(&byCov), cov)
		}
		if !near(trace(&byPrecision), precision, 1e-6) {
			t.Errorf("derivative by Σ⁻¹ along %v is %v, by differences %v", e.RawSymmetric().Data, trace(&byPrecision), precision)
		}
		if near(trace(&byCov), precision, 0.1) {
			t.Errorf("control: %v for both along %v", precision, e.RawSymmetric().Data)
		}
	}
}

// A step of EM is uphill: μ' − μ = (Σ_k/N_k) ∂ℓ/∂μ_k and π' − π = (1/n) ∂ℓ/∂ρ (Xu
// and Jordan 1996). At its fixed point the gradient is zero, and not before.
func TestGradientAndEM(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(9, 9)), 600)
	for _, shape := range shapes {
		m := testGMM(shape)
		m.Means.Apply(func(_, _ int, v float64) float64 { return v + 0.3 }, m.Means)
		g, err := m.Gradient(x)
		if err != nil {
			t.Fatal(err)
		}
		next, _, err := m.Step(x)
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range m.Weights {
			if got, want := next.Weights[k]-w, g.Logits[k]/600; math.Abs(got-want) > 1e-14 {
				t.Errorf("%v: the weight %d moves by %v, want %v", shape, k, got, want)
			}
			var want mat.VecDense
			want.MulVec(m.Covs[k], g.Means.RowView(k))
			want.ScaleVec(1/(600*next.Weights[k]), &want)
			want.AddVec(&want, m.Means.RowView(k))
			if !mat.EqualApprox(&want, next.Means.RowView(k), 1e-13) {
				t.Errorf("%v: the mean %d moves to %v, want %v", shape, k, next.Means.RawRowView(k), want.RawVector().Data)
			}
		}
		if norm := g.Norm(); norm < 10 {
			t.Errorf("%v: control: the gradient at the start has length %v", shape, norm)
		}
		g, err = climbFrom(t, m, x).Gradient(x)
		if err != nil {
			t.Fatal(err)
		}
		if norm := g.Norm(); norm > 1e-3 { // EM stops where ℓ ≈ 2000 rises by 1e-15 of that
			t.Errorf("%v: the gradient at the fixed point of EM has length %v", shape, norm)
		}
	}
}

// From the same start near the truth gradient ascent climbs to the maximum that
// EM finds.
func TestFitGradientFindsEM(t *testing.T) {
	for _, shape := range shapes {
		start := testGMM(shape)
		_, x := start.Sample(rand.New(rand.NewPCG(1, 2)), 500)
		start.Means.Apply(func(_, _ int, v float64) float64 { return v + 0.5 }, start.Means)
		opts := &GMMOptions{Options: lvm.Options{MaxIter: 20000, Tol: 1e-14}, Start: start}
		em, te, err := FitGMM(nil, x, 3, opts)
		if err != nil {
			t.Fatal(err)
		}
		slow, ts, err := FitGradient(nil, x, 3, opts)
		if err != nil {
			t.Fatal(err)
		}
		// Where a step gains 1e-14 of ℓ, a thousand of those may be left to gain, and
		// the parameters are off by the root of that.
		if !near(te.Final(), ts.Final(), 1e-10) {
			t.Errorf("%v: log-likelihood %v by EM, %v by gradient", shape, te.Final(), ts.Final())
		}
		sameGMM(t, shape.String(), slow, em, 1e-4)
	}
}

// On data that collapses onto a point, with a floor and without.
func TestFitGradientFloor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(60, 2, nil)
	for i := range 60 {
		x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
	}
	for i := range 20 {
		x.SetRow(i, []float64{3, 3})
	}
	for _, shape := range shapes {
		m, trace, err := FitGradient(rng, x, 2, &GMMOptions{Options: lvm.Options{MaxIter: 300, Restarts: 2}, Shape: shape, Floor: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range m.Covs {
			above := mat.NewSymDense(2, []float64{c.At(0, 0) - 0.9989*m.Floor[0], c.At(0, 1), c.At(0, 1), c.At(1, 1) - 0.9989*m.Floor[1]})
			var chol mat.Cholesky
			if !chol.Factorize(above) {
				t.Errorf("%v: component %d has covariance %v below the floor %v", shape, k, c.RawSymmetric().Data, m.Floor)
			}
		}
		for i := 1; i < len(trace.Objective); i++ {
			if trace.Objective[i] < trace.Objective[i-1] {
				t.Errorf("%v: the objective falls in step %d", shape, i)
			}
		}
	}
}

// A step of any size leads to a mixture or to an error, and never to a panic.
func TestAscendFar(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 100)
	for _, shape := range shapes {
		m := testGMM(shape)
		g, err := m.Gradient(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, rate := range []float64{-1e300, -10, -1, 0.5, 1, 10, 1e3, 1e300, math.Inf(1), math.NaN()} {
			next, err := m.Ascend(g, rate)
			var degenerate *lvm.DegenerateError
			var data *lvm.DataError
			switch {
			case err != nil && !errors.As(err, &degenerate) && !errors.As(err, &data):
				t.Errorf("%v, rate %v: %v", shape, rate, err)
			case err == nil && math.IsNaN(next.LogLikelihood(x)):
				t.Errorf("%v, rate %v: a mixture without a log-likelihood", shape, rate)
			case err == nil && rate-rate != 0:
				t.Errorf("%v: a step of %v", shape, rate)
			}
		}
	}
}

func TestGradientBadInput(t *testing.T) {
	m := testGMM(Full)
	_, x := m.Sample(rand.New(rand.NewPCG(1, 2)), 20)
	nan := mat.DenseCopyOf(x)
	nan.Set(3, 1, math.NaN())
	var data *lvm.DataError
	var shape *lvm.ShapeError
	var degenerate *lvm.DegenerateError
	broken := m.clone()
	broken.Covs[2].SetSym(0, 1, 5)
	low := m.clone()
	low.Floor = []float64{0.25, 0.1} // the third component has variance 0.2
	for name, f := range map[string]func(m *GMM, x mat.Matrix) error{
		"Gradient":     func(m *GMM, x mat.Matrix) error { _, err := m.Gradient(x); return err },
		"StepGradient": func(m *GMM, x mat.Matrix) error { _, _, err := m.StepGradient(x); return err },
	} {
		if err := f(m, nan); !errors.As(err, &data) || data.Row != 3 || data.Col != 1 {
			t.Errorf("%s of NaN: %v", name, err)
		}
		if err := f(m, mat.NewDense(3, 3, nil)); !errors.As(err, &shape) {
			t.Errorf("%s of wide data: %v", name, err)
		}
		for _, bad := range []*GMM{broken, low} {
			if err := f(bad, x); !errors.As(err, &degenerate) || degenerate.Component != 2 {
				t.Errorf("%s of a bad mixture: %v", name, err)
			}
		}
	}
	g, err := m.Gradient(x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := testGMM(Tied).Ascend(g, 0.1); !errors.As(err, &data) {
		t.Errorf("gradient of another shape: %v", err)
	}
	if _, err := spaceGMM(Full).Ascend(g, 0.1); !errors.As(err, &shape) {
		t.Errorf("gradient of another mixture: %v", err)
	}
	short := *g
	short.Factors = g.Factors[:2]
	if _, err := m.Ascend(&short, 0.1); !errors.As(err, &shape) {
		t.Errorf("gradient with a factor missing: %v", err)
	}
	short.Factors = []*mat.TriDense{g.Factors[0], nil, g.Factors[2]}
	if _, err := m.Ascend(&short, 0.1); !errors.As(err, &shape) {
		t.Errorf("gradient with a nil factor: %v", err)
	}
	if _, err := m.Ascend(&GMMGradient{Logits: g.Logits, Factors: g.Factors}, 0.1); !errors.As(err, &shape) {
		t.Errorf("gradient without means: %v", err)
	}
}
