package clustering

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

var shapes = []Shape{Full, Tied, Diagonal, Spherical}

// testGMM returns a mixture of three in two dimensions.
func testGMM(shape Shape) *GMM {
	m := &GMM{Weights: []float64{0.5, 0.3, 0.2}, Means: mat.NewDense(3, 2, []float64{0, 0, 3, 1, -1, 4}), Shape: shape}
	switch shape {
	case Full:
		m.Covs = []*mat.SymDense{sym(2, 1, 0.3, 0.3, 0.5), sym(2, 2, -1.2, -1.2, 1), sym(2, 0.2, 0, 0, 0.2)}
	case Tied:
		m.Covs = []*mat.SymDense{sym(2, 1, 0.6, 0.6, 2), sym(2, 1, 0.6, 0.6, 2), sym(2, 1, 0.6, 0.6, 2)}
	case Diagonal:
		m.Covs = []*mat.SymDense{sym(2, 1, 0, 0, 0.5), sym(2, 2, 0, 0, 1), sym(2, 0.2, 0, 0, 3)}
	case Spherical:
		m.Covs = []*mat.SymDense{sym(2, 1, 0, 0, 1), sym(2, 2, 0, 0, 2), sym(2, 0.2, 0, 0, 0.2)}
	}
	return m
}

func sym(d int, v ...float64) *mat.SymDense { return mat.NewSymDense(d, v) }

// plainDensities is π_k N(x | μ_k, Σ_k) as the formula stands, with determinant and
// inverse.
func plainDensities(m *GMM, x []float64) []float64 {
	p := make([]float64, len(m.Weights))
	for k, w := range m.Weights {
		var inv mat.Dense
		if err := inv.Inverse(m.Covs[k]); err != nil {
			panic(err)
		}
		y := mat.NewVecDense(len(x), nil)
		y.SubVec(mat.NewVecDense(len(x), x), m.Means.RowView(k))
		var scaled mat.Dense
		scaled.Scale(2*math.Pi, m.Covs[k])
		p[k] = w / math.Sqrt(mat.Det(&scaled)) * math.Exp(-0.5*mat.Inner(y, &inv, y))
	}
	return p
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// near reports whether a and b agree to tol, relative to the larger of them and 1.
func near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b))
}

// Notes 000, A23: two unit Gaussians at 0 and 2.
func TestPosteriorOfTheNotes(t *testing.T) {
	m := &GMM{Weights: []float64{0.5, 0.5}, Means: mat.NewDense(2, 1, []float64{0, 2}), Covs: []*mat.SymDense{sym(1, 1), sym(1, 1)}}
	post := m.Posterior(mat.NewDense(3, 1, []float64{0, 0.5, 1}))
	for i, want := range []float64{0.880797, 0.731059, 0.5} {
		if got := post.At(i, 0); math.Abs(got-want) > 5e-7 { // six printed digits
			t.Errorf("row %d: γ_1 = %v, want %v", i, got, want)
		}
	}
	if got := m.LogProb([]float64{0.5}); math.Abs(got+1.423824) > 5e-7 { // notes 004, A17
		t.Errorf("log p(0.5) = %v, want −1.423824", got)
	}
}

// Bayes' rule by enumeration of the components, with the inverse and the
// determinant that the library avoids. Both sides round a few dozen times.
func TestPosteriorByEnumeration(t *testing.T) {
	for _, shape := range shapes {
		m := testGMM(shape)
		_, x := m.Sample(rand.New(rand.NewPCG(1, 2)), 301)
		post, z := m.Posterior(x), m.Assign(x)
		var logLik float64
		for i := range z {
			p := plainDensities(m, x.RawRowView(i))
			total := sum(p)
			logLik += math.Log(total)
			if got := m.LogProb(x.RawRowView(i)); !near(got, math.Log(total), 1e-13) {
				t.Errorf("%v: log p(x_%d) = %v, want %v", shape, i, got, math.Log(total))
			}
			for k := range p {
				if got := post.At(i, k); math.Abs(got-p[k]/total) > 1e-13 {
					t.Errorf("%v: γ_%d,%d = %v, want %v", shape, i, k, got, p[k]/total)
				}
			}
			if p[z[i]] != slices.Max(p) {
				t.Errorf("%v: row %d assigned to %d of %v", shape, i, z[i], p)
			}
		}
		if got := m.LogLikelihood(x); !near(got, logLik, 1e-13) {
			t.Errorf("%v: log-likelihood %v, want %v", shape, got, logLik)
		}
	}
}

