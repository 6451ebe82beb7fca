package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/sampling"
)

// roundModel is FixedVariance with its means kept: conjugate, so that the
// partitions have known probabilities. Its first mistake, if any, is to update
// with a prior that is too wide.
type roundModel struct {
	FixedVariance
	mistake float64
}

func (m roundModel) Draw(rng *rand.Rand) [2]float64 {
	sd := math.Sqrt(m.PriorVariance)
	return [2]float64{m.Mean[0] + sd*rng.NormFloat64(), m.Mean[1] + sd*rng.NormFloat64()}
}

func (m roundModel) LogProb(theta [2]float64, x []float64) float64 {
	a, b := x[0]-theta[0], x[1]-theta[1]
	return -math.Log(2*math.Pi*m.Variance) - 0.5*(a*a+b*b)/m.Variance
}

func (m roundModel) Update(rng *rand.Rand, theta [2]float64, rows [][]float64) [2]float64 {
	prior := m.PriorVariance * (1 + m.mistake)
	v := 1 / (1/prior + float64(len(rows))/m.Variance)
	for j := range theta {
		sum := m.Mean[j] / prior
		for _, row := range rows {
			sum += row[j] / m.Variance
		}
		theta[j] = v*sum + math.Sqrt(v)*rng.NormFloat64()
	}
	return theta
}

// paramPartitions returns the partitions that a chain visits.
func paramPartitions[T any](t *testing.T, g *AuxiliaryGibbs[T], n, draws int, alpha float64) []string {
	t.Helper()
	chain, err := sampling.Run(rand.New(rand.NewPCG(1, 2)), g, DPParams[T]{Z: make([]int, n), Alpha: alpha}, draws, &sampling.RunOptions{BurnIn: 100})
	if err != nil {
		t.Fatal(err)
	}
	visited := make([]string, draws)
	for i, s := range chain.States {
		visited[i] = key(Canonical(s.Z))
	}
	return visited
}

// The 21,147 partitions of nine rows, for one auxiliary cluster and for five;
// parameters updated under another prior must fail.
func TestAuxiliaryGibbsEnumerated(t *testing.T) {
	x, alpha := nine(), 1.5
	prior := FixedVariance{Mean: []float64{0, 1}, PriorVariance: 3, Variance: 0.6}
	p := posterior(&DPGibbs{X: x, Prior: prior}, alpha)
	for _, m := range []int{1, 5} {
		draws := paramPartitions(t, &AuxiliaryGibbs[[2]float64]{X: x, Model: roundModel{prior, 0}, Auxiliary: m}, 9, 60000, alpha)
		if far := compare(t, draws, p); far > 4.5 {
			t.Errorf("m = %d: %.1f standard errors away from the posterior", m, far)
		}
	}
	draws := paramPartitions(t, &AuxiliaryGibbs[[2]float64]{X: x, Model: roundModel{prior, 1}}, 9, 60000, alpha)
	if far := compare(t, draws, p); far < 4.5 {
		t.Errorf("with a wrong update only %.1f standard errors away", far)
	}
}

// enumerated returns that of all partitions of n rows, from the evidence of a
// cluster of rows.
func enumerated(n int, alpha float64, evidence func(rows []int) float64) map[string]float64 {
	states := make(map[string]float64)
	for z := range Partitions(n) {
		l := CRP{Alpha: alpha}.LogProb(z)
		for k := range NumClusters(z) {
			var rows []int
			for i := range z {
				if z[i] == k {
					rows = append(rows, i)
				}
			}
			l += evidence(rows)
		}
		states[key(z)] = l
	}
	return exact(states)
}

// Counts under a prior that is not conjugate: evidences of all sets of five
// rows by integrals over the log rate, and from these the 52 partitions.
func TestPoissonLogNormalEnumerated(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{0, 2, 1, 7, 9})
	model := PoissonLogNormal{Mean: []float64{0.8}, SD: []float64{1}}
	p := enumerated(5, 2, func(rows []int) float64 {
		const h = 0.01
		var sum float64
		for t := -9.0; t < 7; t += h {
			l := distuv.Normal{Mu: 0.8, Sigma: 1}.LogProb(t)
			for _, i := range rows {
				l += distuv.Poisson{Lambda: math.Exp(t)}.LogProb(x.At(i, 0))
			}
			sum += h * math.Exp(l)
		}
		return math.Log(sum)
	})
	draws := paramPartitions(t, &AuxiliaryGibbs[[]float64]{X: x, Model: model}, 5, 40000, 2)
	if far := compare(t, draws, p); far > 4.5 {
		t.Errorf("%.1f standard errors away from the posterior", far)
	}
	model.SD[0] = 1.3
	draws = paramPartitions(t, &AuxiliaryGibbs[[]float64]{X: x, Model: model}, 5, 40000, 2)
	if far := compare(t, draws, p); far < 4.5 {
		t.Errorf("with another prior only %.1f standard errors away", far)
	}
}

