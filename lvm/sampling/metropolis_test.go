package sampling

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

type vectors = []float64

func TestMetropolisFamilyInvariance(t *testing.T) {
	for name, g := range map[string]target{"Gaussian": correlated(), "funnel": funnel(), "banana": banana(), "modes": modes()} {
		d := len(g.draw(newRand(0)))
		leavesInvariant(t, "random walk on "+name, g, func() *Metropolis { return &Metropolis{LogDensity: g.logp, Scale: 1} })
		leavesInvariant(t, "Metropolis–Hastings on "+name, g, func() *MetropolisHastings[vectors] {
			// A walk whose steps grow with |x|, which is not symmetric.
			return &MetropolisHastings[vectors]{LogDensity: g.logp, Propose: func(rng *rand.Rand, x []float64) ([]float64, float64) {
				y := make([]float64, d)
				ratio := 0.0
				for i, v := range x {
					s := 0.5 + math.Abs(v)
					y[i] = v + s*rng.NormFloat64()
					r := 0.5 + math.Abs(y[i])
					ratio += math.Log(s/r) + 0.5*(y[i]-v)*(y[i]-v)*(1/(s*s)-1/(r*r))
				}
				return y, ratio
			}}
		})
		leavesInvariant(t, "independence on "+name, g, func() *Independence[vectors] {
			return &Independence[vectors]{
				LogDensity: g.logp,
				Draw: func(rng *rand.Rand) []float64 {
					y := make([]float64, d)
					for i := range y {
						y[i] = 3 * rng.NormFloat64()
					}
					return y
				},
				LogProposal: func(x []float64) float64 {
					var s float64
					for _, v := range x {
						s -= v * v / 18
					}
					return s
				},
			}
		})
		small := func() *Metropolis { return &Metropolis{LogDensity: g.logp, Scale: 0.3} }
		large := func() *Metropolis { return &Metropolis{LogDensity: g.logp, Scale: 2} }
		leavesInvariant(t, "cycle on "+name, g, func() *Cycle[vectors] {
			return &Cycle[vectors]{Kernels: []Kernel[vectors]{small(), large()}}
		})
		leavesInvariant(t, "mixture on "+name, g, func() *Mixture[vectors] {
			return &Mixture[vectors]{Kernels: []Kernel[vectors]{small(), large()}, Weights: []float64{1, 3}}
		})
		longRun(t, "adaptive on "+name, g, func() *AdaptiveMetropolis { return &AdaptiveMetropolis{LogDensity: g.logp} }, 20_000, &RunOptions{BurnIn: 2000})
	}
}

// TestInvarianceControl: the same tests must refuse kernels that are wrong.
func TestInvarianceControl(t *testing.T) {
	g := correlated()
	// The asymmetric walk without its ratio.
	wrong := func() *MetropolisHastings[vectors] {
		return &MetropolisHastings[vectors]{LogDensity: g.logp, Propose: func(rng *rand.Rand, x []float64) ([]float64, float64) {
			return []float64{x[0] + (0.5+math.Abs(x[0]))*rng.NormFloat64(), x[1] + (0.5+math.Abs(x[1]))*rng.NormFloat64()}, 0
		}}
	}
	if z := afterSteps(g, wrong, 20_000, 10); worst(z) < 2*tooFar {
		t.Errorf("a proposal ratio left out goes unnoticed: %.2f", z)
	}
	// Keeping only the states that were accepted (notes 000: “tries a new
	// sample”), which for N(0, 1) and σ = 2.38 gives variance 1.127.
	k := &Metropolis{LogDensity: func(x []float64) float64 { return -0.5 * x[0] * x[0] }, Scale: 2.38}
	all, kept := []float64(nil), []float64(nil)
	for x, info := range Walk(newRand(3), k, []float64{0}) {
		all = append(all, x[0])
		if info.Accepted {
			kept = append(kept, x[0])
		}
		if len(all) == 200_000 {
			break
		}
	}
	if v := variance(all); math.Abs(v-1) > 0.02 {
		t.Errorf("variance %v with repeated states", v)
	}
	if v := variance(kept); math.Abs(v-1.127) > 0.02 {
		t.Errorf("variance %v without repeated states, want 1.127", v)
	}
}

