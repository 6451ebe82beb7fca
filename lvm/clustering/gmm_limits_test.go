package clustering

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// climbFrom takes EM steps until the log-likelihood stands still.
func climbFrom(t *testing.T, m *GMM, x mat.Matrix) *GMM {
	t.Helper()
	fit, trace, err := FitGMM(nil, x, len(m.Weights), &GMMOptions{
		Options: lvm.Options{MaxIter: 20000, Tol: 1e-15}, Start: m, Floor: -1})
	if err != nil || trace.Err() != nil {
		t.Fatal(err, trace.Err())
	}
	return fit
}

// At convergence the gradient of the log-likelihood is zero (notes 000, (2.19)),
// in coordinates in which every point is a mixture: softmax weights, means, and
// for the covariances a change of Σ by (I + ε E_ij) on both sides. As a control, it is not zero
// where EM starts.
func TestStationary(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(9, 9)), 600)
	for _, shape := range shapes {
		start := testGMM(shape)
		fit := climbFrom(t, start, x)
		if g := steepest(fit, x); g > 1e-4 { // differences of values around 2000 at 1e-4 are good to 1e-9
			t.Errorf("%v: the steepest slope at convergence is %v", shape, g)
		}
		if g := steepest(start, x); g < 1 {
			t.Errorf("%v: control: the steepest slope at the start is %v", shape, g)
		}
	}
}

// steepest returns the largest slope of the log-likelihood by central
// differences, in each of the coordinates of a shape.
func steepest(m *GMM, x mat.Matrix) (most float64) {
	slope := func(move func(m *GMM, eps float64)) {
		const eps = 1e-4
		up, down := m.clone(), m.clone()
		move(up, eps)
		move(down, -eps)
		most = max(most, math.Abs(up.LogLikelihood(x)-down.LogLikelihood(x))/(2*eps))
	}
	stretch := func(s *mat.SymDense, i, j int, eps float64) {
		e := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
		e.Set(i, j, e.At(i, j)+eps)
		var p mat.Dense
		p.Product(e, s, e.T())
		*s = *sym(2, p.At(0, 0), (p.At(0, 1)+p.At(1, 0))/2, (p.At(0, 1)+p.At(1, 0))/2, p.At(1, 1))
	}
	for k := range m.Weights {
		slope(func(m *GMM, eps float64) {
			m.Weights[k] *= math.Exp(eps)
			total := sum(m.Weights)
			for c := range m.Weights {
				m.Weights[c] /= total
			}
		})
		for i := range 2 {
			slope(func(m *GMM, eps float64) { m.Means.Set(k, i, m.Means.At(k, i)+eps) })
			for j := range 2 {
				if m.Shape == Spherical || m.Shape == Diagonal && i != j {
					continue
				}
				slope(func(m *GMM, eps float64) {
					for c, s := range m.Covs {
						if m.Shape == Tied || c == k {
							stretch(s, i, j, eps)
						}
					}
				})
			}
		}
		if m.Shape == Spherical {
			slope(func(m *GMM, eps float64) { m.Covs[k].ScaleSym(1+eps, m.Covs[k]) })
		}
	}
	return most
}

// The algorithm as notes 000 print it takes N_k once, before the first E step
// (erratum 5 of their catalogue). It ends elsewhere, and much lower.
func TestStaleCounts(t *testing.T) {
	truth := &GMM{Weights: []float64{2. / 3, 1. / 3}, Means: mat.NewDense(2, 1, []float64{0, 5}), Covs: []*mat.SymDense{sym(1, 1), sym(1, 1)}}
	_, x := truth.Sample(rand.New(rand.NewPCG(1, 2)), 600)
	start := &GMM{Weights: []float64{0.5, 0.5}, Means: mat.NewDense(2, 1, []float64{1, 4}), Covs: []*mat.SymDense{sym(1, 1), sym(1, 1)}}
	right := climbFrom(t, start, x)

	stale := start.clone()
	for range 500 {
		post := stale.Posterior(x)
		next := stale.clone()
		for c := range 2 {
			const count = 300 // N_k = π_k n of the start
			g := post.ColView(c)
			mean := mat.Dot(g, x.ColView(0)) / count
			var variance float64
			for i := range 600 {
				y := x.At(i, 0) - mean
				variance += g.AtVec(i) * y * y / count
			}
			next.Means.Set(c, 0, mean)
			next.Covs[c].SetSym(0, 0, variance)
		}
		stale = next
	}
	// Four standard errors of a share of 600.
	if w := right.Weights[0]; math.Abs(w-2./3) > 4*math.Sqrt(2./9/600) {
		t.Errorf("π_1 = %v, want 2/3", w)
	}
	if a, b := right.LogLikelihood(x), stale.LogLikelihood(x); !(a > b+50) {
		t.Errorf("log-likelihood %v with fresh and %v with stale counts", a, b)
	}
}