// A component of weight zero takes nothing, and the others do not notice it.
func TestZeroWeight(t *testing.T) {
	m := testGMM(Full)
	m.Weights = []float64{0.6, 0.4, 0}
	z, x := m.Sample(rand.New(rand.NewPCG(1, 2)), 500)
	if slices.Contains(z, 2) {
		t.Error("a row came from the component of weight zero")
	}
	two := &GMM{Weights: m.Weights[:2], Means: m.Means.Slice(0, 2, 0, 2).(*mat.Dense), Covs: m.Covs[:2]}
	if a, b := m.LogLikelihood(x), two.LogLikelihood(x); a != b {
		t.Errorf("log-likelihood %v with and %v without it", a, b)
	}
}

// Rows so far out that all densities, or even the squared distances, are out
// of range still belong somewhere: to the widest component in that direction.
func TestFarOutliers(t *testing.T) {
	for _, shape := range shapes {
		m := testGMM(shape)
		x := mat.NewDense(5, 2, []float64{1e3, -2e3, -1e8, 1e9, 1e200, 1e200, -math.MaxFloat64, 0, 3, 1})
		post, z := m.Posterior(x), m.Assign(x)
		for i := range z {
			if s := sum(post.RawRowView(i)); !near(s, 1, 1e-15) {
				t.Errorf("%v: row %d: posterior %v sums to %v", shape, i, post.RawRowView(i), s)
			}
		}
		if shape == Spherical && !slices.Equal(z, []int{1, 1, 1, 1, 1}) {
			t.Errorf("assigned to %v, want all to the widest", z)
		}
		if got := m.LogProb(x.RawRowView(2)); !math.IsInf(got, -1) {
			t.Errorf("%v: log density %v at 1e200", shape, got)
		}
	}
}

func TestRowsWithNaN(t *testing.T) {
	for _, shape := range shapes {
		m := testGMM(shape)
		x := mat.NewDense(4, 2, []float64{0, 0, math.NaN(), 1, 2, math.Inf(1), math.Inf(-1), math.NaN()})
		post, z := m.Posterior(x), m.Assign(x)
		if !slices.Equal(z[1:], []int{-1, -1, -1}) || z[0] != 0 {
			t.Errorf("%v: assigned to %v", shape, z)
		}
		for i := range z {
			for _, p := range post.RawRowView(i) {
				if math.IsNaN(p) != (i > 0) {
					t.Errorf("%v: row %d: posterior %v", shape, i, post.RawRowView(i))
				}
			}
		}
		if l := m.LogProb(x.RawRowView(1)); !math.IsNaN(l) {
			t.Errorf("%v: log density %v of a row with NaN", shape, l)
		}
		if l := m.LogLikelihood(x); !math.IsNaN(l) {
			t.Errorf("%v: log-likelihood %v with a NaN in the data", shape, l)
		}
	}
}

