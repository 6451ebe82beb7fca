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
	"github.com/latent-lessons/latent/lvm/sampling"
)

// conditional returns the probabilities of the labels of row i given all
// others, from the joint density of every choice; labels beyond those in use
// stand for a new cluster.
func conditional(z []int, i int, labels []int, logJoint func(z []int) float64) []float64 {
	y := slices.Clone(z)
	p := make([]float64, len(labels))
	top := math.Inf(-1)
	for c, l := range labels {
		y[i] = l
		p[c] = logJoint(y)
		top = max(top, p[c])
	}
	var sum float64
	for c := range p {
		p[c] = math.Exp(p[c] - top)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

// Every conditional that a sweep draws from, against ratios of joint
// densities from scratch: data spread and bunched, clusters of one row, priors
// so narrow or so vague that a row of two makes all of the posterior.
func TestConditionals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	narrow := NIW{Mean: []float64{0, 0}, Kappa: 1e-3, Nu: 2.5, Scale: mat.NewSymDense(2, []float64{1e-9, 0, 0, 1e-9})}
	for name, prior := range map[string]ClusterPrior{
		"NIW":            randomNIW(rng, 2),
		"narrow NIW":     narrow,
		"fixed variance": FixedVariance{Mean: []float64{1, 0}, PriorVariance: 9, Variance: 0.7},
	} {
		const n, alpha = 37, 1.3
		x := normals(rng, n, 2)
		for i := 20; i < n; i++ {
			x.SetRow(i, []float64{5 + 0.1*rng.NormFloat64(), -3})
		}
		for _, k := range []int{0, 1, 4, 60} {
			s, err := newSweeps("test", x, prior, k)
			if err != nil {
				t.Fatal(err)
			}
			logJoint := func(z []int) float64 {
				if k > 0 {
					return logLabels(sizesOf(z), k, alpha) + logMarginal(x, z, prior)
				}
				return CRP{Alpha: alpha}.LogProb(z) + logMarginal(x, z, prior)
			}
			z := make([]int, n)
			for i := range z {
				z[i] = rng.IntN(max(1, min(k, 5)))
			}
			for sweep := range 4 {
				if err := s.start("test", z); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					own := s.z[i]
					before := slices.Clone(s.z)
					if err := s.redraw(rng, alpha, i); err != nil {
						t.Fatal(err)
					}
					// The choices were the clusters in use without row i, and a new one.
					var labels []int
					for l := range s.sizes {
						if l != own && slices.Contains(before, l) {
							labels = append(labels, l)
						}
					}
					others := slices.Delete(slices.Clone(before), i, i+1)
					if slices.Contains(others, own) {
						labels = append(labels, own)
					}
					unused := 0
					for slices.Contains(others, unused) {
						unused++
					}
					want := conditional(before, i, append(labels, unused), logJoint)
					if k > 0 {
						want[len(labels)] *= float64(k - len(labels))
						var sum float64
						for _, p := range want {
							sum += p
						}
						for c := range want {
							want[c] /= sum
						}
					}
					got := s.weights[:len(labels)+1]
					var sum float64
					for _, w := range got {
						sum += w
					}
					// got is in the order of active, without the slot that was opened.
					active := slices.Clone(s.active)
					if !slices.Contains(others, s.z[i]) {
						active = active[:len(active)-1]
					}
					for c, l := range active {
						w := want[slices.Index(labels, l)]
						if g := got[c] / sum; math.Abs(g-w) > 1e-8 {
							t.Fatalf("%s, K = %d, sweep %d: p(z_%d = %d) is %v, want %v", name, k, sweep, i, l, g, w)
						}
					}
					if g := got[len(labels)] / sum; math.Abs(g-want[len(labels)]) > 1e-8 {
						t.Fatalf("%s, K = %d, sweep %d: p(z_%d new) is %v, want %v", name, k, sweep, i, g, want[len(labels)])
					}
				}
				if got, want := s.logMarginals(), logMarginal(x, s.z, prior); math.Abs(got-want) > 1e-7*math.Abs(want) {
					t.Fatalf("%s, K = %d: evidence %v after a sweep, want %v", name, k, got, want)
				}
				z = slices.Clone(s.z)
			}
		}
	}
}

