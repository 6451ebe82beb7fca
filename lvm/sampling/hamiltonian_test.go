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

func energyOf(g target, x, p []float64) float64 {
	var k float64
	for _, v := range p {
		k += v * v / 2
	}
	return k - g.logp(x)
}

func TestLeapfrogReversible(t *testing.T) {
	for name, g := range map[string]target{"banana": banana(), "Gaussian": correlated()} {
		x, p, grad := []float64{0.5, 0.2}, []float64{0.3, -1}, make([]float64, 2)
		g.grad(x, grad)
		for range 100 {
			Leapfrog(g.grad, x, p, grad, 0.1)
		}
		if math.Hypot(x[0]-0.5, x[1]-0.2) < 0.01 {
			t.Fatalf("%s: did not go anywhere", name)
		}
		for range 100 {
			Leapfrog(g.grad, x, p, grad, -0.1)
		}
		if e := math.Abs(x[0]-0.5) + math.Abs(x[1]-0.2) + math.Abs(p[0]-0.3) + math.Abs(p[1]+1); e > 1e-10 {
			t.Errorf("%s: back within %g of the start", name, e)
		}
	}
}

// TestLeapfrogOrder: the energy error of one step is O(h³) and that of a
// path of fixed length O(h²), so halving h divides them by 8 and by 4.
func TestLeapfrogOrder(t *testing.T) {
	g := banana()
	drift := func(h float64, steps int) float64 {
		x, p, grad := []float64{0.5, 0.2}, []float64{0.3, -1}, make([]float64, 2)
		start := energyOf(g, x, p)
		g.grad(x, grad)
		for range steps {
			Leapfrog(g.grad, x, p, grad, h)
		}
		return energyOf(g, x, p) - start
	}
	if r := drift(2e-3, 1) / drift(1e-3, 1); math.Abs(r-8) > 0.1 {
		t.Errorf("halving the step divides the error of one step by %v, want 8", r)
	}
	if r := drift(2e-3, 300) / drift(1e-3, 600); math.Abs(r-4) > 0.05 {
		t.Errorf("halving the step divides the error of a path by %v, want 4", r)
	}
}

// TestLeapfrogKeepsVolume: the Jacobian of a step has determinant one.
func TestLeapfrogKeepsVolume(t *testing.T) {
	g := banana()
	step := func(z []float64) []float64 {
		x, p, grad := slices.Clone(z[:2]), slices.Clone(z[2:]), make([]float64, 2)
		g.grad(x, grad)
		Leapfrog(g.grad, x, p, grad, 0.4)
		return append(x, p...)
	}
	z, jac := []float64{0.5, 0.2, 0.3, -1}, mat.NewDense(4, 4, nil)
	for j := range 4 {
		const h = 1e-5
		up, down := slices.Clone(z), slices.Clone(z)
		up[j] += h
		down[j] -= h
		a, b := step(up), step(down)
		for i := range 4 {
			jac.Set(i, j, (a[i]-b[i])/(2*h))
		}
	}
	if det := mat.Det(jac); math.Abs(det-1) > 1e-8 {
		t.Errorf("determinant %v", det)
	}
}

// TestLeapfrogMass: with M⁻¹ = LLᵀ a step is that with unit masses of the
// whitened coordinates u = L⁻¹x, and a diagonal is a special case.
func TestLeapfrogMass(t *testing.T) {
	g, cov := banana(), mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1})
	lower, err := lowerFactor("test", cov, 2)
	if err != nil {
		t.Fatal(err)
	}
	times := func(u []float64) []float64 { return []float64{lower[0] * u[0], lower[2]*u[0] + lower[3]*u[1]} }
	white := func(u, grad []float64) float64 {
		var gx [2]float64
		l := g.grad(times(u), gx[:])
		grad[0], grad[1] = lower[0]*gx[0]+lower[2]*gx[1], lower[3]*gx[1]
		return l
	}
	u, pu, grad := []float64{0.3, -0.2}, []float64{0.7, 0.4}, make([]float64, 2)
	white(u, grad)

	var h hamiltonian
	if err := h.init("test", settings{gradient: g.grad, cov: cov, metric: DenseMetric}, 2); err != nil {
		t.Fatal(err)
	}
	z := newPhase(2)
	copy(z.x, times(u))
	g.grad(z.x, z.grad)
	// p = L⁻ᵀpu
	z.p[1] = pu[1] / lower[3]
	z.p[0] = (pu[0] - lower[2]*z.p[1]) / lower[0]
	h.mass.velocity(&z)
	for range 5 {
		Leapfrog(white, u, pu, grad, 0.2)
		energy, err := h.leapfrog(&z, 0.2)
		if err != nil {
			t.Fatal(err)
		}
		want := (pu[0]*pu[0]+pu[1]*pu[1])/2 - g.logp(times(u))
		if math.Abs(energy-want) > 1e-12 {
			t.Errorf("energy %v, want %v", energy, want)
		}
	}
	if x := times(u); math.Abs(z.x[0]-x[0])+math.Abs(z.x[1]-x[1]) > 1e-12 {
		t.Errorf("at %v, want %v", z.x, x)
	}
	// Momenta have covariance M.
	rng, sum := newRand(2), [3]float64{}
	const n = 200_000
	for range n {
		h.mass.draw(rng, z.p)
		sum[0] += z.p[0] * z.p[0] / n
		sum[1] += z.p[0] * z.p[1] / n
		sum[2] += z.p[1] * z.p[1] / n
	}
	for i, want := range []float64{1 / 1.75, -0.5 / 1.75, 2 / 1.75} { // the inverse of cov
		if math.Abs(sum[i]-want) > 5*1.2*math.Sqrt(2.0/n) {
			t.Errorf("momentum moments %v, want %v at %d", sum, want, i)
		}
	}
}

