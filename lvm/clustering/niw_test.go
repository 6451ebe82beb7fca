package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// randomSPD returns B Bᵀ + I/2.
func randomSPD(rng *rand.Rand, d int) *mat.SymDense {
	b := mat.NewDense(d, d, nil)
	b.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, b)
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1, b)
	for j := range d {
		s.SetSym(j, j, s.At(j, j)+0.5)
	}
	return s
}

func randomNIW(rng *rand.Rand, d int) NIW {
	p := NIW{Mean: make([]float64, d), Kappa: 0.3, Nu: float64(d) + 1.5, Scale: randomSPD(rng, d)}
	for j := range p.Mean {
		p.Mean[j] = rng.NormFloat64()
	}
	return p
}

func normals(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return 2 * rng.NormFloat64() }, x)
	return x
}

// Adding rows and taking them away again gives the factor of the sum. One
// million roundings would lose six digits; a hundred lose two.
func TestRotatePacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 2, 3, 8, 20} {
		sum := randomSPD(rng, d)
		c, _ := num.NewCholesky(sum)
		l := c.L
		var rows [][]float64
		for range 100 {
			v := make([]float64, d)
			for j := range v {
				v[j] = 3 * rng.NormFloat64()
			}
			sign := 1.0
			if len(rows) > 3 && rng.IntN(2) == 0 {
				sign, v = -1, rows[len(rows)-1]
				rows = rows[:len(rows)-1]
			} else {
				rows = append(rows, v)
			}
			sum.SymRankOne(sum, sign, mat.NewVecDense(d, v))
			rotatePacked(l, append([]float64(nil), v...), sign)
		}
		want, _ := num.NewCholesky(sum)
		a := make([]float64, num.PackedLen(d))
		for i := range d {
			for j := range i + 1 {
				a[num.PackedLen(i)+j] = sum.At(i, j)
			}
		}
		if !factorPacked(a, d) {
			t.Fatal("not positive definite")
		}
		for i := range a {
			if math.Abs(l[i]-want.L[i]) > 1e-11*max(1, math.Abs(want.L[i])) {
				t.Errorf("d = %d, element %d: %v by rotations, want %v", d, i, l[i], want.L[i])
			}
			if math.Abs(a[i]-want.L[i]) > 1e-13*max(1, math.Abs(want.L[i])) {
				t.Errorf("d = %d, element %d: %v factored, want %v", d, i, a[i], want.L[i])
			}
		}
		if got := logDetPacked(l, d); math.Abs(got-want.LogDet) > 1e-11*float64(d) {
			t.Errorf("d = %d: log determinant %v, want %v", d, got, want.LogDet)
		}
	}
	if factorPacked([]float64{1, 2, 3}, 2) {
		t.Error("a matrix with a negative eigenvalue passes")
	}
}

// The evidence is the product of the predictive densities of the rows one
// after the other, each a multivariate t of gonum's.
func TestNIWMarginal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{1, 2, 5} {
		p, x := randomNIW(rng, d), normals(rng, 7, d)
		var chain float64
		for i := range 7 {
			q := p
			if i > 0 {
				q = p.Posterior(x.Slice(0, i, 0, d))
			}
			m := q.Predictive()
			student, ok := distmv.NewStudentsT(m.Means.RawRowView(0), m.Scales[0], m.DF[0], nil)
			if !ok {
				t.Fatal("not positive definite")
			}
			row := x.RawRowView(i)
			if got, want := m.LogProb(row), student.LogProb(row); math.Abs(got-want) > 1e-10 {
				t.Errorf("d = %d: predictive %v, gonum has %v", d, got, want)
			}
			chain += m.LogProb(row)
		}
		if got := p.LogMarginal(x); math.Abs(got-chain) > 1e-10 {
			t.Errorf("d = %d: evidence %v, product of predictive densities %v", d, got, chain)
		}
		if got := p.LogMarginal(&mat.Dense{}); got != 0 {
			t.Errorf("d = %d: evidence of nothing is %v", d, got)
		}
	}
}