// Frequencies, means and covariances of a large sample, within 4.5 standard
// errors: with 18 numbers a right sampler fails one seed in 8,000.
func TestSample(t *testing.T) {
	const n = 40000
	for _, shape := range shapes {
		m := testGMM(shape)
		z, x := m.Sample(rand.New(rand.NewPCG(3, 4)), n)
		for k, w := range m.Weights {
			var nk float64
			first, second := mat.NewVecDense(2, nil), mat.NewSymDense(2, nil)
			for i, zi := range z {
				if zi == k {
					nk++
					y := mat.NewVecDense(2, nil)
					y.SubVec(x.RowView(i), m.Means.RowView(k))
					first.AddVec(first, y)
					second.SymRankOne(second, 1, y)
				}
			}
			if se := math.Sqrt(w * (1 - w) / n); math.Abs(nk/n-w) > 4.5*se {
				t.Errorf("%v: component %d has %v of the rows, want %v ± %v", shape, k, nk/n, w, se)
			}
			for i := range 2 {
				if se := math.Sqrt(m.Covs[k].At(i, i) / nk); math.Abs(first.AtVec(i)/nk) > 4.5*se {
					t.Errorf("%v: mean of component %d is off by %v, standard error %v", shape, k, first.AtVec(i)/nk, se)
				}
				for j := range i + 1 {
					c := m.Covs[k].At(i, j)
					se := math.Sqrt((m.Covs[k].At(i, i)*m.Covs[k].At(j, j) + c*c) / nk) // Wishart
					if got := second.At(i, j) / nk; math.Abs(got-c) > 4.5*se {
						t.Errorf("%v: Σ_%d[%d,%d] is %v, want %v ± %v", shape, k, i, j, got, c, se)
					}
				}
			}
		}
	}
	if z, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 0); len(z) != 0 || !x.IsEmpty() {
		t.Error("a sample of no rows is not empty")
	}
}

// In units c times as small all values are c times as large, and each log
// density falls by d ln c: it is positive for small enough units.
func TestLogLikelihoodUnits(t *testing.T) {
	for _, shape := range shapes {
		m := testGMM(shape)
		_, x := m.Sample(rand.New(rand.NewPCG(1, 2)), 100)
		const c = 1e-3
		small, want := m.clone(), m.LogLikelihood(x)-100*2*math.Log(c)
		small.Means.Scale(c, m.Means)
		for k := range small.Covs {
			small.Covs[k].ScaleSym(c*c, m.Covs[k])
		}
		if shape == Spherical { // keep both variances the same number
			for _, s := range small.Covs {
				s.SetSym(1, 1, s.At(0, 0))
			}
		}
		x.Scale(c, x)
		if got := small.LogLikelihood(x); !near(got, want, 1e-12) || got < 0 {
			t.Errorf("%v: log-likelihood %v, want %v", shape, got, want)
		}
	}
}

func TestCriteria(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		free  int
	}{{Full, 2 + 6 + 9}, {Tied, 2 + 6 + 3}, {Diagonal, 2 + 6 + 6}, {Spherical, 2 + 6 + 3}} {
		m := testGMM(c.shape)
		if got := m.NumParams(); got != c.free {
			t.Errorf("%v: %d parameters, want %d", c.shape, got, c.free)
		}
		_, x := m.Sample(rand.New(rand.NewPCG(1, 2)), 50)
		var logLik, complete float64
		for i := range 50 {
			p := plainDensities(m, x.RawRowView(i))
			logLik += math.Log(sum(p))
			complete += math.Log(slices.Max(p))
		}
		nu := float64(c.free)
		for _, v := range []struct {
			name      string
			got, want float64
		}{
			{"AIC", m.AIC(x), -2*logLik + 2*nu},
			{"BIC", m.BIC(x), -2*logLik + nu*math.Log(50)},
			{"ICL", m.ICL(x), -2*complete + nu*math.Log(50)},
		} {
			if !near(v.got, v.want, 1e-13) {
				t.Errorf("%v: %s = %v, want %v", c.shape, v.name, v.got, v.want)
			}
		}
	}
}