// exact returns the posterior of every state, from its log joint densities.
func exact(states map[string]float64) map[string]float64 {
	top := math.Inf(-1)
	for _, l := range states {
		top = max(top, l)
	}
	p, sum := make(map[string]float64), 0.0
	for s, l := range states {
		p[s] = math.Exp(l - top)
	}
	for _, key := range sortedKeys(p) {
		sum += p[key]
	}
	for s := range p {
		p[s] /= sum
	}
	return p
}

func sortedKeys(m map[string]float64) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// farthest returns by how many standard errors, at most, the frequencies of states
// with at least the given probability are away from it.
func farthest(draws []string, p map[string]float64, least float64) float64 {
	far := 0.0
	for _, state := range sortedKeys(p) {
		if p[state] < least {
			continue
		}
		x := make([]float64, len(draws))
		mean := 0.0
		for i, d := range draws {
			if d == state {
				x[i] = 1
				mean += 1 / float64(len(draws))
			}
		}
		se := sampling.MCSEMean([][]float64{x})
		if math.IsNaN(se) {
			se = math.Sqrt(p[state] / float64(len(draws))) // it never occurred
		}
		far = max(far, math.Abs(mean-p[state])/se)
	}
	return far
}

// Six rows and three clusters: all 729 labellings against their frequencies,
// and against the posterior for another α, which must fail.
func TestMixtureGibbsEnumerated(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{-2, -1.6, 0.1, 0.4, 1.9, 2.6})
	for name, prior := range map[string]ClusterPrior{
		"NIW":            NIW{Mean: []float64{0}, Kappa: 0.2, Nu: 3, Scale: mat.NewSymDense(1, []float64{1})},
		"fixed variance": FixedVariance{Mean: []float64{0}, PriorVariance: 4, Variance: 0.3},
	} {
		g := &MixtureGibbs{X: x, K: 3, Alpha: 1.5, Prior: prior}
		right, wrong := make(map[string]float64), make(map[string]float64)
		z := make([]int, 6)
		for s := range 729 {
			for i := range z {
				z[i], s = s%3, s/3
			}
			right[key(z)] = g.LogJoint(z)
			wrong[key(z)] = (&MixtureGibbs{X: x, K: 3, Alpha: 2.5, Prior: prior}).LogJoint(z)
		}
		chain, err := sampling.Run(rand.New(rand.NewPCG(3, 4)), g, make([]int, 6), 60000, &sampling.RunOptions{BurnIn: 100})
		if err != nil {
			t.Fatal(err)
		}
		draws := make([]string, len(chain.States))
		for i, z := range chain.States {
			draws[i] = key(z)
			if l := g.LogJoint(z); i%1000 == 0 && math.Abs(l-chain.Infos[i].LogDensity) > 1e-9 {
				t.Fatalf("%s: log density %v, from scratch %v", name, chain.Infos[i].LogDensity, l)
			}
		}
		if far := farthest(draws, exact(right), 3e-3); far > 4.5 {
			t.Errorf("%s: a labelling is %.1f standard errors away from its probability", name, far)
		}
		if far := farthest(draws, exact(wrong), 3e-3); far < 6 {
			t.Errorf("%s: only %.1f standard errors away from the posterior for another α", name, far)
		}
	}
}

// The conditional of the catalogue to the notes: x = (−1, −0.8, 2), σ² = 0.5,
// σ₀² = 4, α = 1, K = 2: p(z_3 = z_1 | z_1 = z_2) = 0.072276.
func TestMixtureGibbsConditionalOfNotes(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{-1, -0.8, 2})
	g := &MixtureGibbs{X: x, K: 2, Alpha: 1, Prior: FixedVariance{Mean: []float64{0}, PriorVariance: 4, Variance: 0.5}}
	p := conditional([]int{0, 0, 0}, 2, []int{0, 1}, g.LogJoint)
	if math.Abs(p[0]-0.072276) > 5e-7 {
		t.Errorf("p(z_3 = z_1) = %v, want 0.072276", p[0])
	}
}

