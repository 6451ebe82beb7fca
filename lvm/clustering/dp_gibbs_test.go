package clustering

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm/sampling"
)

// The posterior of the five partitions of three rows in the catalogue to the
// notes: x = (−1, −0.8, 2), σ² = 0.5, σ₀² = 4, α = 1.
func TestDPOfNotes(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{-1, -0.8, 2})
	g := &DPGibbs{X: x, Prior: FixedVariance{Mean: []float64{0}, PriorVariance: 4, Variance: 0.5}}
	states, evidence := make(map[string]float64), 0.0
	for z := range Partitions(3) {
		states[key(z)] = g.LogJoint(DPState{Z: z, Alpha: 1})
		evidence += math.Exp(states[key(z)])
	}
	p := exact(states)
	for z, want := range map[string]float64{"aaa": 0.020679, "aab": 0.663571, "aba": 0.011668, "abb": 0.019765, "abc": 0.284317} {
		if math.Abs(p[z]-want) > 5e-7 {
			t.Errorf("p(%s | x) = %v, want %v", z, p[z], want)
		}
	}
	if got := math.Log(evidence); math.Abs(got+6.173693) > 5e-7 {
		t.Errorf("ln p(x) = %v, want −6.173693", got)
	}
	c := conditional([]int{0, 0, 0}, 2, []int{0, 1}, func(z []int) float64 { return g.LogJoint(DPState{Z: z, Alpha: 1}) })
	if math.Abs(c[0]-0.030221) > 5e-7 {
		t.Errorf("p(z_3 = z_1 | z_1 = z_2) = %v, want 0.030221", c[0])
	}
	draws := runDP(t, g, DPState{Z: make([]int, 3), Alpha: 1}, 60000)
	if far := farthest(draws, p, 0); far > 4.5 {
		t.Errorf("a partition is %.1f standard errors away from its probability", far)
	}
}

// runDP returns the partitions that a chain visits.
func runDP(t *testing.T, k sampling.Kernel[DPState], start DPState, n int) []string {
	t.Helper()
	chain, err := sampling.Run(rand.New(rand.NewPCG(11, 12)), k, start, n, &sampling.RunOptions{BurnIn: 100})
	if err != nil {
		t.Fatal(err)
	}
	draws := make([]string, n)
	for i, s := range chain.States {
		draws[i] = key(Canonical(s.Z))
	}
	return draws
}

// nine rows in three loose groups.
func nine() *mat.Dense {
	return mat.NewDense(9, 2, []float64{-2, 0, -1.5, 0.4, -2.4, -0.8, 0.2, 3, 0.8, 2.5, 2, 0.3, 2.2, -0.2, 1.7, 0.1, 0.4, 0.9})
}

var nineNIW = NIW{Mean: []float64{0, 1}, Kappa: 0.3, Nu: 4, Scale: mat.NewSymDense(2, []float64{0.8, 0.1, 0.1, 0.6})}

// All 21,147 partitions of nine rows: frequencies of the likely ones, of the
// number of clusters, and of every pair of rows being together. Posteriors for
// another α must fail, and so must the rule that the notes print, by which a
// new table has 1/(α+N): it is the posterior for α = 1.
func TestDPGibbsEnumerated(t *testing.T) {
	const alpha = 2.5
	x := nine()
	for name, prior := range map[string]ClusterPrior{
		"NIW":            nineNIW,
		"fixed variance": FixedVariance{Mean: []float64{0, 1}, PriorVariance: 3, Variance: 0.6},
	} {
		g := &DPGibbs{X: x, Prior: prior}
		draws := runDP(t, g, DPState{Z: make([]int, 9), Alpha: alpha}, 50000)
		for _, c := range []struct {
			alpha float64
			right bool
		}{{alpha, true}, {1, false}} {
			far := compare(t, draws, posterior(g, c.alpha))
			if (far < 4.5) != c.right {
				t.Errorf("%s: %.1f standard errors away from the posterior for α = %v", name, far, c.alpha)
			}
		}
	}
}

