package sampling

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func gauss2(x []float64) float64 { return -0.5 * (x[0]*x[0] + x[1]*x[1]) }

// counting is a kernel that counts and remembers how it was adapted.
type counting struct {
	adapted []int
	fail    int
}

func (c *counting) Step(_ *rand.Rand, s int) (int, Info) {
	if c.fail > 0 && s+1 == c.fail {
		return s, Info{Err: errors.New("no more")}
	}
	return s + 1, Info{Acceptance: float64(s % 2), Divergent: s%4 == 0, Invalid: s%5 == 0, Evaluations: 2}
}

func (c *counting) Adapt(_ *rand.Rand, t, n int, s int, info Info) {
	c.adapted = append(c.adapted, t, n, s)
}

func TestRunBurnInAndThinning(t *testing.T) {
	k := &counting{}
	c, err := Run(newRand(1), k, 0, 5, &RunOptions{BurnIn: 3, Thin: 4})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{7, 11, 15, 19, 23}; !slices.Equal(c.States, want) {
		t.Errorf("states %v, want %v", c.States, want)
	}
	if want := []int{0, 3, 0, 1, 3, 1, 2, 3, 2, 3, 3, 3}; !slices.Equal(k.adapted, want) {
		t.Errorf("adapted with %v, want %v", k.adapted, want)
	}
	// Steps from states 3 … 22: half of them odd, multiples of four 4, 8, 12,
	// 16, 20 and of five 5, 10, 15, 20.
	if c.Steps != 20 || c.Acceptance != 0.5 || c.Divergences != 5 || c.Invalid != 4 || c.Evaluations != 40 {
		t.Errorf("summary %d %v %d %d %d", c.Steps, c.Acceptance, c.Divergences, c.Invalid, c.Evaluations)
	}
}

func TestRunKeepsRepeatedStates(t *testing.T) {
	k := &Metropolis{LogDensity: gauss2, Scale: 20}
	c, err := Run(newRand(2), k, []float64{0, 0}, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	repeats := 0
	for i := 1; i < len(c.States); i++ {
		same := slices.Equal(c.States[i], c.States[i-1])
		if same == c.Infos[i].Accepted {
			t.Fatalf("draw %d: accepted %v, but same as the one before %v", i, c.Infos[i].Accepted, same)
		}
		if same {
			repeats++
		}
	}
	if repeats < 900 {
		t.Errorf("%d of 1000 states repeat; a step of 20 sd should nearly always be rejected", repeats)
	}
}

func TestRunStopsByContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var last, calls int
	o := &RunOptions{BurnIn: 10, Context: ctx, Progress: func(done, total int) {
		if done <= last || done > total {
			t.Errorf("progress from %d to %d of %d", last, done, total)
		}
		last, calls = done, calls+1
		if done >= 500 {
			cancel()
		}
	}}
	c, err := Run(newRand(1), &counting{}, 0, 990, o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if len(c.States) != 490 || len(c.Infos) != 490 || c.States[489] != 500 {
		t.Errorf("%d draws after a stop at step 500 with burn-in 10", len(c.States))
	}
	if last != 500 || calls != 50 {
		t.Errorf("%d calls, last at %d", calls, last)
	}
	// One that ends during burn-in leaves no draws.
	ctx, cancel = context.WithCancel(context.Background())
	c, err = Run(newRand(1), &counting{}, 0, 10, &RunOptions{BurnIn: 100, Context: ctx, Progress: func(int, int) { cancel() }})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "burn-in") || len(c.States) != 0 {
		t.Errorf("stopped while burning in: %d draws, %v", len(c.States), err)
	}
	// A context that ends after the last step takes nothing away.
	ctx, cancel = context.WithCancel(context.Background())
	o = &RunOptions{Context: ctx, Progress: func(done, total int) {
		if done == total {
			cancel()
		}
	}}
	if c, err := Run(newRand(1), &counting{}, 0, 10, o); err != nil || len(c.States) != 10 {
		t.Errorf("%d draws, %v", len(c.States), err)
	}
}