// A step of a thousand rows allocates what it does for ten: nothing for a row.
func TestGibbsAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	_, x := testGMM(Full).Sample(rng, 1000)
	prior, err := DataNIW(x)
	if err != nil {
		t.Fatal(err)
	}
	finite := &MixtureGibbs{X: x, K: 4, Alpha: 1, Prior: prior}
	z := make([]int, 1000)
	infinite := &DPGibbs{X: x, Prior: prior, AlphaPrior: &GammaPrior{2, 1}}
	s := DPState{Z: z, Alpha: 1}
	for range 20 {
		z, _ = finite.Step(rng, z)
		s, _ = infinite.Step(rng, s)
	}
	if a := testing.AllocsPerRun(20, func() { z, _ = finite.Step(rng, z) }); a > 10 {
		t.Errorf("finite: %v allocations per step", a)
	}
	if a := testing.AllocsPerRun(20, func() { s, _ = infinite.Step(rng, s) }); a > 20 {
		t.Errorf("infinite: %v allocations per step", a)
	}
}

// A kernel leaves its state alone, and the one returned through the next step;
// the next state depends on the generator and the state alone, not on where
// the chain came from.
func TestGibbsKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	_, x := testGMM(Full).Sample(rng, 200)
	prior, err := DataNIW(x)
	if err != nil {
		t.Fatal(err)
	}
	start := DPState{Z: make([]int, 200), Alpha: 1}
	fresh := func() *DPGibbs { return &DPGibbs{X: x, Prior: prior, AlphaPrior: &GammaPrior{2, 1}} }
	g := fresh()
	s := start
	for t1 := range 30 {
		before := s.Clone()
		next, info := g.Step(rand.New(rand.NewPCG(9, uint64(t1))), s)
		if info.Err != nil {
			t.Fatal(info.Err)
		}
		if !slices.Equal(before.Z, s.Z) || before.Alpha != s.Alpha {
			t.Fatal("the state was modified")
		}
		again, _ := fresh().Step(rand.New(rand.NewPCG(9, uint64(t1))), before)
		if !slices.Equal(again.Z, next.Z) || again.Alpha != next.Alpha {
			t.Fatal("a fresh kernel takes another step from the same state")
		}
		s = next
	}
	run := func() []*sampling.Chain[DPState] {
		chains, err := sampling.RunChains(rand.New(rand.NewPCG(1, 1)), fresh, []DPState{start, start}, 20, nil)
		if err != nil {
			t.Fatal(err)
		}
		return chains
	}
	a, b := run(), run()
	for c := range a {
		for i := range a[c].States {
			if !slices.Equal(a[c].States[i].Z, b[c].States[i].Z) || a[c].States[i].Alpha != b[c].States[i].Alpha {
				t.Fatalf("chain %d, draw %d differs between runs", c, i)
			}
		}
	}
}

func TestGibbsRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := normals(rng, 5, 2)
	prior := randomNIW(rng, 2)
	bad := mat.DenseCopyOf(x)
	bad.Set(3, 1, math.NaN())
	flat := prior
	flat.Scale = mat.NewSymDense(2, []float64{1, 1, 1, 1})
	z := make([]int, 5)
	var data *lvm.DataError
	var shape *lvm.ShapeError
	for name, c := range map[string]struct {
		g    *MixtureGibbs
		z    []int
		want any
	}{
		"K = 0":              {&MixtureGibbs{X: x, K: 0, Alpha: 1, Prior: prior}, z, &data},
		"α = 0":              {&MixtureGibbs{X: x, K: 2, Prior: prior}, z, &data},
		"α < 0":              {&MixtureGibbs{X: x, K: 2, Alpha: -1, Prior: prior}, z, &data},
		"no data":            {&MixtureGibbs{K: 2, Alpha: 1, Prior: prior}, z, &data},
		"no prior":           {&MixtureGibbs{X: x, K: 2, Alpha: 1}, z, &data},
		"a NaN":              {&MixtureGibbs{X: bad, K: 2, Alpha: 1, Prior: prior}, z, &data},
		"the wrong width":    {&MixtureGibbs{X: x, K: 2, Alpha: 1, Prior: randomNIW(rng, 3)}, z, &shape},
		"a singular scale":   {&MixtureGibbs{X: x, K: 2, Alpha: 1, Prior: flat}, z, &data},
		"too few labels":     {&MixtureGibbs{X: x, K: 2, Alpha: 1, Prior: prior}, z[:4], &shape},
		"a label beyond K":   {&MixtureGibbs{X: x, K: 2, Alpha: 1, Prior: prior}, []int{0, 1, 2, 0, 0}, &data},
		"a negative label":   {&MixtureGibbs{X: x, K: 2, Alpha: 1, Prior: prior}, []int{0, -1, 0, 0, 0}, &data},
		"far beyond numbers": {&MixtureGibbs{X: mat.NewDense(1, 1, []float64{1e139}), K: 2, Alpha: 1, Prior: FixedVariance{Mean: []float64{0}, PriorVariance: 1e-100, Variance: 1e-100}}, z[:1], &data},
	} {
		got, info := c.g.Step(rng, c.z)
		if info.Err == nil || !errors.As(info.Err, c.want) {
			t.Errorf("%s: %v", name, info.Err)
		}
		if !slices.Equal(got, c.z) {
			t.Errorf("%s: the state changed", name)
		}
		if name == "a NaN" || name == "far beyond numbers" {
			continue // the density is not a number, and says so
		}
		if err := recovered(func() { c.g.LogJoint(c.z) }); !errors.As(err, c.want) {
			t.Errorf("%s: LogJoint: %v", name, err)
		}
		if err := recovered(func() { c.g.Predictive(c.z) }); !errors.As(err, c.want) {
			t.Errorf("%s: Predictive: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		g    *DPGibbs
		s    DPState
		want any
	}{
		"α = 0":              {&DPGibbs{X: x, Prior: prior}, DPState{Z: z}, &data},
		"α = NaN":            {&DPGibbs{X: x, Prior: prior}, DPState{Z: z, Alpha: math.NaN()}, &data},
		"a bad prior of α":   {&DPGibbs{X: x, Prior: prior, AlphaPrior: &GammaPrior{0, 1}}, DPState{Z: z, Alpha: 1}, &data},
		"a label beyond n−1": {&DPGibbs{X: x, Prior: prior}, DPState{Z: []int{0, 0, 0, 0, 5}, Alpha: 1}, &data},
		"no labels":          {&DPGibbs{X: x, Prior: prior}, DPState{Alpha: 1}, &shape},
		"the wrong width":    {&DPGibbs{X: x, Prior: randomNIW(rng, 3)}, DPState{Z: z, Alpha: 1}, &shape},
		"a singular scale":   {&DPGibbs{X: x, Prior: flat}, DPState{Z: z, Alpha: 1}, &data},
		"−1 splits":          {&DPGibbs{X: x, Prior: prior, SplitMerge: -1}, DPState{Z: z, Alpha: 1}, &data},
	} {
		_, info := c.g.Step(rng, c.s)
		if info.Err == nil || !errors.As(info.Err, c.want) {
			t.Errorf("%s: %v", name, info.Err)
		}
		if strings.HasPrefix(name, "α = ") {
			for _, f := range []func(){func() { c.g.LogJoint(c.s) }, func() { c.g.Predictive(c.s) }} {
				if err := recovered(f); !errors.As(err, c.want) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

func benchmarkDP(b *testing.B, n, d int) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, _ := benchMixture(n, d, 8, Full)
	prior, err := DataNIW(x)
	if err != nil {
		b.Fatal(err)
	}
	g := &DPGibbs{X: x, Prior: prior}
	s := DPState{Z: make([]int, n), Alpha: 1}
	for range 30 {
		s, _ = g.Step(rng, s)
	}
	b.ReportAllocs()
	var k float64
	for b.Loop() {
		s, _ = g.Step(rng, s)
		k += float64(NumClusters(s.Z))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sweeps/s")
	b.ReportMetric(k/float64(b.N), "clusters")
	b.ReportMetric(b.Elapsed().Seconds()*1e9/k/float64(n), "ns/row·cluster")
}

func BenchmarkDPGibbs(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		for _, d := range []int{2, 8} {
			b.Run(fmt.Sprintf("%dx%d", n, d), func(b *testing.B) { benchmarkDP(b, n, d) })
		}
	}
}
