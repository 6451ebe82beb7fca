package sampling

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// gaussianEvidence is a Gaussian prior N(0, 2²) in d dimensions with one
// Gaussian observation of each coordinate; it returns the exact log evidence.
func gaussianEvidence(d int) (*AIS[[]float64], float64) {
	const prior, noise, y = 2.0, 0.1, 1.5
	logPrior := func(x []float64) float64 {
		return -0.5*dot(x, x)/(prior*prior) - float64(d)*math.Log(prior*math.Sqrt(2*math.Pi))
	}
	logJoint := func(x []float64) float64 {
		l := logPrior(x)
		for _, v := range x {
			l += normalLogProb((y-v)/noise) - math.Log(noise)
		}
		return l
	}
	a := &AIS[[]float64]{
		Draw: func(rng *rand.Rand) []float64 {
			x := make([]float64, d)
			for i := range x {
				x[i] = prior * rng.NormFloat64()
			}
			return x
		},
		LogPrior: logPrior, LogDensity: logJoint,
		Betas: PowerBetas(500, 4),
		NewKernel: func(beta float64) Kernel[[]float64] {
			sd := 1 / math.Sqrt(1/(prior*prior)+beta/(noise*noise))
			return &Metropolis{LogDensity: Bridge(logPrior, logJoint, beta), Scale: 2.38 / math.Sqrt(float64(d)) * sd}
		},
		Steps: 3,
	}
	total := math.Sqrt(prior*prior + noise*noise)
	return a, float64(d) * (normalLogProb(y/total) - math.Log(total))
}

func TestAISGaussian(t *testing.T) {
	for _, d := range []int{1, 5} {
		a, want := gaussianEvidence(d)
		w, err := a.Run(newRand(1), 500)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("log Z, d = %d", d), w.LogZ(), want)
		if w.ESS() < 100 {
			t.Errorf("d = %d: ESS %v of 500", d, w.ESS())
		}
		// The posterior mean is y·4/4.01.
		near(t, "posterior mean", must(w.Expect(func(x []float64) float64 { return x[0] })), 1.5*4/4.01)

		// The control: without temperatures in between, importance sampling from
		// the prior falls apart in five dimensions.
		a.Betas = []float64{0, 1}
		plain, err := a.Run(newRand(1), 500)
		if err != nil {
			t.Fatal(err)
		}
		if d == 5 && plain.ESS() > 25 {
			t.Errorf("from the prior: ESS %v", plain.ESS())
		}
	}
}

// Over states of another type and another kernel: the partition function of
// the Ising model on a 3×3 torus, by enumeration.
func TestAISIsing(t *testing.T) {
	const coupling, n = 0.5, 9
	g := &Ising{Rows: 3, Cols: 3, Coupling: coupling, Wrap: true}
	var z float64
	s := make([]int8, n)
	for state := range 1 << n {
		for i := range s {
			s[i] = int8(2*(state>>i&1) - 1)
		}
		z += math.Exp(g.LogDensity(s))
	}
	a := &AIS[[]int8]{
		Draw: func(rng *rand.Rand) []int8 {
			s := make([]int8, n)
			for i := range s {
				s[i] = int8(2*rng.IntN(2) - 1)
			}
			return s
		},
		LogPrior:   func([]int8) float64 { return -n * math.Ln2 },
		LogDensity: g.LogDensity,
		Betas:      PowerBetas(50, 1),
		NewKernel: func(beta float64) Kernel[[]int8] {
			return &Ising{Rows: 3, Cols: 3, Coupling: beta * coupling, Wrap: true}
		},
	}
	w, err := a.Run(newRand(2), 2000)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "log Z", w.LogZ(), math.Log(z))
	e := w.LogZ()
	if z := (e.Value - math.Log(z) - 0.1) / e.StdErr; math.Abs(z) < 4 {
		t.Errorf("a log Z that is off by 0.1 passes: %v", e)
	}
}