func TestRunStopsAtError(t *testing.T) {
	c, err := Run(newRand(1), &counting{fail: 8}, 0, 100, nil)
	if err == nil || len(c.States) != 7 {
		t.Errorf("%d draws, error %v", len(c.States), err)
	}
	if s, err := BurnIn(newRand(1), &counting{fail: 8}, 0, 100); err == nil || s != 7 {
		t.Errorf("burn-in stopped at %d, error %v", s, err)
	}
	steps := 0
	for range Walk(newRand(1), &counting{fail: 8}, 0) {
		steps++
	}
	if steps != 8 {
		t.Errorf("walk of %d steps, want 7 and the one with the error", steps)
	}
}

func TestRunChainsSameBitsOnAnyCores(t *testing.T) {
	starts := [][]float64{{0, 0}, {1, 0}, {0, 1}, {-1, 2}, {3, 3}}
	run := func(procs int) []*Chain[[]float64] {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		chains, err := RunChains(newRand(3), func() *Metropolis { return &Metropolis{LogDensity: gauss2} }, starts, 300, &RunOptions{BurnIn: 50})
		if err != nil {
			t.Fatal(err)
		}
		return chains
	}
	one, two := run(1), run(4)
	for i := range one {
		if !reflect.DeepEqual(one[i], two[i]) {
			t.Errorf("chain %d depends on GOMAXPROCS", i)
		}
		if i > 0 && one[i].States[299][0] == one[0].States[299][0] {
			t.Errorf("chains 0 and %d are the same", i)
		}
	}
}

func TestRunChainsReportsFirstError(t *testing.T) {
	bad := func(x []float64) float64 {
		if x[0] > 5 {
			return math.NaN()
		}
		return gauss2(x)
	}
	starts := [][]float64{{0, 0}, {9, 0}, {0, 0}}
	chains, err := RunChains(newRand(3), func() *Metropolis { return &Metropolis{LogDensity: bad} }, starts, 100, nil)
	var de *DensityError
	if !errors.As(err, &de) || !math.IsNaN(de.Value) || de.At[0] != 9 {
		t.Errorf("error %v", err)
	}
	if len(chains[0].States) != 100 || len(chains[1].States) != 0 || len(chains[2].States) != 100 {
		t.Error("the good chains should come back whole")
	}
}

func TestStepIsPure(t *testing.T) {
	k := &Metropolis{LogDensity: gauss2, Cov: mat.NewSymDense(2, []float64{2, 1, 1, 2})}
	x := []float64{0.3, -0.7}
	a, _ := k.Step(newRand(5), x)
	first := slices.Clone(a)
	for range 10 {
		a, _ = k.Step(newRand(6), a)
	}
	b, _ := k.Step(newRand(5), x)
	if !slices.Equal(first, b) || x[0] != 0.3 || x[1] != -0.7 {
		t.Errorf("from %v the same seed gave %v and %v", x, first, b)
	}
}

func TestCopy(t *testing.T) {
	type image []int8
	a, b, c := []float64{1}, image{1}, [][]float64{{1}}
	a1, b1, c1 := Copy(a), Copy(b), Copy(c)
	a[0], b[0], c[0][0] = 2, 2, 2
	if a1[0] != 1 || b1[0] != 1 || c1[0][0] != 1 || Copy(7) != 7 || Copy(image(nil)) != nil {
		t.Error("a copy shares storage")
	}
}

// list is a state that holds a pointer, and says how to copy it.
type list struct{ values *[]int }

func (l list) Clone() list { v := slices.Clone(*l.values); return list{&v} }

func TestCopyByClone(t *testing.T) {
	a := list{&[]int{1}}
	b := Copy(a)
	if (*a.values)[0] = 2; (*b.values)[0] != 1 {
		t.Error("the copy shares storage")
	}
}