// The same for means and precisions with independent priors. Given the precision
// the rows are jointly normal with a covariance of two eigenvalues; over the
// precision goes the integral.
func TestDiagonalGaussianEnumerated(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{-1.2, -0.9, -1.4, 0.3, 1.8, 1.1})
	model := DiagonalGaussian{Mean: []float64{0.2}, SD: []float64{1.1}, Shape: 2.5, Rate: []float64{0.6}}
	p := enumerated(6, 1.3, func(rows []int) float64 {
		const h = 0.01
		n := float64(len(rows))
		var sum, mean, square float64
		for _, i := range rows {
			mean += x.At(i, 0) / n
		}
		for _, i := range rows {
			square += math.Pow(x.At(i, 0)-mean, 2)
		}
		for u := -9.0; u < 6; u += h {
			tau := math.Exp(u)
			wide := 1/tau + n*1.1*1.1 // the eigenvalue of the mean; the others are 1/τ
			l := distuv.Gamma{Alpha: 2.5, Beta: 0.6}.LogProb(tau) + u - 0.5*n*math.Log(2*math.Pi) +
				0.5*(n-1)*u - 0.5*tau*square - 0.5*math.Log(wide) - 0.5*n*(mean-0.2)*(mean-0.2)/wide
			sum += h * math.Exp(l)
		}
		return math.Log(sum)
	})
	draws := paramPartitions(t, &AuxiliaryGibbs[DiagonalParams]{X: x, Model: model}, 6, 40000, 1.3)
	if far := compare(t, draws, p); far > 4.5 {
		t.Errorf("%.1f standard errors away from the posterior", far)
	}
	model.Rate[0] = 0.8
	draws = paramPartitions(t, &AuxiliaryGibbs[DiagonalParams]{X: x, Model: model}, 6, 40000, 1.3)
	if far := compare(t, draws, p); far < 4.5 {
		t.Errorf("with another prior only %.1f standard errors away", far)
	}
}

// The joint distribution test of Geweke (2004) for the models that come with
// the package, α redrawn.
func TestGewekeAuxiliary(t *testing.T) {
	gaussian := DiagonalGaussian{Mean: []float64{0.5}, SD: []float64{1.5}, Shape: 3, Rate: []float64{2}}
	geweke(t, "Gaussian", gaussian, gaussian, func(rng *rand.Rand, theta DiagonalParams) float64 {
		return theta.Mean[0] + rng.NormFloat64()/math.Sqrt(theta.Precision[0])
	}, func(theta DiagonalParams) float64 { return math.Tanh(theta.Mean[0]) * theta.Precision[0] }, true)
	other := gaussian
	other.Shape = 3.4
	geweke(t, "Gaussian with another prior", gaussian, other, func(rng *rand.Rand, theta DiagonalParams) float64 {
		return theta.Mean[0] + rng.NormFloat64()/math.Sqrt(theta.Precision[0])
	}, func(theta DiagonalParams) float64 { return math.Tanh(theta.Mean[0]) * theta.Precision[0] }, false)
	counts := PoissonLogNormal{Mean: []float64{0.5}, SD: []float64{0.8}}
	geweke(t, "counts", counts, counts, func(rng *rand.Rand, theta []float64) float64 {
		return distuv.Poisson{Lambda: math.Exp(theta[0]), Src: rng}.Rand()
	}, func(theta []float64) float64 { return theta[0] }, true)
}

// geweke compares draws from a model with a chain that alternates the sampler,
// which is told another model perhaps, with draws of the rows.
func geweke[T any](t *testing.T, name string, truth, told ClusterModel[T], row func(*rand.Rand, T) float64, f func(T) float64, right bool) {
	t.Helper()
	const n, draws = 5, 30000
	alphaPrior := GammaPrior{3, 2}
	rng := rand.New(rand.NewPCG(3, 4))
	prior := func() DPParams[T] {
		a := distuv.Gamma{Alpha: 3, Beta: 2, Src: rng}.Rand()
		s := DPParams[T]{Z: CRP{Alpha: a}.Sample(rng, n), Alpha: a}
		for range NumClusters(s.Z) {
			s.Theta = append(s.Theta, truth.Draw(rng))
		}
		return s
	}
	data := func(s DPParams[T]) *mat.Dense {
		x := mat.NewDense(n, 1, nil)
		for i, l := range s.Z {
			x.Set(i, 0, row(rng, s.Theta[l]))
		}
		return x
	}
	functions := func(s DPParams[T], x *mat.Dense) []float64 {
		a, b := math.Tanh(x.At(0, 0)/3), math.Tanh(x.At(1, 0)/3)
		v := f(s.Theta[s.Z[0]])
		return []float64{float64(NumClusters(s.Z)), a, a * b, s.Alpha, s.Alpha * float64(NumClusters(s.Z)), v, v * a, v * b}
	}
	var chain, free [8][]float64
	s := prior()
	x := data(s)
	for range draws {
		next, info := (&AuxiliaryGibbs[T]{X: x, Model: told, Auxiliary: 2, AlphaPrior: &alphaPrior}).Step(rng, s)
		if info.Err != nil {
			t.Fatal(info.Err)
		}
		s = next.Clone()
		x = data(s)
		for i, v := range functions(s, x) {
			chain[i] = append(chain[i], v)
		}
		p := prior()
		for i, v := range functions(p, data(p)) {
			free[i] = append(free[i], v)
		}
	}
	far := 0.0
	for i := range chain {
		se := math.Hypot(sampling.MCSEMean([][]float64{chain[i]}), sampling.MCSEMean([][]float64{free[i]}))
		far = max(far, math.Abs(meanOf(chain[i])-meanOf(free[i]))/se)
	}
	if (far < 4.5) != right {
		t.Errorf("%s: the joint distributions differ by %.1f standard errors", name, far)
	}
}