// splitMergeOnly is a kernel that splits and merges and does nothing else.
type splitMergeOnly struct{ *DPGibbs }

func (k splitMergeOnly) Step(rng *rand.Rand, s DPState) (DPState, sampling.Info) {
	if err := k.prepare(s); err != nil {
		return s, sampling.Info{Err: err}
	}
	for range 2 {
		k.sweeps.splitMerge(rng, s.Alpha)
	}
	return DPState{Z: k.sweeps.z, Alpha: s.Alpha}, sampling.Info{}
}

// Splits and merges alone reach every partition of nine rows, with the right
// frequencies, also under a prior that makes every row matter; and together with Gibbs.
func TestSplitMergeEnumerated(t *testing.T) {
	const alpha = 2.5
	x := nine()
	narrow := NIW{Mean: []float64{0, 1}, Kappa: 0.3, Nu: 4, Scale: mat.NewSymDense(2, []float64{0.3, 0, 0, 0.3})}
	fixed := FixedVariance{Mean: []float64{0, 1}, PriorVariance: 3, Variance: 0.6}
	for name, c := range map[string]struct {
		prior  ClusterPrior
		kernel func(g *DPGibbs) sampling.Kernel[DPState]
		alpha  float64
		right  bool
	}{
		"alone, NIW":            {nineNIW, func(g *DPGibbs) sampling.Kernel[DPState] { return splitMergeOnly{g} }, alpha, true},
		"alone, narrow NIW":     {narrow, func(g *DPGibbs) sampling.Kernel[DPState] { return splitMergeOnly{g} }, alpha, true},
		"alone, fixed variance": {fixed, func(g *DPGibbs) sampling.Kernel[DPState] { return splitMergeOnly{g} }, alpha, true},
		"with Gibbs":            {nineNIW, func(g *DPGibbs) sampling.Kernel[DPState] { g.SplitMerge = 2; return g }, alpha, true},
		"alone, another α":      {nineNIW, func(g *DPGibbs) sampling.Kernel[DPState] { return splitMergeOnly{g} }, 1.4, false},
	} {
		g := &DPGibbs{X: x, Prior: c.prior}
		draws := runDP(t, c.kernel(g), DPState{Z: make([]int, 9), Alpha: alpha}, 15000)
		if far := compare(t, draws, posterior(&DPGibbs{X: x, Prior: c.prior}, c.alpha)); (far < 4.5) != c.right {
			t.Errorf("%s: %.1f standard errors away from the posterior for α = %v", name, far, c.alpha)
		}
	}
}

// After splits, merges and sweeps the log density is still that of the labels.
func TestSplitMergeKeepsBooks(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	_, x := testGMM(Full).Sample(rng, 300)
	prior, err := DataNIW(x)
	if err != nil {
		t.Fatal(err)
	}
	g := &DPGibbs{X: x, Prior: prior, SplitMerge: 5}
	s := DPState{Z: make([]int, 300), Alpha: 1}
	accepted := 0.0
	for range 100 {
		next, info := g.Step(rng, s)
		if info.Err != nil {
			t.Fatal(info.Err)
		}
		if want := g.LogJoint(next); math.Abs(want-info.LogDensity) > 1e-8*math.Abs(want) {
			t.Fatalf("log density %v, from scratch %v", info.LogDensity, want)
		}
		accepted += info.Acceptance
		s = next
	}
	if accepted == 0 {
		t.Error("nothing was accepted")
	}
}

// posterior returns that of all partitions, from the evidences of all sets of rows.
func posterior(g *DPGibbs, alpha float64) map[string]float64 {
	n, d := g.X.Dims()
	evidence := make([]float64, 1<<n)
	for set := 1; set < 1<<n; set++ {
		var rows []float64
		for i := range n {
			if set>>i&1 == 1 {
				rows = append(rows, mat.Row(nil, i, g.X)...)
			}
		}
		evidence[set] = g.Prior.LogMarginal(mat.NewDense(len(rows)/d, d, rows))
	}
	states := make(map[string]float64)
	for z := range Partitions(n) {
		l := CRP{Alpha: alpha}.LogProb(z)
		var sets [16]int
		for i, k := range z {
			sets[k] |= 1 << i
		}
		for _, set := range sets {
			l += evidence[set]
		}
		states[key(z)] = l
	}
	return exact(states)
}