// In one dimension Σ is inverse gamma with shape ν/2 and scale Ψ/2: the evidence
// is an integral over μ and ln Σ, by the trapezoidal rule.
func TestNIWMarginalIntegral(t *testing.T) {
	p := NIW{Mean: []float64{0.5}, Kappa: 0.7, Nu: 3, Scale: mat.NewSymDense(1, []float64{2})}
	x := mat.NewDense(3, 1, []float64{1, -0.4, 2.2})
	var sum float64
	const h = 0.02
	for s := -6.0; s < 6; s += h {
		v := math.Exp(s)
		prior := distuv.InverseGamma{Alpha: 1.5, Beta: 1}.Prob(v) * v
		for mu := -8.0; mu < 9; mu += h {
			l := distuv.Normal{Mu: 0.5, Sigma: math.Sqrt(v / 0.7)}.LogProb(mu)
			for i := range 3 {
				l += distuv.Normal{Mu: mu, Sigma: math.Sqrt(v)}.LogProb(x.At(i, 0))
			}
			sum += prior * math.Exp(l) * h * h
		}
	}
	if got := p.LogMarginal(x); math.Abs(got-math.Log(sum)) > 1e-4 { // the tails that are cut off
		t.Errorf("evidence %v, integral %v", got, math.Log(sum))
	}
}

// Means of draws within five standard errors: E[μ] = m, E[Σ] = Ψ/(ν−d−1),
// κ E[(μ−m)(μ−m)ᵀ] = E[Σ], and E[ln |Σ⁻¹|].
func TestNIWDraw(t *testing.T) {
	const n, d = 20000, 3
	rng := rand.New(rand.NewPCG(5, 6))
	p := randomNIW(rng, d)
	p.Nu = 12
	sums := make(map[string][2]float64)
	want := map[string]float64{"ln |Σ⁻¹|": p.MeanLogDet()}
	count := func(name string, v float64) {
		s := sums[name]
		sums[name] = [2]float64{s[0] + v/n, s[1] + v*v/n}
	}
	for range n {
		mean, cov := p.Draw(rng)
		c, ok := num.NewCholesky(cov)
		if !ok {
			t.Fatal("a covariance that is not positive definite")
		}
		count("ln |Σ⁻¹|", -c.LogDet)
		for i := range d {
			name := string(rune('0' + i))
			count("μ"+name, mean[i])
			want["μ"+name] = p.Mean[i]
			for j := range i + 1 {
				name := name + string(rune('0'+j))
				count("Σ"+name, cov.At(i, j))
				count("κμμ"+name, p.Kappa*(mean[i]-p.Mean[i])*(mean[j]-p.Mean[j]))
				want["Σ"+name] = p.Scale.At(i, j) / (p.Nu - d - 1)
				want["κμμ"+name] = want["Σ"+name]
			}
		}
	}
	for name, w := range want {
		s := sums[name]
		if z := (s[0] - w) / math.Sqrt((s[1]-s[0]*s[0])/n); math.Abs(z) > 5 {
			t.Errorf("%s has the mean %v, want %v (%.1f standard errors)", name, s[0], w, z)
		}
	}
}

// Rows in one lump or one by one, near the origin or far from it, give the same posterior.
func TestNIWPosterior(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const d, far = 3, 1e6
	p, x := randomNIW(rng, d), normals(rng, 40, d)
	all, q := p.Posterior(x), p
	moved := p
	moved.Mean = append([]float64(nil), p.Mean...)
	y := mat.DenseCopyOf(x)
	y.Apply(func(_, _ int, v float64) float64 { return v + far }, y)
	for j := range d {
		moved.Mean[j] += far
	}
	moved = moved.Posterior(y)
	for i := range 40 {
		q = q.Posterior(x.Slice(i, i+1, 0, d))
	}
	for i := range d {
		if math.Abs(q.Mean[i]-all.Mean[i]) > 1e-12 || math.Abs(moved.Mean[i]-far-all.Mean[i]) > 1e-9 {
			t.Errorf("means %v, %v and %v", all.Mean, q.Mean, moved.Mean)
		}
		for j := range d {
			if v := all.Scale.At(i, j); math.Abs(q.Scale.At(i, j)-v) > 1e-10 || math.Abs(moved.Scale.At(i, j)-v) > 1e-6 {
				t.Errorf("Ψ_%d%d = %v, %v and %v", i, j, v, q.Scale.At(i, j), moved.Scale.At(i, j))
			}
		}
	}
	if q.Kappa != all.Kappa || math.Abs(q.Nu-all.Nu) > 1e-12 {
		t.Error(q.Kappa, q.Nu)
	}
}