// Shapes that can say the same thing must say it.
func TestNestedShapes(t *testing.T) {
	_, plane := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 300)
	line := mat.DenseCopyOf(plane.Slice(0, 300, 0, 1))
	start := func(d int, shape Shape) *GMM {
		m := &GMM{Weights: []float64{0.4, 0.6}, Means: mat.NewDense(2, d, nil), Shape: shape}
		for j := range d {
			m.Means.Set(0, j, 1)
		}
		for range 2 {
			m.Covs = append(m.Covs, mat.NewSymDense(d, nil))
			for j := range d {
				m.Covs[len(m.Covs)-1].SetSym(j, j, 2)
			}
		}
		return m
	}
	after := func(m *GMM, x mat.Matrix) *GMM {
		for range 5 {
			var err error
			if m, _, err = m.Step(x); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}

	// On a line, full = diagonal = spherical.
	for _, shape := range []Shape{Diagonal, Spherical} {
		sameGMM(t, "on a line "+shape.String(), after(start(1, shape), line), after(start(1, Full), line), 1e-13)
	}

	// One component: full = tied.
	one := func(shape Shape) *GMM {
		return &GMM{Weights: []float64{1}, Means: mat.NewDense(1, 2, nil), Covs: []*mat.SymDense{sym(2, 1, 0, 0, 1)}, Shape: shape}
	}
	sameGMM(t, "one component", after(one(Tied), plane), after(one(Full), plane), 1e-14)

	// Data whose components all have the same diagonal covariance, by reflections:
	// one step gives all four shapes their common answer.
	cross := mat.NewDense(8, 2, []float64{1, 0, -1, 0, 0, 1, 0, -1, 101, 0, 99, 0, 100, 1, 100, -1})
	want := start(2, Full)
	want.Means.SetRow(1, []float64{100, 0})
	var first *GMM
	for _, shape := range shapes {
		m := want.clone()
		m.Shape = shape
		m = after(m, cross)
		if first == nil {
			first = m
			sameGMM(t, "crosses", m, &GMM{Weights: []float64{0.5, 0.5}, Means: mat.NewDense(2, 2, []float64{0, 0, 100, 0}),
				Covs: []*mat.SymDense{sym(2, 0.5, 0, 0, 0.5), sym(2, 0.5, 0, 0, 0.5)}}, 1e-13)
		}
		sameGMM(t, "crosses "+shape.String(), m, first, 1e-13)
	}
}

// With covariances εI and ε → 0, EM labels as k-means does (notes 002, §7.7), and its
// means move as those of Lloyd. At ε = 0.5 they do not.
func TestKMeansLimit(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 500)
	km := &KMeans{Centers: mat.NewDense(3, 2, []float64{0, 1, 1, 0, -1, -1})}
	for _, eps := range []float64{1e-6, 0.5} {
		m := &GMM{Weights: []float64{1. / 3, 1. / 3, 1. / 3}, Means: km.Centers, Shape: Spherical,
			Covs: []*mat.SymDense{sym(2, eps, 0, 0, eps), sym(2, eps, 0, 0, eps), sym(2, eps, 0, 0, eps)}}
		if !slices.Equal(m.Assign(x), km.Assign(x)) { // equal weights and widths: the same regions for any ε
			t.Errorf("ε = %v: labels differ from those of k-means", eps)
		}
		next, _, err := m.Step(x)
		if err != nil {
			t.Fatal(err)
		}
		lloyd, _, err := km.Step(x)
		if err != nil {
			t.Fatal(err)
		}
		if same := mat.EqualApprox(next.Means, lloyd.Centers, 1e-3); same != (eps < 0.1) {
			t.Errorf("ε = %v: the means move to\n%v\nthose of k-means to\n%v", eps, mat.Formatted(next.Means), mat.Formatted(lloyd.Centers))
		}
	}
}