// The mean weight is unbiased even for kernels that hardly move, which only
// makes the weights uneven.
func TestAISUnbiased(t *testing.T) {
	a, want := gaussianEvidence(1)
	a.Betas, a.Steps = PowerBetas(5, 2), 0
	a.NewKernel = func(beta float64) Kernel[[]float64] {
		return &Metropolis{LogDensity: Bridge(a.LogPrior, a.LogDensity, beta), Scale: 0.01}
	}
	w, err := a.Run(newRand(3), 100_000)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "log Z", w.LogZ(), want)
}

func TestAISSameBitsOnAnyCores(t *testing.T) {
	a, _ := gaussianEvidence(3)
	a.Betas = PowerBetas(20, 4)
	run := func(procs int) *Weighted[[]float64] {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		w, err := a.Run(newRand(4), 101)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	one, three := run(1), run(3)
	if !slices.Equal(one.LogWeights, three.LogWeights) || !slices.EqualFunc(one.Draws, three.Draws, func(a, b []float64) bool { return slices.Equal(a, b) }) {
		t.Error("draws depend on GOMAXPROCS")
	}
}

func TestAISBadInput(t *testing.T) {
	inf := math.Inf(1)
	a, _ := gaussianEvidence(1)
	a.Betas = PowerBetas(5, 1)
	var density *DensityError
	a.LogDensity = func([]float64) float64 { return math.NaN() }
	if _, err := a.Run(newRand(1), 3); !errors.As(err, &density) {
		t.Error(err)
	}
	a.LogDensity = func([]float64) float64 { return -inf }
	if _, err := a.Run(newRand(1), 3); err == nil {
		t.Error("no mass passes")
	}
	// A draw without mass has weight zero and does not stop the others.
	b, _ := gaussianEvidence(1)
	whole := b.LogDensity
	b.LogDensity = func(x []float64) float64 {
		if x[0] < 0 {
			return -inf
		}
		return whole(x)
	}
	b.NewKernel = func(beta float64) Kernel[[]float64] {
		return &Metropolis{LogDensity: Bridge(b.LogPrior, b.LogDensity, beta)}
	}
	b.Betas = PowerBetas(50, 4)
	w, err := b.Run(newRand(1), 1000)
	if err != nil {
		t.Fatal(err)
	}
	zeros := 0
	for _, l := range w.LogWeights {
		if math.IsInf(l, -1) {
			zeros++
		}
	}
	if zeros < 440 || zeros > 560 { // half, with standard deviation 16
		t.Errorf("%d of 1000 weights are zero", zeros)
	}
	// A kernel that cannot go on.
	b.NewKernel = func(beta float64) Kernel[[]float64] {
		return &Metropolis{LogDensity: func([]float64) float64 { return math.NaN() }}
	}
	if _, err := b.Run(newRand(1), 10); !errors.As(err, &density) {
		t.Error(err)
	}
	// On the way to the target the ends count alone, and so does the support of
	// the prior.
	never := func([]float64) float64 { t.Error("evaluated"); return 0 }
	three := func([]float64) float64 { return 3 }
	nowhere := func([]float64) float64 { return -inf }
	if l := Bridge(three, never, 0)(nil); l != 3 {
		t.Errorf("β = 0: %v", l)
	}
	if l := Bridge(nowhere, never, 0.5)(nil); !math.IsInf(l, -1) {
		t.Errorf("outside the prior: %v", l)
	}
	if l := Bridge(three, func([]float64) float64 { return 7 }, 0.25)(nil); l != 4 {
		t.Errorf("β = ¼: %v", l)
	}
	for _, betas := range [][]float64{nil, {0}, {0, 0.5}, {0.1, 1}, {0, 0.5, 0.5, 1}, {0, math.NaN(), 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for %v", betas)
				}
			}()
			a.Betas = betas
			_, _ = a.Run(newRand(1), 1)
		}()
	}
}
