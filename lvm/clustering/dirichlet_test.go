package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
)

// panicOf returns what f panics with.
func panicOf(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

// isDataPanic reports whether f panics with a *lvm.DataError.
func isDataPanic(f func()) bool {
	err, _ := panicOf(f).(error)
	e, ok := errors.AsType[*lvm.DataError](err)
	return ok && e.Problem != "" && e.Try != ""
}

// With two weights it is the beta distribution, with all α = 1 the density is
// (k−1)!, and for three weights it integrates to one: the midpoint rule over
// the triangle, whose error falls with the square of the cells for α ≥ 2.
func TestDirichletLogProb(t *testing.T) {
	d := Dirichlet{Alpha: []float64{2.5, 0.7}}
	for _, p := range []float64{0.01, 0.3, 0.99} {
		want := distuv.Beta{Alpha: 2.5, Beta: 0.7}.LogProb(p)
		if got := d.LogProb([]float64{p, 1 - p}); math.Abs(got-want) > 1e-12 {
			t.Errorf("ln p(%v) = %v, want %v", p, got, want)
		}
	}
	flat := Dirichlet{Alpha: []float64{1, 1, 1, 1}}
	if got := flat.LogProb([]float64{0, 0.5, 0.25, 0.25}); math.Abs(got-math.Log(6)) > 1e-12 {
		t.Errorf("flat on the simplex: %v, want ln 3!", got)
	}
	const cells = 400
	three := Dirichlet{Alpha: []float64{2, 3, 4}}
	var sum float64
	for i := range cells {
		for j := range cells - i {
			a, b := (float64(i)+1./3)/cells, (float64(j)+1./3)/cells
			sum += math.Exp(three.LogProb([]float64{a, b, 1 - a - b})) / (2 * cells * cells)
			if i+j < cells-1 {
				a, b = a+1./3/cells, b+1./3/cells
				sum += math.Exp(three.LogProb([]float64{a, b, 1 - a - b})) / (2 * cells * cells)
			}
		}
	}
	if math.Abs(sum-1) > 1e-4 {
		t.Errorf("the density integrates to %v", sum)
	}
	for _, off := range [][]float64{{0.5, 0.4}, {-0.1, 1.1}} {
		if got := d.LogProb(off); !math.IsInf(got, -1) {
			t.Errorf("ln p(%v) = %v off the simplex", off, got)
		}
	}
	if got := d.LogProb([]float64{1, 0}); !math.IsInf(got, 1) {
		t.Errorf("at the border where α < 1: %v, want +Inf", got)
	}
	if got := d.LogProb([]float64{0, 1}); !math.IsInf(got, -1) {
		t.Errorf("at the border where α > 1: %v, want −Inf", got)
	}
}

// Means and covariances of 40,000 draws, within five standard errors.
func TestDirichletSample(t *testing.T) {
	const n = 40000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alpha := range [][]float64{{1, 1, 1}, {0.2, 3, 10}, {30, 20, 10, 5}} {
		d := Dirichlet{Alpha: alpha}
		p, mean, cov := d.Sample(rng, n), d.Mean(), d.Cov()
		logs := d.MeanLog()
		for j := range alpha {
			var m, l, l2 float64
			for i := range n {
				m += p.At(i, j) / n
				v := math.Log(p.At(i, j))
				l, l2 = l+v/n, l2+v*v/n
			}
			if z := (m - mean[j]) / math.Sqrt(cov.At(j, j)/n); math.Abs(z) > 5 {
				t.Errorf("α = %v: mean of weight %d is %v, want %v (%.1f standard errors)", alpha, j, m, mean[j], z)
			}
			if z := (l - logs[j]) / math.Sqrt((l2-l*l)/n); math.Abs(z) > 5 {
				t.Errorf("α = %v: mean logarithm %d is %v, want %v (%.1f standard errors)", alpha, j, l, logs[j], z)
			}
			for k := range alpha {
				var c, c2 float64
				for i := range n {
					v := (p.At(i, j) - mean[j]) * (p.At(i, k) - mean[k])
					c, c2 = c+v/n, c2+v*v/n
				}
				if z := (c - cov.At(j, k)) / math.Sqrt((c2-c*c)/n); math.Abs(z) > 5 {
					t.Errorf("α = %v: covariance %d, %d is %v, want %v (%.1f standard errors)", alpha, j, k, c, cov.At(j, k), z)
				}
			}
		}
	}
}

// With α = 1e-4 every gamma variable underflows most of the time; the
// weights are then one and zeros, each weight equally often.
func TestDirichletSmallAlpha(t *testing.T) {
	const n = 3000
	d := Dirichlet{Alpha: []float64{1e-4, 1e-4, 1e-4}}
	p := d.Sample(rand.New(rand.NewPCG(3, 4)), n)
	var top [3]int
	for i := range n {
		var sum float64
		for j := range 3 {
			v := p.At(i, j)
			sum += v
			if v > 0.5 {
				top[j]++
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("weights %v sum to %v", p.RawRowView(i), sum)
		}
	}
	for j, c := range top {
		if z := (float64(c) - n/3.) / math.Sqrt(n*2./9); math.Abs(z) > 4.5 {
			t.Errorf("weight %d is the large one %d times of %d", j, c, n)
		}
	}
}

// The divergence against the mean of ln d(π)/p(π) over draws, within five
// standard errors, and zero from itself.
func TestDirichletKL(t *testing.T) {
	d, p := Dirichlet{Alpha: []float64{2, 3, 4}}, Dirichlet{Alpha: []float64{1, 5, 0.5}}
	if kl := d.KL(d); math.Abs(kl) > 1e-13 {
		t.Errorf("from itself: %v", kl)
	}
	const n = 20000
	x := d.Sample(rand.New(rand.NewPCG(5, 6)), n)
	var m, m2 float64
	for i := range n {
		v := d.LogProb(x.RawRowView(i)) - p.LogProb(x.RawRowView(i))
		m, m2 = m+v/n, m2+v*v/n
	}
	if z := (m - d.KL(p)) / math.Sqrt((m2-m*m)/n); math.Abs(z) > 5 {
		t.Errorf("divergence %v, mean over draws %v (%.1f standard errors)", d.KL(p), m, z)
	}
}

func TestDirichletRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alpha := range [][]float64{nil, {1, 0}, {1, -1}, {1, math.NaN()}, {math.Inf(1), 1}} {
		d := Dirichlet{Alpha: alpha}
		for name, f := range map[string]func(){
			"LogProb": func() { d.LogProb(alpha) },
			"Draw":    func() { d.Draw(rng) },
			"Sample":  func() { d.Sample(rng, 3) },
			"Mean":    func() { d.Mean() },
			"Cov":     func() { d.Cov() },
			"MeanLog": func() { d.MeanLog() },
			"KL":      func() { d.KL(Dirichlet{Alpha: []float64{1, 1}}) },
		} {
			if !isDataPanic(f) {
				t.Errorf("%s with α = %v: want a panic with a *lvm.DataError", name, alpha)
			}
		}
	}
	d := Dirichlet{Alpha: []float64{1, 1}}
	if s, _ := panicOf(func() { d.Draw(nil) }).(string); s == "" {
		t.Error("a nil generator: want a panic")
	}
	if err, _ := panicOf(func() { d.LogProb([]float64{1}) }).(error); err == nil {
		t.Error("one weight instead of two: want a panic with an error")
	}
	if r, _ := d.Sample(rng, 0).Dims(); r != 0 {
		t.Error("no draws")
	}
}