func TestBadInput(t *testing.T) {
	inf := math.Inf(1)
	constant := func(v float64) func([]float64) float64 { return func([]float64) float64 { return v } }
	var shape *lvm.ShapeError
	var data *lvm.DataError
	var density *DensityError
	for _, c := range []struct {
		name   string
		kernel *Metropolis
		start  []float64
		target any
	}{
		{"NaN", &Metropolis{LogDensity: constant(math.NaN())}, []float64{0}, &density},
		{"no support", &Metropolis{LogDensity: constant(-inf)}, []float64{0}, &density},
		{"pole", &Metropolis{LogDensity: constant(inf)}, []float64{0}, &density},
		{"empty", &Metropolis{LogDensity: gauss2}, nil, &shape},
		{"wide covariance", &Metropolis{LogDensity: gauss2, Cov: mat.NewSymDense(3, nil)}, []float64{0, 0}, &shape},
		{"singular covariance", &Metropolis{LogDensity: gauss2, Cov: mat.NewSymDense(2, nil)}, []float64{0, 0}, &data},
	} {
		if _, err := Run(newRand(1), c.kernel, c.start, 10, nil); !errors.As(err, c.target) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
	pole := func(x []float64) float64 {
		if math.Abs(x[0]) > 1 {
			return inf
		}
		return 0
	}
	if _, err := Run(newRand(1), &Metropolis{LogDensity: pole}, []float64{0}, 1000, nil); !errors.As(err, &density) {
		t.Errorf("a pole met on the way: error %v", err)
	}
	half := func(x []float64) float64 { return math.Log(x[0]) - x[0] } // NaN for x < 0
	c, err := Run(newRand(1), &Metropolis{LogDensity: half}, []float64{1}, 1000, nil)
	if err != nil || c.Invalid == 0 {
		t.Errorf("NaN at proposals: %d reported, error %v", c.Invalid, err)
	}
}

// Settings that no sampler can have are mistakes in the program.
func TestBadSettings(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	g := correlated()
	for name, k := range map[string]Kernel[[]float64]{
		"Metropolis, negative scale":   &Metropolis{LogDensity: gauss2, Scale: -1},
		"Metropolis, scale NaN":        &Metropolis{LogDensity: gauss2, Scale: nan},
		"adaptive, target 2":           &AdaptiveMetropolis{LogDensity: gauss2, Target: 2},
		"adaptive, target NaN":         &AdaptiveMetropolis{LogDensity: gauss2, Target: nan},
		"slice, negative width":        &Slice{LogDensity: gauss2, Width: -1},
		"slice, infinite width":        &Slice{LogDensity: gauss2, Widths: []float64{1, inf}},
		"slice, negative bound":        &Slice{LogDensity: gauss2, MaxSteps: -1},
		"HMC, step size NaN":           &HMC{Gradient: g.grad, StepSize: nan},
		"HMC, negative step size":      &HMC{Gradient: g.grad, StepSize: -1},
		"HMC, negative number":         &HMC{Gradient: g.grad, StepSize: 1, Steps: -1},
		"HMC, jitter 1":                &HMC{Gradient: g.grad, StepSize: 1, Jitter: 1},
		"HMC, target 1":                &HMC{Gradient: g.grad, StepSize: 1, Target: 1},
		"NUTS, infinite step size":     &NUTS{Gradient: g.grad, StepSize: inf},
		"NUTS, negative target":        &NUTS{Gradient: g.grad, StepSize: 1, Target: -0.1},
		"NUTS, negative depth":         &NUTS{Gradient: g.grad, StepSize: 1, MaxDepth: -1},
		"NUTS, depth beyond an int":    &NUTS{Gradient: g.grad, StepSize: 1, MaxDepth: 64},
		"mixture of a negative weight": &Mixture[[]float64]{Kernels: []Kernel[[]float64]{&Metropolis{LogDensity: gauss2}}, Weights: []float64{-1}},
		"cycle of nothing":             &Cycle[[]float64]{},
	} {
		mustPanic(t, name, func() { k.Step(newRand(1), []float64{0, 0}) })
	}
}

func mustPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s should panic", name)
		}
	}()
	f()
}

func TestMetropolisDoesNotAllocate(t *testing.T) {
	for _, cov := range []mat.Symmetric{nil, mat.NewSymDense(2, []float64{2, 1, 1, 2})} {
		rng, k, x := newRand(1), &Metropolis{LogDensity: gauss2, Cov: cov}, []float64{0, 0}
		x, _ = k.Step(rng, x)
		if n := testing.AllocsPerRun(1000, func() { x, _ = k.Step(rng, x) }); n != 0 {
			t.Errorf("%v allocations per step", n)
		}
	}
}

func BenchmarkMetropolis2D(b *testing.B) {
	k := &Metropolis{LogDensity: gauss2, Scale: 1.7}
	b.ReportAllocs()
	i := 0
	for range Walk(newRand(1), k, []float64{0, 0}) {
		if i++; i >= b.N {
			break
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
