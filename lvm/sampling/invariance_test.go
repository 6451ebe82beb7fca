package sampling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// target is a distribution that can be drawn from exactly, with quantities
// whose expectations are known.
type target struct {
	logp  func(x []float64) float64
	grad  func(x, grad []float64) float64
	draw  func(rng *rand.Rand) []float64
	funcs []func(x []float64) float64
	means []float64
}

// gaussian is N(mean, cov) with its first and second moments.
func gaussianTarget(mean []float64, cov *mat.SymDense) target {
	d := len(mean)
	lower, err := lowerFactor("test", cov, d)
	if err != nil {
		panic(err)
	}
	var chol mat.Cholesky
	chol.Factorize(cov)
	var q mat.SymDense
	if err := chol.InverseTo(&q); err != nil {
		panic(err)
	}
	t := target{draw: func(rng *rand.Rand) []float64 {
		x := make([]float64, d)
		gaussianStep(rng, x, mean, make([]float64, d), 1, lower)
		return x
	}}
	t.grad = func(x, grad []float64) float64 {
		var s float64
		for i := range d {
			grad[i] = 0
			for j := range d {
				grad[i] -= q.At(i, j) * (x[j] - mean[j])
			}
			s += 0.5 * grad[i] * (x[i] - mean[i])
		}
		return s
	}
	t.logp = func(x []float64) float64 { return t.grad(x, make([]float64, d)) }
	for i := range d {
		t.funcs = append(t.funcs, func(x []float64) float64 { return x[i] })
		t.means = append(t.means, mean[i])
		for j := range i + 1 {
			t.funcs = append(t.funcs, func(x []float64) float64 { return (x[i] - mean[i]) * (x[j] - mean[j]) })
			t.means = append(t.means, cov.At(i, j))
		}
	}
	return t
}

// correlated has standard deviations 1 and 2 and correlation 0.8.
func correlated() target {
	return gaussianTarget([]float64{1, -1}, mat.NewSymDense(2, []float64{1, 1.6, 1.6, 4}))
}

// funnel is v ~ N(0, 3²), x_i | v ~ N(0, e^v), scaled down to v ~ N(0, 1) so
// that every kernel can visit all of it (Neal 2003, §8).
func funnel() target {
	t := target{draw: func(rng *rand.Rand) []float64 {
		v := rng.NormFloat64()
		return []float64{v, math.Exp(v/2) * rng.NormFloat64(), math.Exp(v/2) * rng.NormFloat64()}
	}}
	t.grad = func(x, g []float64) float64 {
		v, w := x[0], math.Exp(-x[0])
		s := x[1]*x[1] + x[2]*x[2]
		g[0], g[1], g[2] = -v-1+0.5*w*s, -w*x[1], -w*x[2]
		return -0.5*v*v - v - 0.5*w*s
	}
	t.logp = func(x []float64) float64 { return t.grad(x, make([]float64, 3)) }
	t.funcs = []func([]float64) float64{
		func(x []float64) float64 { return x[0] },
		func(x []float64) float64 { return x[0] * x[0] },
		func(x []float64) float64 { return math.Abs(x[1]) },
		func(x []float64) float64 { return x[1] * x[2] },
	}
	// E|x| = E[e^{v/2}] √(2/π) with E[e^{v/2}] = e^{1/8}
	t.means = []float64{0, 1, math.Exp(0.125) * math.Sqrt(2/math.Pi), 0}
	return t
}

// banana is a ~ N(0, 1), b | a ~ N(a², ½²).
func banana() target {
	t := target{draw: func(rng *rand.Rand) []float64 {
		a := rng.NormFloat64()
		return []float64{a, a*a + 0.5*rng.NormFloat64()}
	}}
	t.grad = func(x, g []float64) float64 {
		r := x[1] - x[0]*x[0]
		g[0], g[1] = -x[0]+8*r*x[0], -4*r
		return -0.5*x[0]*x[0] - 2*r*r
	}
	t.logp = func(x []float64) float64 { return t.grad(x, make([]float64, 2)) }
	t.funcs = []func([]float64) float64{
		func(x []float64) float64 { return x[0] },
		func(x []float64) float64 { return x[0] * x[0] },
		func(x []float64) float64 { return x[1] },
		func(x []float64) float64 { return x[1] * x[1] },
	}
	t.means = []float64{0, 1, 1, 3.25}
	return t
}