// compare returns by how many standard errors, at most, frequencies are away
// from their probabilities.
func compare(t *testing.T, draws []string, p map[string]float64) float64 {
	t.Helper()
	far := farthest(draws, p, 3e-3)
	states := sortedKeys(p)
	n := len(states[0])
	check := func(f func(z string) bool) {
		var want, got float64
		for _, z := range states {
			if f(z) {
				want += p[z]
			}
		}
		x := make([]float64, len(draws))
		for i, z := range draws {
			if f(z) {
				x[i] = 1
				got += 1 / float64(len(draws))
			}
		}
		if se := sampling.MCSEMean([][]float64{x}); want > 3e-3 && want < 1-3e-3 {
			far = max(far, math.Abs(got-want)/se)
		}
	}
	for k := 1; k <= n; k++ {
		check(func(z string) bool { return int(slices.Max([]byte(z))-'a')+1 == k })
	}
	for i := range n {
		for j := range i {
			check(func(z string) bool { return z[i] == z[j] })
		}
	}
	return far
}

// α redrawn for a fixed partition has the density p(α) α^k Γ(α)/Γ(α+n): mean
// and the share below two points against sums over a grid.
func TestAlphaRedraw(t *testing.T) {
	for _, c := range []struct {
		prior GammaPrior
		k, n  int
	}{{GammaPrior{2, 1}, 3, 20}, {GammaPrior{0.5, 0.2}, 1, 5}, {GammaPrior{3, 2}, 40, 60}} {
		const h = 0.001
		var mass, mean float64
		points := []float64{0.5, 2}
		below := make([]float64, len(points))
		for a := h / 2; a < 200; a += h {
			l := c.prior.logProb(a) + float64(c.k)*math.Log(a) + lgamma(a) - lgamma(a+float64(c.n)) + float64(c.n)
			w := math.Exp(l)
			mass += w
			mean += a * w
			for i, p := range points {
				if a < p {
					below[i] += w
				}
			}
		}
		rng := rand.New(rand.NewPCG(13, 14))
		x := make([][]float64, 1+len(points))
		alpha := 1.0
		for range 40000 {
			alpha = c.prior.redraw(rng, alpha, c.k, c.n)
			x[0] = append(x[0], alpha)
			for i, p := range points {
				v := 0.0
				if alpha < p {
					v = 1
				}
				x[i+1] = append(x[i+1], v)
			}
		}
		for i, want := range append([]float64{mean}, below...) {
			var got float64
			for _, v := range x[i] {
				got += v / float64(len(x[i]))
			}
			want /= mass
			if want < 1e-3 || want > 1-1e-3 && i > 0 {
				continue
			}
			if z := (got - want) / sampling.MCSEMean([][]float64{x[i]}); math.Abs(z) > 4.5 {
				t.Errorf("%+v, k = %d, n = %d: quantity %d is %v, want %v (%.1f standard errors)", c.prior, c.k, c.n, i, got, want, z)
			}
		}
	}
}

