package clustering

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// plainStep is Step as the equations stand: all responsibilities first, then
// every sum in a pass of its own.
func plainStep(m *GMM, x *mat.Dense, w []float64) *GMM {
	n, _ := x.Dims()
	k := len(m.Weights)
	gamma := mat.NewDense(n, k, nil)
	for i := range n {
		p := plainDensities(m, x.RawRowView(i))
		for c := range k {
			gamma.Set(i, c, w[i]*p[c]/sum(p))
		}
	}
	return plainMStep(m, x, gamma)
}

// plainMStep is the M step, of the shape of m and without a floor.
func plainMStep(m *GMM, x, gamma *mat.Dense) *GMM {
	n, d := x.Dims()
	_, k := gamma.Dims()
	next := &GMM{Weights: make([]float64, k), Means: mat.NewDense(k, d, nil), Shape: m.Shape, Floor: m.Floor}
	for c := range k {
		g := gamma.ColView(c)
		nk := mat.Sum(g)
		next.Weights[c] = nk / mat.Sum(gamma)
		mean := next.Means.RowView(c).(*mat.VecDense)
		mean.MulVec(x.T(), g)
		mean.ScaleVec(1/nk, mean)
		cov := mat.NewSymDense(d, nil)
		for i := range n {
			y := mat.NewVecDense(d, nil)
			y.SubVec(x.RowView(i), mean)
			cov.SymRankOne(cov, g.AtVec(i)/nk, y)
		}
		next.Covs = append(next.Covs, cov)
	}
	pooled := mat.NewSymDense(d, nil)
	for c, s := range next.Covs {
		var scaled mat.SymDense
		scaled.ScaleSym(next.Weights[c], s)
		pooled.AddSym(pooled, &scaled)
	}
	for c, s := range next.Covs {
		switch m.Shape {
		case Tied:
			next.Covs[c] = pooled
		case Diagonal, Spherical:
			diag := mat.NewSymDense(d, nil)
			for j := range d {
				diag.SetSym(j, j, s.At(j, j))
				if m.Shape == Spherical {
					diag.SetSym(j, j, mat.Trace(s)/float64(d))
				}
			}
			next.Covs[c] = diag
		}
	}
	return next
}

// sameGMM reports the first parameter in which two mixtures differ by more
// than tol; means and covariances relative to the spread of got.
func sameGMM(t *testing.T, what string, got, want *GMM, tol float64) {
	t.Helper()
	_, d := want.Means.Dims()
	for c, w := range want.Weights {
		if math.Abs(got.Weights[c]-w) > tol {
			t.Errorf("%s: π_%d = %v, want %v", what, c, got.Weights[c], w)
			return
		}
		for i := range d {
			sd := math.Sqrt(want.Covs[c].At(i, i))
			if g, w := got.Means.At(c, i), want.Means.At(c, i); !(math.Abs(g-w) <= tol*sd+1e-15*math.Abs(w)) {
				t.Errorf("%s: μ_%d[%d] = %v, want %v", what, c, i, g, w)
				return
			}
			for j := range d {
				sdj := math.Sqrt(want.Covs[c].At(j, j))
				if g, w := got.Covs[c].At(i, j), want.Covs[c].At(i, j); !(math.Abs(g-w) <= tol*sd*sdj) {
					t.Errorf("%s: Σ_%d[%d,%d] = %v, want %v", what, c, i, j, g, w)
					return
				}
			}
		}
	}
}

// Ten steps by the obvious algorithm, with and without weights. Errors of 1e-15
// in a step grow by less than ten in the next ones.
func TestStepPlain(t *testing.T) {
	for _, shape := range shapes {
		rng := rand.New(rand.NewPCG(5, 6))
		_, x := testGMM(Full).Sample(rng, 402)
		w := make([]float64, 402)
		for i := range w {
			w[i] = float64(i % 4)
		}
		ones := make([]float64, 402)
		for i := range ones {
			ones[i] = 1
		}
		fast, fastW := testGMM(shape), testGMM(shape)
		slow, slowW := testGMM(shape), testGMM(shape)
		for range 10 {
			slow, slowW = plainStep(slow, x, ones), plainStep(slowW, x, w)
			var l, want float64
			var err error
			want = fast.LogLikelihood(x)
			if fast, l, err = fast.Step(x); err != nil {
				t.Fatal(err)
			}
			if !near(l, want, 1e-13) {
				t.Errorf("%v: objective %v, want the log-likelihood %v", shape, l, want)
			}
			if fastW, _, err = fastW.StepWeighted(x, w); err != nil {
				t.Fatal(err)
			}
		}
		sameGMM(t, shape.String(), fast, slow, 1e-12)
		sameGMM(t, shape.String()+" weighted", fastW, slowW, 1e-12)
	}
}

// With one component a single step gives the mean and the covariance of the
// data, from anywhere (notes 002, entry 65).
func TestOneComponent(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 777)
	start := &GMM{Weights: []float64{1}, Means: mat.NewDense(1, 2, []float64{5, -3}), Covs: []*mat.SymDense{sym(2, 7, 0, 0, 7)}}
	m, _, err := start.Step(x)
	if err != nil {
		t.Fatal(err)
	}
	var want mat.SymDense
	covariance(&want, x)
	sameGMM(t, "one component", m, &GMM{Weights: []float64{1}, Means: columnMeans(x), Covs: []*mat.SymDense{&want}}, 1e-13)
	again, _, err := m.Step(x)
	if err != nil {
		t.Fatal(err)
	}
	sameGMM(t, "one component again", again, m, 1e-14)
}

func columnMeans(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	m := mat.NewDense(1, d, nil)
	for i := range n {
		m.Add(m, x.Slice(i, i+1, 0, d))
	}
	m.Scale(1/float64(n), m)
	return m
}

// covariance is the maximum-likelihood one, divided by n.
func covariance(dst *mat.SymDense, x *mat.Dense) {
	n, d := x.Dims()
	mean := columnMeans(x)
	*dst = *mat.NewSymDense(d, nil)
	for i := range n {
		y := mat.NewVecDense(d, nil)
		y.SubVec(x.RowView(i), mean.RowView(0))
		dst.SymRankOne(dst, 1/float64(n), y)
	}
}

// A step allocates for its workers, its blocks and the next mixture, not for its
// rows. And all that a fit of ten steps allocates, garbage included, is less than
// the data: together they take less than twice the data. (The pool of a kernel is
// emptied at times, and under the race detector often.)
func TestStepMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates for itself")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // goroutines allocate too
	const n, d = 32768, 8
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, d, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	for _, shape := range shapes {
		m := &GMM{Shape: shape, Means: mat.NewDense(8, d, nil)}
		for c := range 8 {
			m.Weights = append(m.Weights, 1./8)
			m.Covs = append(m.Covs, mat.NewSymDense(d, nil))
			for j := range d {
				m.Means.Set(c, j, rng.NormFloat64())
				m.Covs[c].SetSym(j, j, 1)
			}
		}
		allocs := testing.AllocsPerRun(3, func() {
			if _, _, err := m.Step(x); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > n/64 {
			t.Errorf("%v: %v allocations for %d rows", shape, allocs, n)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := FitGMM(nil, x, 8, &GMMOptions{Options: lvm.Options{MaxIter: 10, Tol: -1}, Start: m}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got, data := after.TotalAlloc-before.TotalAlloc, uint64(8*n*d); got > data {
			t.Errorf("%v: %d bytes allocated for %d bytes of data", shape, got, data)
		}
	}
}
