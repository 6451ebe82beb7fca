package sampling

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

func decaying(d int, rho float64) *mat.SymDense {
	cov := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			cov.SetSym(i, j, math.Pow(rho, float64(i-j))*math.Sqrt(float64((i+1)*(j+1))))
		}
	}
	return cov
}

// TestGaussianGibbsSweep works out the linear map of a whole sweep,
// x' = μ + A(x − μ) + noise with covariance N, and checks that it leaves the
// target exactly invariant: A Σ Aᵀ + N = Σ.
func TestGaussianGibbsSweep(t *testing.T) {
	const d = 8
	cov := decaying(d, 0.7)
	meanVec := []float64{1, -2, 3, 0, 5, -1, 2, 4}
	for name, blocks := range map[string][][]int{
		"blocks of 1": nil,
		"blocks of 2": {{0, 1}, {2, 3}, {4, 5}, {6, 7}},
		"blocks of 4": {{0, 2, 4, 6}, {7, 5, 3, 1}},
		"overlapping": {{0, 1, 2, 3, 4}, {4, 5, 6, 7}},
		"one block":   {{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		g := &GaussianGibbs{Mean: meanVec, Cov: cov, Blocks: blocks}
		if err := g.init(); err != nil {
			t.Fatal(err)
		}
		a, noise := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
		for i := range d {
			a.Set(i, i, 1)
		}
		for _, b := range g.blocks {
			k := len(b.at)
			step, own := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
			for i := range d {
				step.Set(i, i, 1)
			}
			for i, r := range b.at {
				step.SetRow(r, b.gain[i*d:(i+1)*d])
				for j, c := range b.at {
					var s float64
					for l := range k {
						s += b.lower[i*k+l] * b.lower[j*k+l]
					}
					own.Set(r, c, s)
				}
			}
			var next, n1, n2 mat.Dense
			next.Mul(step, a)
			a.Copy(&next)
			n1.Mul(step, noise)
			n2.Mul(&n1, step.T())
			noise.Add(&n2, own)
		}
		var m1, m2 mat.Dense
		m1.Mul(a, cov)
		m2.Mul(&m1, a.T())
		m2.Add(&m2, noise)
		if !mat.EqualApprox(&m2, cov, 1e-12) {
			t.Errorf("%s: a sweep turns Σ into\n%.4g", name, mat.Formatted(&m2))
		}
		if name == "one block" && mat.Norm(a, 1) > 1e-12 {
			t.Errorf("one block of everything should draw independently, A = %v", mat.Formatted(a))
		}
		target := gaussianTarget(meanVec, cov)
		leavesInvariant(t, name, target, func() *GaussianGibbs { return &GaussianGibbs{Mean: meanVec, Cov: cov, Blocks: blocks} })
		leavesInvariant(t, name+", random scan", target, func() *GaussianGibbs {
			return &GaussianGibbs{Mean: meanVec, Cov: cov, Blocks: blocks, Scan: RandomScan}
		})
	}
}

// TestGibbsCorrelation: in two dimensions the lag-1 autocorrelation of each
// coordinate is ρ² and the autocorrelation time (1+ρ²)/(1−ρ²).
func TestGibbsCorrelation(t *testing.T) {
	const rho = 0.9
	byHand := &Gibbs[float64]{Conditionals: []func(*rand.Rand, []float64){
		func(rng *rand.Rand, x []float64) { x[0] = rho*x[1] + math.Sqrt(1-rho*rho)*rng.NormFloat64() },
		func(rng *rand.Rand, x []float64) { x[1] = rho*x[0] + math.Sqrt(1-rho*rho)*rng.NormFloat64() },
	}}
	worked := &GaussianGibbs{Mean: []float64{0, 0}, Cov: mat.NewSymDense(2, []float64{1, rho, rho, 1})}
	var chains [2]*Chain[vectors]
	for i, k := range []Kernel[vectors]{byHand, worked} {
		var err error
		chains[i], err = Run(newRand(7), k, []float64{0, 0}, 200_000, nil)
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range Columns(chains[i : i+1]) {
			// 200 000/9.5 independent states: ρ̂ to about 0.002, τ̂ to 2%.
			if r := Autocorrelation(x[0], 1)[1]; math.Abs(r-0.81) > 0.008 {
				t.Errorf("coordinate %d: lag-1 autocorrelation %v, want 0.81", j, r)
			}
			if tau := AutocorrelationTime(x); math.Abs(tau-9.526) > 0.8 {
				t.Errorf("coordinate %d: autocorrelation time %v, want 9.526", j, tau)
			}
		}
	}
	for i := range chains[0].States {
		for j := range 2 {
			if math.Abs(chains[0].States[i][j]-chains[1].States[i][j]) > 1e-9 {
				t.Fatalf("draw %d: by hand %v, worked out %v", i, chains[0].States[i], chains[1].States[i])
			}
		}
	}
}

// A random scan leaves the target invariant, and the log density is that of
// the state returned.
func TestGibbsRandomScan(t *testing.T) {
	g := correlated()
	sd := math.Sqrt(1 - 0.8*0.8)
	newKernel := func() *Gibbs[float64] {
		return &Gibbs[float64]{Scan: RandomScan, LogDensity: g.logp, Conditionals: []func(*rand.Rand, []float64){
			func(rng *rand.Rand, x []float64) { x[0] = 1 + 0.4*(x[1]+1) + sd*rng.NormFloat64() },
			func(rng *rand.Rand, x []float64) { x[1] = -1 + 1.6*(x[0]-1) + 2*sd*rng.NormFloat64() },
		}}
	}
	leavesInvariant(t, "random scan", g, newKernel)
	if x, info := newKernel().Step(newRand(1), []float64{0, 0}); info.LogDensity != g.logp(x) || info.Evaluations != 1 {
		t.Errorf("log density %v after %d evaluations, want %v", info.LogDensity, info.Evaluations, g.logp(x))
	}
	// The order is drawn anew: one block twice leaves the other as it is.
	same := 0
	for seed := range uint64(1000) {
		x, _ := newKernel().Step(newRand(seed), []float64{0, 0})
		if x[0] == 0 || x[1] == 0 {
			same++
		}
	}
	if same < 430 || same > 570 { // half, with standard deviation 16
		t.Errorf("one coordinate stayed in %d of 1000 steps", same)
	}
}

// fourCycle is the Markov random field of notes 004: four binary variables in
// a ring.
func fourCycle(blocks [][]int, scan Scan) *FactorGibbs {
	return &FactorGibbs{
		Levels: []int{2, 2, 2, 2},
		Factors: []Factor{
			{Vars: []int{0, 1}, Table: []float64{3, 1, 1, 2}},
			{Vars: []int{1, 3}, Table: []float64{1, 2, 4, 1}},
			{Vars: []int{0, 2}, Table: []float64{2, 1, 1, 5}},
			{Vars: []int{2, 3}, Table: []float64{1, 3, 2, 1}},
		},
		Blocks: blocks, Scan: scan,
	}
}

func TestFactorGibbsTransition(t *testing.T) {
	for _, c := range []struct {
		name string
		g    *FactorGibbs
	}{
		{"four-cycle", fourCycle(nil, Systematic)},
		{"four-cycle, random scan", fourCycle(nil, RandomScan)},
		{"four-cycle, blocks of 2", fourCycle([][]int{{0, 3}, {1, 2}}, Systematic)},
		{"four-cycle, one block", fourCycle([][]int{{0, 1, 2, 3}}, Systematic)},
		{"three variables of many levels", &FactorGibbs{
			Levels:  []int{3, 2, 4},
			Factors: []Factor{{[]int{2, 0}, []float64{1, 2, 3, 4, 5, 6, 7, 8, 0, 10, 11, 12}}, {[]int{1}, []float64{1, 3}}, {[]int{0, 1}, []float64{1, 2, 3, 1, 2, 5}}},
		}},
	} {
		p, m := c.g.Joint(), c.g.Transition()
		invariant(t, c.name, m, p, 1e-15)
		// Only the random scan is reversible, and the one block, which draws
		// independently.
		var broken float64
		for i := range p {
			for j := range p {
				broken = max(broken, math.Abs(p[i]*m.At(i, j)-p[j]*m.At(j, i)))
			}
		}
		if reversible := c.g.Scan == RandomScan || len(c.g.Blocks) == 1; reversible != (broken < 1e-15) {
			t.Errorf("%s: detailed balance broken by %g", c.name, broken)
		}

		// The kernel goes where the matrix says.
		n := c.g.States()
		x, start := make([]int, len(c.g.Levels)), 5
		counts := make([]float64, n)
		rng := newRand(3)
		c.g.State(start, x)
		const steps = 100_000
		for range steps {
			y, info := c.g.Step(rng, x)
			if info.Err != nil {
				t.Fatal(info.Err)
			}
			at := 0
			for j, v := range y {
				at = at*c.g.Levels[j] + v
			}
			counts[at]++
		}
		for j := range n {
			q := m.At(start, j)
			if z := (counts[j] - steps*q) / math.Sqrt(steps*max(q*(1-q), 1e-9)); math.Abs(z) > tooFar {
				t.Errorf("%s: from %d to %d %v times of %v, want %v", c.name, start, j, counts[j], steps, steps*q)
			}
		}
	}
}

// TestFourCycleOracle compares with Z and marginals that were enumerated by
// another program.
func TestFourCycleOracle(t *testing.T) {
	g := fourCycle(nil, Systematic)
	for f, table := range [][]float64{{2, 1, 0.5, 3}, {1, 2, 4, 1}, {1, 3, 2, 1}, {2, 1, 1, 5}} {
		g.Factors[f].Table = table
	}
	x, z, marginal := make([]int, 4), 0.0, make([]float64, 4)
	for s, p := range g.Joint() {
		g.State(s, x)
		z += math.Exp(g.LogDensity(x))
		for j, v := range x {
			marginal[j] += p * float64(1-v)
		}
	}
	if math.Abs(z-200.5) > 1e-12 {
		t.Errorf("Z = %v, want 200.5", z)
	}
	for j, want := range []float64{0.548628, 0.416459, 0.374065, 0.461347} {
		if math.Abs(marginal[j]-want) > 5e-7 {
			t.Errorf("p(x%d = 0) = %.7f, want %v", j+1, marginal[j], want)
		}
	}
}

// TestGibbsIsHastings: with its full conditional as the proposal every block
// has the acceptance 1, (5.29) of notes 000.
func TestGibbsIsHastings(t *testing.T) {
	g := fourCycle([][]int{{0, 2}, {1}, {3}}, Systematic)
	p := g.Joint()
	x, y := make([]int, 4), make([]int, 4)
	number := func(x []int) int { return 8*x[0] + 4*x[1] + 2*x[2] + x[3] }
	for s := range 16 {
		g.State(s, x)
		for b, vars := range g.Blocks {
			there := g.Conditional(b, x)
			now := 0
			for _, v := range vars {
				now = 2*now + x[v]
			}
			for v := range there {
				copy(y, x)
				g.assign(&g.blocks[b], y, v)
				back := g.Conditional(b, y)[now]
				if a := p[number(y)] * back / (p[s] * there[v]); math.Abs(a-1) > 1e-14 {
					t.Errorf("from %v to %v: acceptance %v", x, y, a)
				}
			}
		}
	}
}

// TestJointFromConditionals: the two full conditionals of a table determine
// it, p(a, b) = p(b|a)/Σ_b p(b|a)/p(a|b), (5.30) of notes 000.
func TestJointFromConditionals(t *testing.T) {
	g := &FactorGibbs{Levels: []int{2, 3}, Factors: []Factor{{[]int{0, 1}, []float64{3, 1, 4, 1, 5, 9}}}}
	joint := g.Joint()
	for a := range 2 {
		given := g.Conditional(1, []int{a, 0}) // p(b|a)
		var sum float64
		for b, p := range given {
			sum += p / g.Conditional(0, []int{0, b})[a]
		}
		for b, p := range given {
			if got := p / sum; math.Abs(got-joint[3*a+b]) > 1e-15 {
				t.Errorf("p(%d, %d) = %v, want %v", a, b, got, joint[3*a+b])
			}
		}
	}
}

// Products of factors beyond the range of float64 cancel in the joint.
func TestJointOfLargeFactors(t *testing.T) {
	for _, scale := range []float64{1e200, 1e-200} {
		g := &FactorGibbs{Levels: []int{2, 2}, Factors: []Factor{
			{[]int{0, 1}, []float64{3 * scale, scale, scale, 3 * scale}}, {[]int{0}, []float64{scale, 3 * scale}},
		}}
		for i, want := range []float64{3, 1, 3, 9} {
			if p := g.Joint()[i]; math.Abs(p-want/16) > 1e-13 {
				t.Errorf("factors of %v: p_%d = %v, want %v", scale, i, p, want/16)
			}
		}
	}
}

// TestFactorGibbsConditionals: the full conditionals of the four-cycle are
// the products of two factors that notes 004 derive.
func TestFactorGibbsConditionals(t *testing.T) {
	g := fourCycle(nil, Systematic)
	psi := func(f int, a, b int) float64 { return g.Factors[f].Table[2*a+b] }
	x := make([]int, 4)
	for s := range 16 {
		g.State(s, x)
		for v := range 2 {
			byHand := []float64{
				psi(0, v, x[1]) * psi(2, v, x[2]),
				psi(0, x[0], v) * psi(1, v, x[3]),
				psi(2, x[0], v) * psi(3, v, x[3]),
				psi(1, x[1], v) * psi(3, x[2], v),
			}
			other := []float64{
				psi(0, 1-v, x[1]) * psi(2, 1-v, x[2]),
				psi(0, x[0], 1-v) * psi(1, 1-v, x[3]),
				psi(2, x[0], 1-v) * psi(3, 1-v, x[3]),
				psi(1, x[1], 1-v) * psi(3, x[2], 1-v),
			}
			for b := range 4 {
				if got, want := g.Conditional(b, x)[v], byHand[b]/(byHand[b]+other[b]); math.Abs(got-want) > 1e-15 {
					t.Errorf("p(x%d = %d | %v) = %v, want %v", b+1, v, x, got, want)
				}
			}
		}
	}
}

// TestIsingAgreesWithFactors compares the distribution of an Ising step with
// the exact sweep of the same model written as factors.
func TestIsingAgreesWithFactors(t *testing.T) {
	for _, wrap := range []bool{false, true} {
		field := []float64{0.3, -0.2, 0.1, 0, 0.5, -0.4}
		ising := &Ising{Rows: 2, Cols: 3, Coupling: 0.6, Field: field, Wrap: wrap}
		f := &FactorGibbs{Levels: []int{2, 2, 2, 2, 2, 2}}
		pair := func(a, b int) {
			f.Factors = append(f.Factors, Factor{[]int{a, b}, []float64{math.Exp(0.6), math.Exp(-0.6), math.Exp(-0.6), math.Exp(0.6)}})
		}
		for i, h := range field {
			f.Factors = append(f.Factors, Factor{[]int{i}, []float64{math.Exp(-h), math.Exp(h)}})
		}
		for r := range 2 {
			pair(3*r, 3*r+1)
			pair(3*r+1, 3*r+2)
			if wrap {
				pair(3*r+2, 3*r)
			}
		}
		for c := range 3 {
			pair(c, 3+c)
			if wrap {
				pair(3+c, c) // on two rows the neighbour above is the one below
			}
		}
		x, s := make([]int, 6), make([]int8, 6)
		toSpins := func() {
			for i, v := range x {
				s[i] = int8(2*v - 1)
			}
		}
		for i := range 64 {
			f.State(i, x)
			toSpins()
			if a, b := f.LogDensity(x), ising.LogDensity(s); math.Abs(a-b) > 1e-12 {
				t.Errorf("wrap %v: log density of %v is %v as factors, %v as spins", wrap, s, a, b)
			}
		}
		m := f.Transition()
		f.State(9, x)
		toSpins()
		counts, rng := make([]float64, 64), newRand(4)
		const steps = 100_000
		for range steps {
			y, info := ising.Step(rng, s)
			if info.Err != nil {
				t.Fatal(info.Err)
			}
			at := 0
			for _, v := range y {
				at = 2*at + int(v+1)/2
			}
			counts[at]++
		}
		for j := range counts {
			q := m.At(9, j)
			if z := (counts[j] - steps*q) / math.Sqrt(steps*max(q*(1-q), 1e-6)); math.Abs(z) > tooFar {
				t.Errorf("wrap %v: to state %d %v times, want %v", wrap, j, counts[j], steps*q)
			}
		}
	}
}

// TestIsingEnergy compares the mean log density per spin with Onsager's exact
// energy of the infinite grid.
func TestIsingEnergy(t *testing.T) {
	const size, coupling = 24, 0.3
	// Onsager 1944: u = −J coth(2J) [1 + (2/π)(2 tanh²2J − 1) K(k)],
	// k = 2 sinh 2J/cosh² 2J; the correlation length is 2 here, so a torus
	// of 24 is as good as infinite.
	k := 2 * math.Sinh(2*coupling) / math.Pow(math.Cosh(2*coupling), 2)
	tanh := math.Tanh(2 * coupling)
	want := coupling / tanh * (1 + 2/math.Pi*(2*tanh*tanh-1)*ellipticK(k))
	start := make([]int8, size*size)
	for i := range start {
		start[i] = 1
	}
	chain, err := Run(newRand(2), &Ising{Rows: size, Cols: size, Coupling: coupling, Wrap: true}, start, 20_000, &RunOptions{BurnIn: 200})
	if err != nil {
		t.Fatal(err)
	}
	energy := [][]float64{nil}
	for _, info := range chain.Infos {
		energy[0] = append(energy[0], info.LogDensity/(size*size))
	}
	if z := (mean(energy[0]) - want) / MCSEMean(energy); math.Abs(z) > tooFar {
		t.Errorf("log density per spin %v, Onsager has %v, %.2f standard errors away", mean(energy[0]), want, z)
	}
}

// ellipticK is the complete elliptic integral by the arithmetic–geometric
// mean.
func ellipticK(k float64) float64 {
	a, b := 1.0, math.Sqrt(1-k*k)
	for range 10 {
		a, b = (a+b)/2, math.Sqrt(a*b)
	}
	return math.Pi / 2 / a
}

func TestGibbsBadInput(t *testing.T) {
	var shape *lvm.ShapeError
	var data *lvm.DataError
	var density *DensityError
	eye := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	_, info := (&GaussianGibbs{Mean: []float64{0, 0}, Cov: eye}).Step(newRand(1), []float64{0})
	if !errors.As(info.Err, &shape) {
		t.Errorf("state of the wrong length: %v", info.Err)
	}
	_, info = (&GaussianGibbs{Mean: []float64{0}, Cov: eye}).Step(newRand(1), []float64{0})
	if !errors.As(info.Err, &shape) {
		t.Errorf("covariance of the wrong size: %v", info.Err)
	}
	_, info = (&GaussianGibbs{Mean: []float64{0, 0}, Cov: mat.NewSymDense(2, []float64{1, 1, 1, 1})}).Step(newRand(1), []float64{0, 0})
	if !errors.As(info.Err, &data) {
		t.Errorf("singular covariance: %v", info.Err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		_, info = (&GaussianGibbs{Mean: []float64{0, 0}, Cov: mat.NewSymDense(2, []float64{1, 0, 0, v})}).Step(newRand(1), []float64{0, 0})
		if !errors.As(info.Err, &data) {
			t.Errorf("a covariance with %v: %v", v, info.Err)
		}
	}
	g := &FactorGibbs{Levels: []int{2, 2, 2}, Factors: []Factor{{[]int{0, 1}, []float64{1, 0, 0, 1}}, {[]int{1, 2}, []float64{1, 0, 0, 1}}}}
	if _, info = g.Step(newRand(1), []int{1, 0, 0}); info.Err != nil {
		t.Errorf("a start from which a sweep finds mass: %v", info.Err)
	}
	g = &FactorGibbs{Levels: []int{2, 2, 2}, Factors: []Factor{{[]int{0, 1}, []float64{1, 0, 0, 1}}, {[]int{0, 2}, []float64{1, 0, 0, 1}}}}
	if _, info = g.Step(newRand(1), []int{0, 0, 1}); !errors.As(info.Err, &density) {
		t.Errorf("a start without mass: %v", info.Err)
	}
	if _, info = g.Step(newRand(1), []int{0, 0, 2}); !errors.As(info.Err, &data) || data.Col != 2 {
		t.Errorf("a value beyond the levels: %v", info.Err)
	}
	if _, info = g.Step(newRand(1), []int{0, 0}); !errors.As(info.Err, &shape) {
		t.Errorf("too few variables: %v", info.Err)
	}
	for name, k := range map[string]*Ising{"wide": {Rows: 2, Cols: 3}, "field": {Rows: 2, Cols: 2, Field: []float64{1}}, "thin torus": {Rows: 1, Cols: 4, Wrap: true}} {
		if _, info := k.Step(newRand(1), []int8{1, 1, 1, 1}); !errors.As(info.Err, &shape) {
			t.Errorf("%s: %v", name, info.Err)
		}
	}
	if _, info := (&Ising{Rows: 2, Cols: 2}).Step(newRand(1), []int8{1, 1, 0, 1}); !errors.As(info.Err, &data) || data.Row != 1 || data.Col != 0 {
		t.Errorf("a spin of 0: %v", info.Err)
	}
	if _, info := (&Ising{Rows: 1, Cols: 2, Coupling: math.NaN()}).Step(newRand(1), []int8{1, 1}); !errors.As(info.Err, &data) {
		t.Errorf("a coupling of NaN: %v", info.Err)
	}
	if _, info := (&GaussianGibbs{Mean: []float64{0, math.NaN()}, Cov: eye}).Step(newRand(1), []float64{0, 0}); !errors.As(info.Err, &data) || data.Col != 1 {
		t.Errorf("a mean of NaN: %v", info.Err)
	}
	if _, info := (&GaussianGibbs{Mean: []float64{0, 0}, Cov: eye}).Step(newRand(1), []float64{math.Inf(1), 0}); !errors.As(info.Err, &data) || data.Col != 0 {
		t.Errorf("an infinite start: %v", info.Err)
	}
	if _, info := (&Ising{Rows: 1, Cols: 2, Field: []float64{0, math.NaN()}}).Step(newRand(1), []int8{1, 1}); !errors.As(info.Err, &data) {
		t.Errorf("a field of NaN: %v", info.Err)
	}
}

func TestGibbsDoesNotAllocate(t *testing.T) {
	g := &GaussianGibbs{Mean: make([]float64, 6), Cov: decaying(6, 0.5), Blocks: [][]int{{0, 1}, {2, 3, 4, 5}}}
	doesNotAllocate(t, "GaussianGibbs", g, make([]float64, 6))
	doesNotAllocate(t, "FactorGibbs", fourCycle(nil, Systematic), make([]int, 4))
	doesNotAllocate(t, "Ising", &Ising{Rows: 4, Cols: 4, Coupling: 0.4}, slices.Repeat([]int8{1}, 16))
}