// The predictive densities of a state are those of its clusters; in one
// dimension they integrate to one.
func TestGibbsPredictive(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{-1, -0.8, 2, 2.5, 2.2})
	prior := NIW{Mean: []float64{0}, Kappa: 0.5, Nu: 5, Scale: mat.NewSymDense(1, []float64{1})}
	z := []int{3, 3, 0, 0, 0}
	infinite := &DPGibbs{X: x, Prior: prior}
	finite := &MixtureGibbs{X: x, K: 4, Alpha: 2, Prior: prior}
	for name, c := range map[string]struct {
		m        *StudentMixture
		logJoint func(x *mat.Dense, l int) float64 // with one more row, of label l
		labels   []int
	}{
		"infinite": {infinite.Predictive(DPState{Z: z, Alpha: 2}), func(x *mat.Dense, l int) float64 {
			return (&DPGibbs{X: x, Prior: prior}).LogJoint(DPState{Z: append(slices.Clone(z), l), Alpha: 2})
		}, []int{0, 1, 3}},
		"finite": {finite.Predictive(z), func(x *mat.Dense, l int) float64 {
			return (&MixtureGibbs{X: x, K: 4, Alpha: 2, Prior: prior}).LogJoint(append(slices.Clone(z), l))
		}, []int{0, 1, 2, 3}},
	} {
		now := infinite.LogJoint(DPState{Z: z, Alpha: 2})
		if name == "finite" {
			now = finite.LogJoint(z)
		}
		var sum float64
		for v := -60.0; v < 60; v += 0.05 {
			sum += 0.05 * math.Exp(c.m.LogProb([]float64{v}))
		}
		if math.Abs(sum-1) > 1e-4 { // tails of five degrees of freedom
			t.Errorf("%s: the density integrates to %v", name, sum)
		}
		for _, v := range []float64{-3, 0, 2} {
			more := mat.NewDense(6, 1, nil)
			more.Copy(x)
			more.Set(5, 0, v)
			var want float64
			for _, l := range c.labels {
				want += math.Exp(c.logJoint(more, l) - now)
			}
			if got := math.Exp(c.m.LogProb([]float64{v})); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: p(%v) = %v, want %v", name, v, got, want)
			}
		}
	}
}