func TestHamiltonianInvariance(t *testing.T) {
	for name, g := range map[string]target{"Gaussian": correlated(), "funnel": funnel(), "banana": banana(), "modes": modes()} {
		d := len(g.draw(newRand(0)))
		cov := decaying(d, 0.4)
		// Step sizes large enough for the acceptance and the weights to matter.
		leavesInvariant(t, "HMC on "+name, g, func() *HMC { return &HMC{Gradient: g.grad, StepSize: 0.5, Steps: 4} })
		leavesInvariant(t, "HMC with jitter and masses on "+name, g, func() *HMC {
			return &HMC{Gradient: g.grad, StepSize: 0.4, Steps: 3, Jitter: 0.5, Metric: DenseMetric, Cov: cov}
		})
		leavesInvariant(t, "NUTS on "+name, g, func() *NUTS { return &NUTS{Gradient: g.grad, StepSize: 0.6} })
		leavesInvariant(t, "NUTS of depth 2 on "+name, g, func() *NUTS { return &NUTS{Gradient: g.grad, StepSize: 0.3, MaxDepth: 2} })
		leavesInvariant(t, "NUTS with variances on "+name, g, func() *NUTS { return &NUTS{Gradient: g.grad, StepSize: 0.4, Cov: cov} })
		leavesInvariant(t, "NUTS with covariance on "+name, g, func() *NUTS {
			return &NUTS{Gradient: g.grad, StepSize: 0.4, Metric: DenseMetric, Cov: cov}
		})
		opts := &RunOptions{BurnIn: 500}
		longRun(t, "adapted NUTS on "+name, g, func() *NUTS { return &NUTS{Gradient: g.grad} }, 5000, opts)
		longRun(t, "adapted dense NUTS on "+name, g, func() *NUTS { return &NUTS{Gradient: g.grad, Metric: DenseMetric} }, 5000, opts)
		longRun(t, "adapted HMC on "+name, g, func() *HMC { return &HMC{Gradient: g.grad, Jitter: 0.3} }, 5000, opts)
	}
}

// endless is HMC that accepts everything.
type endless struct{ g target }

func (k endless) Step(rng *rand.Rand, x []float64) ([]float64, Info) {
	x, p, grad := slices.Clone(x), make([]float64, len(x)), make([]float64, len(x))
	for i := range p {
		p[i] = rng.NormFloat64()
	}
	k.g.grad(x, grad)
	for range 4 {
		Leapfrog(k.g.grad, x, p, grad, 0.9)
	}
	return x, Info{Accepted: true}
}

func TestHamiltonianControl(t *testing.T) {
	g := correlated()
	if z := afterSteps(g, func() endless { return endless{g} }, 20_000, 3); worst(z) < 2*tooFar {
		t.Errorf("trajectories without acceptance go unnoticed: %.2f", z)
	}
}