// A kernel leaves its state alone and depends on nothing else.
func TestAuxiliaryGibbsKernel(t *testing.T) {
	x := nine()
	model := DiagonalGaussian{Mean: []float64{0, 0}, SD: []float64{2, 2}, Shape: 2, Rate: []float64{1, 1}}
	alphaPrior := &GammaPrior{2, 3}
	g := &AuxiliaryGibbs[DiagonalParams]{X: x, Model: model, AlphaPrior: alphaPrior}
	s := DPParams[DiagonalParams]{Z: make([]int, 9), Alpha: 1}
	for i := range 50 {
		before := s.Clone()
		next, info := g.Step(rand.New(rand.NewPCG(5, uint64(i))), s)
		if info.Err != nil {
			t.Fatal(info.Err)
		}
		again, _ := (&AuxiliaryGibbs[DiagonalParams]{X: x, Model: model, AlphaPrior: alphaPrior}).Step(rand.New(rand.NewPCG(5, uint64(i))), before)
		if !slices.Equal(before.Z, s.Z) || !slices.Equal(again.Z, next.Z) || again.Alpha != next.Alpha || !slices.Equal(again.Theta[next.Z[0]].Mean, next.Theta[next.Z[0]].Mean) {
			t.Fatal("not a function of the state and the generator")
		}
		want := CRP{Alpha: next.Alpha}.LogProb(next.Z) + distuv.Gamma{Alpha: 2, Beta: 3}.LogProb(next.Alpha)
		for r, l := range next.Z {
			want += model.LogProb(next.Theta[l], x.RawRowView(r))
		}
		if math.Abs(want-info.LogDensity) > 1e-10 {
			t.Fatalf("log density %v, want %v", info.LogDensity, want)
		}
		s = next
	}
}

func TestAuxiliaryGibbsRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(2, 1, []float64{1, 0.5}) // no count
	model := PoissonLogNormal{Mean: []float64{0}, SD: []float64{1}}
	z := []int{0, 0}
	var data *lvm.DataError
	var shape *lvm.ShapeError
	for name, c := range map[string]struct {
		g    *AuxiliaryGibbs[[]float64]
		s    DPParams[[]float64]
		want any
	}{
		"no mass":          {&AuxiliaryGibbs[[]float64]{X: x, Model: model}, DPParams[[]float64]{Z: z, Alpha: 1}, &data},
		"α = 0":            {&AuxiliaryGibbs[[]float64]{X: x, Model: model}, DPParams[[]float64]{Z: z}, &data},
		"no model":         {&AuxiliaryGibbs[[]float64]{X: x}, DPParams[[]float64]{Z: z, Alpha: 1}, &data},
		"m = −1":           {&AuxiliaryGibbs[[]float64]{X: x, Model: model, Auxiliary: -1}, DPParams[[]float64]{Z: z, Alpha: 1}, &data},
		"a bad prior of α": {&AuxiliaryGibbs[[]float64]{X: x, Model: model, AlphaPrior: &GammaPrior{1, 0}}, DPParams[[]float64]{Z: z, Alpha: 1}, &data},
		"a label":          {&AuxiliaryGibbs[[]float64]{X: x, Model: model}, DPParams[[]float64]{Z: []int{0, 2}, Alpha: 1}, &data},
		"three labels":     {&AuxiliaryGibbs[[]float64]{X: x, Model: model}, DPParams[[]float64]{Z: []int{0, 0, 0}, Alpha: 1}, &shape},
		"s = 0":            {&AuxiliaryGibbs[[]float64]{X: x, Model: PoissonLogNormal{Mean: []float64{0}, SD: []float64{0}}}, DPParams[[]float64]{Z: z, Alpha: 1}, &data},
		"two columns":      {&AuxiliaryGibbs[[]float64]{X: x, Model: PoissonLogNormal{Mean: []float64{0, 0}, SD: []float64{1, 1}}}, DPParams[[]float64]{Z: z, Alpha: 1}, &shape},
		"a NaN":            {&AuxiliaryGibbs[[]float64]{X: mat.NewDense(2, 1, []float64{1, math.NaN()}), Model: model}, DPParams[[]float64]{Z: z, Alpha: 1}, &data},
	} {
		_, info := c.g.Step(rng, c.s)
		if info.Err == nil || !errors.As(info.Err, c.want) {
			t.Errorf("%s: %v", name, info.Err)
		}
	}
}