// The evidence of rows in a cluster with known variance is a Gaussian density
// of all rows together, with covariance σ²I + σ₀²11ᵀ in every column.
func TestFixedVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	p := FixedVariance{Mean: []float64{1, -2}, PriorVariance: 4, Variance: 0.5}
	const n = 5
	x := normals(rng, n, 2)
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			cov.SetSym(i, j, 4)
		}
		cov.SetSym(i, i, 4.5)
	}
	var want, chain float64
	for j := range 2 {
		mu := make([]float64, n)
		for i := range mu {
			mu[i] = p.Mean[j]
		}
		normal, _ := distmv.NewNormal(mu, cov, nil)
		want += normal.LogProb(mat.Col(nil, j, x))
	}
	for i := range n {
		m := p.nextRow(&mat.Dense{})
		if i > 0 {
			m = p.nextRow(x.Slice(0, i, 0, 2))
		}
		chain += m.LogProb(x.RawRowView(i))
	}
	if got := p.LogMarginal(x); math.Abs(got-want) > 1e-11 || math.Abs(chain-want) > 1e-11 {
		t.Errorf("evidence %v, row by row %v, want %v", got, chain, want)
	}
}

func TestPriorsRefuse(t *testing.T) {
	good := NIW{Mean: []float64{0, 0}, Kappa: 1, Nu: 4, Scale: mat.NewSymDense(2, []float64{1, 0, 0, 1})}
	if err := good.Check(2); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(p *NIW){
		"κ = 0":            func(p *NIW) { p.Kappa = 0 },
		"ν = d−1":          func(p *NIW) { p.Nu = 1 },
		"ν = NaN":          func(p *NIW) { p.Nu = math.NaN() },
		"an infinite mean": func(p *NIW) { p.Mean = []float64{0, math.Inf(1)} },
		"Ψ not positive":   func(p *NIW) { p.Scale = mat.NewSymDense(2, []float64{1, 2, 2, 1}) },
		"Ψ with a NaN":     func(p *NIW) { p.Scale = mat.NewSymDense(2, []float64{math.NaN(), 0, 0, 1}) },
	} {
		p := good
		spoil(&p)
		var data *lvm.DataError
		if err := p.Check(2); !errors.As(err, &data) || data.Try == "" {
			t.Errorf("%s: %v", name, err)
		}
		if !isDataPanic(func() { p.LogMarginal(mat.NewDense(1, 2, nil)) }) {
			t.Errorf("%s: LogMarginal goes on", name)
		}
	}
	var shape *lvm.ShapeError
	if err := good.Check(3); !errors.As(err, &shape) || shape.Got != 2 || shape.Want != 3 {
		t.Error(err)
	}
	if !isDataPanic(func() { NIW{}.Predictive() }) {
		t.Error("the zero value predicts")
	}
	good.Scale = nil
	if err := good.Check(2); !errors.As(err, &shape) {
		t.Error(err)
	}
	for _, p := range []FixedVariance{{Mean: []float64{0}, Variance: 1}, {Mean: []float64{0}, PriorVariance: 1}, {Mean: []float64{math.NaN()}, PriorVariance: 1, Variance: 1}} {
		var data *lvm.DataError
		if err := p.Check(1); !errors.As(err, &data) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := (FixedVariance{Mean: []float64{0}, PriorVariance: 1, Variance: 1}).Check(2); !errors.As(err, &shape) {
		t.Error(err)
	}
	if _, err := DataNIW(mat.NewDense(3, 2, []float64{1, 1, 2, 2, 3, 3})); err == nil {
		t.Error("columns that determine each other pass")
	}
	// d different rows vary in d−1 directions, whatever rounding says.
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := 2 + rng.IntN(7)
		x, half := mat.NewDense(2*d, d, nil), normals(rng, d, d)
		x.Stack(half, half)
		if _, err := DataNIW(x); err == nil {
			t.Errorf("seed %d: %d different rows of %d columns pass", seed, d, d)
		}
	}
}