func TestHamiltonianBadInput(t *testing.T) {
	flat := func(x, g []float64) float64 { clear(g); return 0 }
	nan := func(x, g []float64) float64 { return math.NaN() }
	nanGradient := func(x, g []float64) float64 { g[0] = math.NaN(); return 0 }
	pole := func(x, g []float64) float64 {
		g[0] = 1
		if x[0] > 1 {
			return math.Inf(1)
		}
		return x[0]
	}
	noise := func(x, g []float64) float64 { g[0] = 1e200; return -x[0] * x[0] }
	var density *DensityError
	var gradient *GradientError
	var shape *lvm.ShapeError
	run := func(f func(x, g []float64) float64, x []float64, cov mat.Symmetric) []error {
		o := &RunOptions{BurnIn: 100}
		_, e1 := Run(newRand(1), &NUTS{Gradient: f, Cov: cov}, x, 100, o)
		_, e2 := Run(newRand(1), &HMC{Gradient: f, Cov: cov}, x, 100, o)
		_, e3 := Run(newRand(1), &NUTS{Gradient: f, StepSize: 0.5, Cov: cov}, x, 100, nil)
		return []error{e1, e2, e3}
	}
	for i, err := range run(nan, []float64{0}, nil) {
		if !errors.As(err, &density) {
			t.Errorf("NaN, %d: %v", i, err)
		}
	}
	for i, err := range run(nanGradient, []float64{0}, nil) {
		if !errors.As(err, &gradient) || gradient.Coordinate != 0 {
			t.Errorf("NaN in the gradient, %d: %v", i, err)
		}
	}
	for i, err := range run(pole, []float64{0}, nil) {
		if !errors.As(err, &density) || !math.IsInf(density.Value, 1) {
			t.Errorf("pole, %d: %v", i, err)
		}
	}
	for i, err := range run(correlated().grad, nil, nil) {
		if !errors.As(err, &shape) {
			t.Errorf("no coordinates, %d: %v", i, err)
		}
	}
	for i, err := range run(correlated().grad, []float64{0, 0}, mat.NewSymDense(3, nil)) {
		if !errors.As(err, &shape) {
			t.Errorf("masses of the wrong size, %d: %v", i, err)
		}
	}
	if _, err := Run(newRand(1), &NUTS{Gradient: flat}, []float64{0}, 10, &RunOptions{BurnIn: 50}); err == nil {
		t.Error("a flat density found a step size")
	}
	if _, err := Run(newRand(1), &NUTS{Gradient: noise}, []float64{0}, 10, &RunOptions{BurnIn: 50}); err == nil {
		t.Error("a senseless gradient found a step size")
	}
	if _, err := Run(newRand(1), &NUTS{Gradient: correlated().grad}, []float64{0, 0}, 10, nil); !errors.Is(err, errNoStepSize) {
		t.Errorf("no step size: %v", err)
	}
	// Without burn-in a flat density is walked in bounded trajectories.
	_, info := (&NUTS{Gradient: flat, StepSize: 1}).Step(newRand(1), []float64{0})
	if info.Err != nil || info.TreeDepth != 10 || info.Evaluations != 1024 {
		t.Errorf("flat: depth %d, %d gradients, %v", info.TreeDepth, info.Evaluations, info.Err)
	}
}

func TestHMCTuning(t *testing.T) {
	visited := 0
	k := &HMC{Gradient: correlated().grad, StepSize: 0.25, Steps: 7, Visit: func([]float64) { visited++ }}
	if eps, cov := k.Tuning(); eps != 0.25 || cov != nil {
		t.Errorf("before the first step: %v, %v", eps, cov)
	}
	if _, info := k.Step(newRand(1), []float64{1, -1}); visited != 7 || info.Evaluations != 8 || info.StepSize != 0.25 {
		t.Errorf("%d points seen, %d gradients, step size %v", visited, info.Evaluations, info.StepSize)
	}
	if _, err := BurnIn(newRand(2), k, []float64{1, -1}, 1000); err != nil {
		t.Fatal(err)
	}
	// The last window holds 500 draws: variances to some 20 %.
	eps, cov := k.Tuning()
	if !(eps > 0.1 && eps < 2) || math.Abs(cov.At(0, 0)-1) > 0.5 || math.Abs(cov.At(1, 1)-4) > 2 || cov.At(0, 1) != 0 {
		t.Errorf("after burn-in: %v, %v", eps, mat.Formatted(cov))
	}
	if _, err := Run(newRand(1), &HMC{Gradient: correlated().grad}, []float64{0, 0}, 10, nil); !errors.Is(err, errNoStepSize) {
		t.Errorf("no step size: %v", err)
	}
}

func TestCheckGradient(t *testing.T) {
	for name, g := range map[string]target{"Gaussian": correlated(), "funnel": funnel(), "banana": banana(), "modes": modes()} {
		rng := newRand(1)
		for range 20 {
			if err := CheckGradient(g.grad, g.draw(rng)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	wrong := func(x, g []float64) float64 {
		l := banana().grad(x, g)
		g[1] *= 1.001
		return l
	}
	var e *GradientError
	if err := CheckGradient(wrong, []float64{1, 0.5}); !errors.As(err, &e) || e.Coordinate != 1 || math.Abs(e.Got/e.Want-1.001) > 1e-6 {
		t.Errorf("a gradient off by a thousandth: %v", err)
	}
	var d *DensityError
	if err := CheckGradient(func(x, g []float64) float64 { return math.Inf(-1) }, []float64{1}); !errors.As(err, &d) {
		t.Errorf("outside the support: %v", err)
	}
}

func TestHamiltonianDoesNotAllocate(t *testing.T) {
	g := correlated()
	doesNotAllocate(t, "NUTS", &NUTS{Gradient: g.grad, StepSize: 0.4}, []float64{0, 0})
	doesNotAllocate(t, "dense NUTS", &NUTS{Gradient: g.grad, StepSize: 0.4, Metric: DenseMetric, Cov: decaying(2, 0.3)}, []float64{0, 0})
	doesNotAllocate(t, "HMC", &HMC{Gradient: g.grad, StepSize: 0.4}, []float64{0, 0})
}