// Far from the origin the sums keep their digits. All values are multiples of
// 2^-20 and so is the move by 2^30, so the moved data is exactly the data moved.
func TestFarFromTheOrigin(t *testing.T) {
	const move = 1 << 30
	for _, shape := range shapes {
		_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 700)
		x.Apply(func(_, _ int, v float64) float64 { return math.Round(v*(1<<20)) / (1 << 20) }, x)
		far := mat.DenseCopyOf(x)
		far.Apply(func(_, _ int, v float64) float64 { return v + move }, far)
		m, n := testGMM(shape), testGMM(shape)
		n.Means.Apply(func(_, _ int, v float64) float64 { return v + move }, n.Means)
		for range 5 {
			var a, b float64
			var err error
			if m, a, err = m.Step(x); err != nil {
				t.Fatal(err)
			}
			if n, b, err = n.Step(far); err != nil {
				t.Fatal(err)
			}
			// A mean near 2^30 is rounded to 2^-23, some ten-millionths of the spread, and moves
			// the log density of a row by a few times that.
			if !near(a, b, 1e-6) {
				t.Errorf("%v: log-likelihood %v, and %v far out", shape, a, b)
			}
		}
		n.Means.Apply(func(_, _ int, v float64) float64 { return v - move }, n.Means)
		sameGMM(t, shape.String(), n, m, 2e-6)
	}
}

// A start far from all data takes its second moments about means that are a
// million standard deviations away, where one pass would lose twelve digits. The
// step then takes them again.
func TestFarStart(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 400)
	for _, shape := range shapes {
		start := &GMM{Weights: []float64{1}, Means: mat.NewDense(1, 2, []float64{1e6, -1e6}), Covs: []*mat.SymDense{sym(2, 1e10, 0, 0, 1e10)}, Shape: shape}
		m, _, err := start.Step(x)
		if err != nil {
			t.Fatal(err)
		}
		ones := make([]float64, 400)
		for i := range ones {
			ones[i] = 1
		}
		want := plainStep(&GMM{Weights: []float64{1}, Means: mat.NewDense(1, 2, nil), Covs: []*mat.SymDense{sym(2, 1, 0, 0, 1)}, Shape: shape}, x, ones)
		sameGMM(t, shape.String(), m, want, 1e-9) // the new mean keeps 16 − 6 digits

		// Control: a single pass is not good enough.
		gs, err := start.densities("test")
		if err != nil {
			t.Fatal(err)
		}
		data, err := newWeighted("test", x, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := newEM("test", data).sweep(gs, shape, start.Means)
		if got, want := s.scatter(0).At(0, 0), want.Covs[0].At(0, 0); shape != Spherical && math.Abs(got-want) < 1e-6*want {
			t.Errorf("%v: control: one pass gives %v, and that is right", shape, got)
		}
	}
}

// A weight of two is a row twice, a weight of zero no row.
func TestWeightsAreCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	_, x := testGMM(Full).Sample(rng, 300)
	w := make([]float64, 300)
	var rows []float64
	for i := range w {
		w[i] = float64(rng.IntN(4))
		for range int(w[i]) {
			rows = append(rows, x.RawRowView(i)...)
		}
	}
	copies := mat.NewDense(len(rows)/2, 2, rows)
	for _, shape := range shapes {
		a, la, err := testGMM(shape).StepWeighted(x, w)
		if err != nil {
			t.Fatal(err)
		}
		b, lb, err := testGMM(shape).Step(copies)
		if err != nil {
			t.Fatal(err)
		}
		if !near(la, lb, 1e-13) {
			t.Errorf("%v: log-likelihood %v weighted, %v copied", shape, la, lb)
		}
		sameGMM(t, shape.String(), a, b, 1e-13)

		opts := &GMMOptions{Start: testGMM(shape), Weights: w}
		fw, tw, err := FitGMM(nil, x, 3, opts)
		if err != nil {
			t.Fatal(err)
		}
		fc, tc, err := FitGMM(nil, copies, 3, &GMMOptions{Start: testGMM(shape)})
		if err != nil {
			t.Fatal(err)
		}
		if !near(tw.Final(), tc.Final(), 1e-9) {
			t.Errorf("%v: fits end at %v weighted, %v copied", shape, tw.Final(), tc.Final())
		}
		sameGMM(t, shape.String()+" fit", fw, fc, 1e-3) // as far as Tol 1e-9 settles a mean
	}
	bad := slices.Clone(w)
	bad[7] = -1
	if _, _, err := testGMM(Full).StepWeighted(x, bad); err == nil {
		t.Error("a negative weight passes")
	}
	if _, _, err := testGMM(Full).StepWeighted(x, w[1:]); err == nil {
		t.Error("too few weights pass")
	}
}