// TestMetropolisAcceptance compares with the closed form for N(0, 1) and
// steps N(0, σ²): (2/π) arctan(2/σ).
func TestMetropolisAcceptance(t *testing.T) {
	for _, c := range []struct{ scale, rate, lag1 float64 }{{0.1, 0.968, 0.995}, {1, 0.705, 0.775}, {2.38, 0.445, 0.627}, {10, 0.126, 0.839}} {
		k := &Metropolis{LogDensity: func(x []float64) float64 { return -0.5 * x[0] * x[0] }, Scale: c.scale}
		chain, err := Run(newRand(5), k, []float64{0}, 200_000, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := 2 / math.Pi * math.Atan(2/c.scale); math.Abs(want-c.rate) > 5e-4 || math.Abs(chain.Acceptance-want) > 0.005 {
			t.Errorf("σ = %v: acceptance %v, want %v", c.scale, chain.Acceptance, want)
		}
		x := Extract([]*Chain[vectors]{chain}, func(x []float64) float64 { return x[0] })[0]
		if rho := Autocorrelation(x, 1)[1]; math.Abs(rho-c.lag1) > 0.01 {
			t.Errorf("σ = %v: lag-1 autocorrelation %v, want %v", c.scale, rho, c.lag1)
		}
	}
}

// TestHastingsMatrix builds the transition matrix of the kernel from the
// acceptance probabilities that it reports, and compares its invariant
// distribution with the target.
func TestHastingsMatrix(t *testing.T) {
	p := []float64{1, 3, 6, 0.5}
	q := mat.NewDense(4, 4, []float64{
		0.1, 0.4, 0.4, 0.1,
		0.3, 0.3, 0.2, 0.2,
		0.5, 0.2, 0.2, 0.1,
		0.2, 0.3, 0.4, 0.1,
	})
	matrix := mat.NewDense(4, 4, nil)
	for i := range 4 {
		stay := 1.0
		for j := range 4 {
			k := &MetropolisHastings[int]{
				LogDensity: func(s int) float64 { return math.Log(p[s]) },
				Propose:    func(*rand.Rand, int) (int, float64) { return j, math.Log(q.At(j, i) / q.At(i, j)) },
			}
			_, info := k.Step(newRand(1), i)
			if i != j {
				matrix.Set(i, j, q.At(i, j)*info.Acceptance)
				stay -= matrix.At(i, j)
			}
		}
		matrix.Set(i, i, stay)
	}
	if want := MetropolisMatrix(p, q); !mat.EqualApprox(matrix, want, 1e-15) {
		t.Errorf("the kernel has\n%v\nwant\n%v", mat.Formatted(matrix), mat.Formatted(want))
	}
	invariant(t, "Metropolis–Hastings", matrix, p, 1e-15)
	for i := range 4 {
		for j := range 4 {
			if flow := p[i]*matrix.At(i, j) - p[j]*matrix.At(j, i); math.Abs(flow) > 1e-15 {
				t.Errorf("detailed balance broken between %d and %d by %g", i, j, flow)
			}
		}
	}
	// The three states of the notes' catalogue: without the mass of the
	// rejections the columns of (11.17) sum to 1, 7/9, 5/9 only.
	p3, u := []float64{0.1, 0.3, 0.6}, mat.NewDense(3, 3, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})
	u.Scale(1.0/3, u)
	m3 := MetropolisMatrix(p3, u)
	invariant(t, "three states", m3, p3, 1e-15)
	for i, want := range []float64{1, 7.0 / 9, 5.0 / 9} {
		sum := 1.0 / 3
		for j := range 3 {
			if i != j {
				sum += m3.At(i, j)
			}
		}
		if math.Abs(sum-want) > 1e-15 {
			t.Errorf("accepted mass from state %d is %v, want %v", i, sum, want)
		}
	}
	// States without mass are left, and not entered.
	m3 = MetropolisMatrix([]float64{0, 0, 1}, u)
	invariant(t, "one state with mass", m3, []float64{0, 0, 1}, 1e-15)
	for i, want := range [][]float64{{1. / 3, 1. / 3, 1. / 3}, {1. / 3, 1. / 3, 1. / 3}, {0, 0, 1}} {
		for j, w := range want {
			if math.Abs(m3.At(i, j)-w) > 1e-15 {
				t.Errorf("T(%d→%d) = %v, want %v", i, j, m3.At(i, j), w)
			}
		}
	}
	for name, f := range map[string]func(){
		"a row that sums to 2":   func() { MetropolisMatrix([]float64{1, 1}, mat.NewDense(2, 2, []float64{1, 1, 0, 1})) },
		"a wide proposal":        func() { MetropolisMatrix([]float64{1}, mat.NewDense(1, 2, []float64{1, 0})) },
		"a negative probability": func() { MetropolisMatrix([]float64{1, -1}, mat.NewDense(2, 2, []float64{1, 0, 0, 1})) },
		"a probability of NaN":   func() { MetropolisMatrix([]float64{1, math.NaN()}, mat.NewDense(2, 2, []float64{1, 0, 0, 1})) },
		"a proposal that is −1":  func() { MetropolisMatrix([]float64{1, 1}, mat.NewDense(2, 2, []float64{2, -1, 0, 1})) },
	} {
		mustPanic(t, name, f)
	}
	// The kernel accepts as often as it says.
	k := &MetropolisHastings[int]{
		LogDensity: func(s int) float64 { return math.Log(p[s]) },
		Propose: func(rng *rand.Rand, s int) (int, float64) {
			j := pick(rng, mat.Row(nil, s, q), 1)
			return j, math.Log(q.At(j, s) / q.At(s, j))
		},
	}
	chain, err := Run(newRand(8), k, 0, 100_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	for s := range p {
		share := Extract([]*Chain[int]{chain}, func(v int) float64 {
			if v == s {
				return 1
			}
			return 0
		})
		if z := (mean(share[0]) - p[s]/10.5) / MCSEMean(share); math.Abs(z) > tooFar {
			t.Errorf("state %d is visited %.2f standard errors too often", s, z)
		}
	}
}

// invariant checks that the rows of m sum to one and that p, up to a factor,
// is invariant.
func invariant(t *testing.T, name string, m mat.Matrix, p []float64, tol float64) {
	t.Helper()
	n := len(p)
	var z float64
	for _, v := range p {
		z += v
	}
	for i := range n {
		var row, col float64
		for j := range n {
			row += m.At(i, j)
			col += p[j] / z * m.At(j, i)
		}
		if math.Abs(row-1) > float64(n)*tol || math.Abs(col-p[i]/z) > tol {
			t.Errorf("%s: row %d sums to %v, (pT)_%d = %v but p_%d = %v", name, i, row, i, col, i, p[i]/z)
			return
		}
	}
}

// A chain does not depend on the type in which a state is written, nor on
// whether the kernel can remember its log density.
func TestHastingsOnAnyState(t *testing.T) {
	logp := func(s int) float64 { return math.Log(float64(1 + s%5)) }
	next := func(rng *rand.Rand, s int) (int, float64) { return (s + 1 + rng.IntN(9)) % 10, 0 }
	ints, err := Run(newRand(4), &MetropolisHastings[int]{LogDensity: logp, Propose: next}, 3, 500, nil)
	if err != nil {
		t.Fatal(err)
	}
	slicesOf, err := Run(newRand(4), &MetropolisHastings[[]int]{
		LogDensity: func(s []int) float64 { return logp(s[0]) },
		Propose:    func(rng *rand.Rand, s []int) ([]int, float64) { y, r := next(rng, s[0]); return []int{y}, r },
	}, []int{3}, 500, nil)
	if err != nil {
		t.Fatal(err)
	}
	structs, err := Run(newRand(4), &MetropolisHastings[struct{ at int }]{
		LogDensity: func(s struct{ at int }) float64 { return logp(s.at) },
		Propose: func(rng *rand.Rand, s struct{ at int }) (struct{ at int }, float64) {
			y, r := next(rng, s.at)
			return struct{ at int }{y}, r
		},
	}, struct{ at int }{3}, 500, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range ints.States {
		if slicesOf.States[i][0] != s || structs.States[i].at != s {
			t.Fatalf("draw %d: %d, %v, %v", i, s, slicesOf.States[i], structs.States[i])
		}
	}
	if ints.Evaluations != 501 || slicesOf.Evaluations != 501 || structs.Evaluations != 1000 {
		t.Errorf("%d, %d and %d evaluations, want 501, 501 and 1000", ints.Evaluations, slicesOf.Evaluations, structs.Evaluations)
	}
}

func TestProposalBeforeAdapting(t *testing.T) {
	cov := mat.NewSymDense(2, []float64{2, 1, 1, 2})
	k := &AdaptiveMetropolis{LogDensity: gauss2, Scale: 0.7, Cov: cov}
	if scale, got := k.Proposal(); scale != 0.7 || !mat.Equal(got, cov) {
		t.Errorf("scale %v, shape %v", scale, got)
	}
	k = &AdaptiveMetropolis{LogDensity: gauss2, Scale: 0.7}
	if scale, got := k.Proposal(); scale != 0.7 || got != nil {
		t.Errorf("scale %v, shape %v", scale, got)
	}
	k.Step(newRand(1), []float64{0, 0})
	if scale, got := k.Proposal(); scale != 0.7 || got != nil {
		t.Errorf("after a step: scale %v, shape %v", scale, got)
	}
}

func TestAdaptiveMetropolisLearns(t *testing.T) {
	d := 5
	cov := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			cov.SetSym(i, j, math.Pow(10, float64(i+j)/4)*math.Pow(0.9, float64(i-j))) // sd from 1 to 10
		}
	}
	g := gaussianTarget(make([]float64, d), cov)
	k := &AdaptiveMetropolis{LogDensity: g.logp}
	x, err := BurnIn(newRand(2), k, make([]float64, d), 30_000)
	if err != nil {
		t.Fatal(err)
	}
	_, got := k.Proposal()
	for i := range d {
		for j := range i + 1 {
			// The walk gives 30 000/(some 30) independent states: correlations
			// to about 0.05, taken four times.
			r := (got.At(i, j) - cov.At(i, j)) / math.Sqrt(cov.At(i, i)*cov.At(j, j))
			if math.Abs(r) > 0.25 {
				t.Errorf("Σ[%d,%d] = %v, want about %v", i, j, got.At(i, j), cov.At(i, j))
			}
		}
	}
	chain, err := Run(newRand(3), k, x, 20_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(chain.Acceptance-0.234) > 0.05 {
		t.Errorf("acceptance %v, want 0.234", chain.Acceptance)
	}
	if z := g.zScores([]*Chain[vectors]{chain}); worst(z) > tooFar {
		t.Errorf("moments off by %.2f standard errors", z)
	}
	scale, _ := k.Proposal()
	k.Step(newRand(1), x)
	if after, _ := k.Proposal(); after != scale {
		t.Error("it goes on adapting after burn-in")
	}
}

func TestRankOneUpdate(t *testing.T) {
	rng := newRand(1)
	for d := 1; d < 7; d++ {
		a := mat.NewDense(d, d, nil)
		v := make([]float64, d)
		for i := range d {
			v[i] = rng.NormFloat64()
			for j := range d {
				a.Set(i, j, rng.NormFloat64())
			}
		}
		var s mat.SymDense
		s.SymOuterK(1, a)
		lower, err := lowerFactor("test", &s, d)
		if err != nil {
			t.Fatal(err)
		}
		s.SymRankOne(&s, 1, mat.NewVecDense(d, v))
		rankOneUpdate(lower, v)
		l := mat.NewDense(d, d, lower)
		var got mat.Dense
		got.Mul(l, l.T())
		if !mat.EqualApprox(&got, &s, 1e-12) {
			t.Errorf("d = %d: the factor of A + vvᵀ is off", d)
		}
	}
}

// On a density without an end the scale would grow beyond all numbers, and
// the states after it.
func TestAdaptiveMetropolisRunsAway(t *testing.T) {
	for name, logp := range map[string]func(x []float64) float64{
		"flat": func([]float64) float64 { return 0 }, "rising": func(x []float64) float64 { return x[0] },
	} {
		var data *lvm.DataError
		c, err := Run(newRand(1), &AdaptiveMetropolis{LogDensity: logp}, []float64{0.5}, 10, &RunOptions{BurnIn: 2000})
		if !errors.As(err, &data) || len(c.States) != 0 {
			t.Errorf("%s: %d draws, %v", name, len(c.States), err)
		}
	}
}

func TestCombineReportsErrors(t *testing.T) {
	nan := func([]float64) float64 { return math.NaN() }
	good := func() *Metropolis { return &Metropolis{LogDensity: gauss2} }
	_, info := (&Cycle[vectors]{Kernels: []Kernel[vectors]{good(), &Metropolis{LogDensity: nan}}}).Step(newRand(1), []float64{0, 0})
	var de *DensityError
	if !errors.As(info.Err, &de) {
		t.Errorf("cycle: %v", info.Err)
	}
	// A pole at a proposal.
	pole := func(x []float64) float64 {
		if x[0] == 1 {
			return math.Inf(1)
		}
		return 0
	}
	away := func(*rand.Rand) []float64 { return []float64{1} }
	for _, k := range []Kernel[vectors]{
		&MetropolisHastings[vectors]{LogDensity: pole, Propose: func(rng *rand.Rand, _ []float64) ([]float64, float64) { return away(rng), 0 }},
		&Independence[vectors]{LogDensity: pole, Draw: away, LogProposal: func([]float64) float64 { return 0 }},
	} {
		if _, info := k.Step(newRand(1), []float64{0}); !errors.As(info.Err, &de) || !math.IsInf(de.Value, 1) {
			t.Errorf("%T at a pole: %v", k, info.Err)
		}
	}
	for _, k := range []Kernel[vectors]{
		&MetropolisHastings[vectors]{LogDensity: nan}, &Independence[vectors]{LogDensity: nan},
		&AdaptiveMetropolis{LogDensity: nan}, &Mixture[vectors]{Kernels: []Kernel[vectors]{&Metropolis{LogDensity: nan}}},
	} {
		if _, err := Run(newRand(1), k, []float64{0, 0}, 5, &RunOptions{BurnIn: 5}); !errors.As(err, &de) {
			t.Errorf("%T: %v", k, err)
		}
	}
}

func TestMetropolisFamilyDoesNotAllocate(t *testing.T) {
	start := []float64{0, 0}
	var buf [2][2]float64
	doesNotAllocate(t, "AdaptiveMetropolis", &AdaptiveMetropolis{LogDensity: gauss2}, start)
	doesNotAllocate(t, "Cycle", &Cycle[vectors]{Kernels: []Kernel[vectors]{&Metropolis{LogDensity: gauss2}, &Metropolis{LogDensity: gauss2, Scale: 9}}}, start)
	doesNotAllocate(t, "MetropolisHastings", &MetropolisHastings[vectors]{LogDensity: gauss2, Propose: func(rng *rand.Rand, x []float64) ([]float64, float64) {
		y := buf[0][:]
		if &x[0] == &y[0] {
			y = buf[1][:]
		}
		y[0], y[1] = x[0]+rng.NormFloat64(), x[1]+rng.NormFloat64()
		return y, 0
	}}, start)
	i := 0
	doesNotAllocate(t, "MetropolisHastings on int", &MetropolisHastings[int]{LogDensity: func(s int) float64 { return -float64(s) }, Propose: func(rng *rand.Rand, s int) (int, float64) {
		i++
		return s ^ 1000, 0
	}}, 5000)
}