// The joint distribution test of Geweke (2004): parameters, labels and data
// drawn from the prior must be distributed as in a chain that alternates the
// sampler with draws of the data given labels and parameters. Samplers that
// are told another α, or another prior of the clusters, must fail.
func TestGewekeGibbs(t *testing.T) {
	const n = 6
	prior := NIW{Mean: []float64{0.5}, Kappa: 0.5, Nu: 4, Scale: mat.NewSymDense(1, []float64{2})}
	other := prior
	other.Scale = mat.NewSymDense(1, []float64{3.5})
	alphaPrior := GammaPrior{3, 2}
	fixed := FixedVariance{Mean: []float64{0.5}, PriorVariance: 3, Variance: 0.5}

	drawAlpha := func(rng *rand.Rand) float64 {
		return distuv.Gamma{Alpha: alphaPrior.Shape, Beta: alphaPrior.Rate, Src: rng}.Rand()
	}
	// rows draws the data given the labels, by way of the parameters of each
	// cluster, which are drawn given the data that is there (nil: from the prior).
	rows := func(rng *rand.Rand, z []int, x *mat.Dense, p ClusterPrior) *mat.Dense {
		y := mat.NewDense(n, 1, nil)
		parts := make([]*mat.Dense, NumClusters(z))
		for c := range parts {
			parts[c] = &mat.Dense{}
		}
		if x != nil {
			parts = clustersOf(x, z)
		}
		c := Canonical(z)
		for k, part := range parts {
			var mean, sd float64
			switch p := p.(type) {
			case NIW:
				mu, cov := p.Posterior(part).Draw(rng)
				mean, sd = mu[0], math.Sqrt(cov.At(0, 0))
			case FixedVariance:
				next := p.nextRow(part)
				mean = next.Means.At(0, 0) + math.Sqrt(next.Scales[0].At(0, 0)-p.Variance)*rng.NormFloat64()
				sd = math.Sqrt(p.Variance)
			}
			for i := range n {
				if c[i] == k {
					y.Set(i, 0, mean+sd*rng.NormFloat64())
				}
			}
		}
		return y
	}
	functions := func(z []int, alpha float64, x *mat.Dense) []float64 {
		same := 0.0
		if z[0] == z[1] {
			same = 1
		}
		a, b := math.Tanh(x.At(0, 0)/2), math.Tanh(x.At(1, 0)/2) // bounded, as t has few moments
		return []float64{float64(NumClusters(z)), same, a, a * a, a * b, same * a * b, alpha, alpha * alpha, alpha * float64(NumClusters(z))}
	}
	infinite := func(p ClusterPrior, a *GammaPrior, splits int) func(*rand.Rand, DPState, *mat.Dense) (DPState, sampling.Info) {
		return func(rng *rand.Rand, s DPState, x *mat.Dense) (DPState, sampling.Info) {
			return (&DPGibbs{X: x, Prior: p, AlphaPrior: a, SplitMerge: splits}).Step(rng, s)
		}
	}
	finite := func(alpha float64) func(*rand.Rand, DPState, *mat.Dense) (DPState, sampling.Info) {
		return func(rng *rand.Rand, s DPState, x *mat.Dense) (DPState, sampling.Info) {
			z, info := (&MixtureGibbs{X: x, K: 3, Alpha: alpha, Prior: prior}).Step(rng, s.Z)
			return DPState{Z: z, Alpha: s.Alpha}, info
		}
	}
	labels := func(rng *rand.Rand) DPState {
		a := drawAlpha(rng)
		return DPState{Z: CRP{Alpha: a}.Sample(rng, n), Alpha: a}
	}
	finiteLabels := func(rng *rand.Rand) DPState {
		p := Dirichlet{Alpha: []float64{0.5, 0.5, 0.5}}.Draw(rng)
		z := make([]int, n)
		for i := range z {
			z[i] = categorical(rng, p, 1)
		}
		return DPState{Z: z, Alpha: 1}
	}
	for _, c := range []struct {
		name  string
		prior ClusterPrior
		draw  func(*rand.Rand) DPState
		step  func(*rand.Rand, DPState, *mat.Dense) (DPState, sampling.Info)
		right bool
	}{
		{"infinite, NIW", prior, labels, infinite(prior, &alphaPrior, 0), true},
		{"infinite, fixed variance", fixed, labels, infinite(fixed, &alphaPrior, 0), true},
		{"infinite, splits and merges", prior, labels, infinite(prior, &alphaPrior, 2), true},
		{"infinite, splits and merges under another prior", prior, labels, infinite(other, &alphaPrior, 2), false},
		{"infinite, α not redrawn by its prior", prior, labels, infinite(prior, &GammaPrior{3, 1.4}, 0), false},
		{"infinite, another prior", prior, labels, infinite(other, &alphaPrior, 0), false},
		{"finite", prior, finiteLabels, finite(1.5), true},
		{"finite, another α", prior, finiteLabels, finite(2), false},
	} {
		const draws = 15000
		rng := rand.New(rand.NewPCG(15, 16))
		s := c.draw(rng)
		x := rows(rng, s.Z, nil, c.prior)
		var chain, free [][]float64
		for range draws {
			next, info := c.step(rng, s, x)
			if info.Err != nil {
				t.Fatal(info.Err)
			}
			s = next.Clone()
			x = rows(rng, s.Z, x, c.prior)
			p := c.draw(rng)
			for i, v := range functions(s.Z, s.Alpha, x) {
				if len(chain) <= i {
					chain, free = append(chain, nil), append(free, nil)
				}
				chain[i] = append(chain[i], v)
			}
			for i, v := range functions(p.Z, p.Alpha, rows(rng, p.Z, nil, c.prior)) {
				free[i] = append(free[i], v)
			}
		}
		far := 0.0
		for i := range chain {
			a, b := meanOf(chain[i]), meanOf(free[i])
			se := math.Hypot(sampling.MCSEMean([][]float64{chain[i]}), sampling.MCSEMean([][]float64{free[i]}))
			if a != b { // a constant has no standard error
				far = max(far, math.Abs(a-b)/se)
			}
		}
		if (far < 4.5) != c.right {
			t.Errorf("%s: the joint distributions differ by %.1f standard errors", c.name, far)
		}
	}
}

func meanOf(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}