// modes is ½N(−2, 1) + ½N(2, 1) in one dimension.
func modes() target {
	t := target{draw: func(rng *rand.Rand) []float64 {
		return []float64{4*float64(rng.IntN(2)) - 2 + rng.NormFloat64()}
	}}
	t.grad = func(x, g []float64) float64 {
		g[0] = -x[0] + 2*math.Tanh(2*x[0])
		a := math.Abs(x[0]) // log cosh 2x, which itself overflows
		return -0.5*a*a + 2*a + math.Log1p(math.Exp(-4*a))
	}
	t.logp = func(x []float64) float64 { return t.grad(x, make([]float64, 1)) }
	t.funcs = []func([]float64) float64{
		func(x []float64) float64 { return x[0] },
		func(x []float64) float64 { return x[0] * x[0] },
	}
	t.means = []float64{0, 5}
	return t
}

// zScores returns how many Monte Carlo standard errors the mean of each
// quantity is from its expectation.
func (g target) zScores(chains []*Chain[[]float64]) []float64 {
	z := make([]float64, len(g.funcs))
	for i, f := range g.funcs {
		draws := Extract(chains, f)
		var sum, n float64
		for _, c := range draws {
			for _, v := range c {
				sum, n = sum+v, n+1
			}
		}
		z[i] = (sum/n - g.means[i]) / MCSEMean(draws)
	}
	return z
}

// tooFar is the largest |z| that passes: a right kernel exceeds it with
// probability 7e-6 per quantity.
const tooFar = 4.5

func worst(z []float64) float64 {
	var w float64
	for _, v := range z {
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		w = max(w, math.Abs(v))
	}
	return w
}

// longRun checks moments of four chains that start from exact draws.
func longRun[K Kernel[[]float64]](t *testing.T, name string, g target, newKernel func() K, n int, opts *RunOptions) []*Chain[[]float64] {
	t.Helper()
	rng := newRand(11)
	var starts [][]float64
	for range 4 {
		starts = append(starts, g.draw(rng))
	}
	chains, err := RunChains(rng, newKernel, starts, n, opts)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if z := g.zScores(chains); worst(z) > tooFar {
		t.Errorf("%s: moments are %.2f Monte Carlo standard errors from the truth", name, z)
	}
	return chains
}

// afterSteps returns the z scores of independent states that start from
// exact draws and take k steps each. An invariant kernel leaves them exact.
func afterSteps[K Kernel[[]float64]](g target, newKernel func() K, n, k int) []float64 {
	rng := newRand(12)
	kernel := newKernel()
	values := make([][]float64, len(g.funcs))
	for range n {
		x := g.draw(rng)
		for range k {
			x, _ = kernel.Step(rng, x)
		}
		for i, f := range g.funcs {
			values[i] = append(values[i], f(x))
		}
	}
	z := make([]float64, len(g.funcs))
	for i, v := range values {
		z[i] = (mean(v) - g.means[i]) / math.Sqrt(variance(v)/float64(n))
	}
	return z
}

// moved checks that the kernel does something at all: a kernel that stays
// leaves everything invariant.
func moved[K Kernel[[]float64]](t *testing.T, name string, g target, newKernel func() K) {
	t.Helper()
	rng := newRand(13)
	kernel, x := newKernel(), g.draw(newRand(13))
	start, n := slices.Clone(x), 0
	for range 200 {
		var info Info
		x, info = kernel.Step(rng, x)
		if info.Err != nil {
			t.Fatalf("%s: %v", name, info.Err)
		}
		if info.Accepted {
			n++
		}
	}
	if n < 10 || slices.Equal(start, x) {
		t.Errorf("%s: moved in %d of 200 steps", name, n)
	}
}

func leavesInvariant[K Kernel[[]float64]](t *testing.T, name string, g target, newKernel func() K) {
	t.Helper()
	moved(t, name, g, newKernel)
	if z := afterSteps(g, newKernel, 20_000, 3); worst(z) > tooFar {
		t.Errorf("%s: after 3 steps the moments are %.2f standard errors from the truth", name, z)
	}
}

func doesNotAllocate[K Kernel[S], S any](t *testing.T, name string, kernel K, x S) {
	t.Helper()
	rng := newRand(14)
	for range 50 {
		var info Info
		if x, info = kernel.Step(rng, x); info.Err != nil {
			t.Fatal(info.Err)
		}
	}
	if n := testing.AllocsPerRun(200, func() { x, _ = kernel.Step(rng, x) }); n != 0 {
		t.Errorf("%s: %v allocations per step", name, n)
	}
}