// Every method refuses a mixture that is none, with an error that can be
// matched and that says which part is wrong.
func TestInvalidModels(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{0, 1, 2, 3})
	cases := []struct {
		name  string
		spoil func(m *GMM)
		says  string
	}{
		{"empty", func(m *GMM) { *m = GMM{} }, "no components"},
		{"no means", func(m *GMM) { m.Means = nil }, "no components"},
		{"fewer means", func(m *GMM) { m.Means = mat.NewDense(2, 2, nil) }, "rows of Means"},
		{"fewer covariances", func(m *GMM) { m.Covs = m.Covs[:2] }, "Covs"},
		{"missing covariance", func(m *GMM) { m.Covs[1] = nil }, "Covs[1]"},
		{"wide covariance", func(m *GMM) { m.Covs[1] = mat.NewSymDense(3, nil) }, "Covs[1]"},
		{"weights over one", func(m *GMM) { m.Weights[0] = 0.6 }, "sum to 1.1"},
		{"negative weight", func(m *GMM) { m.Weights = []float64{-0.5, 1, 0.5} }, "component 0"},
		{"NaN weight", func(m *GMM) { m.Weights[2] = math.NaN() }, "component 2"},
		{"infinite mean", func(m *GMM) { m.Means.Set(1, 1, math.Inf(1)) }, "component 1"},
		{"NaN covariance", func(m *GMM) { m.Covs[2].SetSym(0, 1, math.NaN()) }, "component 2"},
		{"zero variance", func(m *GMM) { m.Covs[0].SetSym(0, 0, 0) }, "component 0"},
		{"indefinite", func(m *GMM) { m.Covs[1].SetSym(0, 1, 5) }, "component 1 has a covariance that is not positive definite"},
		{"singular", func(m *GMM) { m.Covs[1] = sym(2, 1, 3, 3, 9) }, "component 1 has a covariance that is not positive definite"},
		{"not tied", func(m *GMM) { m.Shape = Tied }, "component 1"},
		{"not diagonal", func(m *GMM) { m.Shape = Diagonal }, "component 0"},
		{"not spherical", func(m *GMM) { m.Covs[0].SetSym(0, 1, 0); m.Shape = Spherical }, "component 0"},
		{"no shape", func(m *GMM) { m.Shape = 7 }, "Shape(7)"},
		{"narrow floor", func(m *GMM) { m.Floor = []float64{1} }, "Floor"},
		{"zero floor", func(m *GMM) { m.Floor = []float64{1, 0} }, "column 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := testGMM(Full)
			c.spoil(m)
			next, _, err := m.Step(x)
			wantTyped(t, "Step", "clustering.GMM.Step: ", err, c.says)
			if next != nil {
				t.Error("Step returned a mixture with its error")
			}
			for name, f := range map[string]func(){
				"LogProb":       func() { m.LogProb([]float64{0, 1}) },
				"LogLikelihood": func() { m.LogLikelihood(x) },
				"Posterior":     func() { m.Posterior(x) },
				"Assign":        func() { m.Assign(x) },
				"BIC":           func() { m.BIC(x) },
				"ICL":           func() { m.ICL(x) },
				"Sample":        func() { m.Sample(rand.New(rand.NewPCG(1, 2)), 3) },
			} {
				wantTyped(t, name, "clustering: GMM.", recovered(f), c.says)
			}
		})
	}
}

func TestWrongWidth(t *testing.T) {
	m := testGMM(Full)
	wide := mat.NewDense(5, 3, nil)
	var shape *lvm.ShapeError
	if _, _, err := m.Step(wide); !errors.As(err, &shape) || shape.Got != 3 || shape.Want != 2 {
		t.Errorf("Step: %v", err)
	}
	for name, f := range map[string]func(){
		"LogProb":       func() { m.LogProb([]float64{1}) },
		"LogProb empty": func() { m.LogProb(nil) },
		"LogLikelihood": func() { m.LogLikelihood(wide) },
		"Posterior":     func() { m.Posterior(wide) },
		"Assign":        func() { m.Assign(wide) },
	} {
		if err := recovered(f); !errors.As(err, &shape) || !strings.HasPrefix(err.Error(), "clustering: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// recovered returns the error that f panics with.
func recovered(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(error); !ok {
				err = fmt.Errorf("not an error: %v", r)
			}
		}
	}()
	f()
	return nil
}

func wantTyped(t *testing.T, name, prefix string, err error, says string) {
	t.Helper()
	var data *lvm.DataError
	var shape *lvm.ShapeError
	var degenerate *lvm.DegenerateError
	if !errors.As(err, &data) && !errors.As(err, &shape) && !errors.As(err, &degenerate) {
		t.Errorf("%s: %T %v, want a typed error", name, err, err)
		return
	}
	if !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %q, want it to start with %q and to contain %q", name, err, prefix, says)
	}
}
