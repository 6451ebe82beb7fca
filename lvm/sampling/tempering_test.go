package sampling

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/latent-lessons/latent/lvm"
)

// farModes is 0.3 N(−8, 1) + 0.7 N(8, 1): a random walk never crosses.
func farModes(x []float64) float64 {
	a, b := math.Log(0.3)-0.5*(x[0]+8)*(x[0]+8), math.Log(0.7)-0.5*(x[0]-8)*(x[0]-8)
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}

func temperedWalk(logp func([]float64) float64, betas []float64) *Tempering {
	return &Tempering{LogDensity: logp, Betas: betas, NewKernel: func(beta float64) Kernel[[]float64] {
		return &Metropolis{LogDensity: Tempered(logp, beta), Scale: 2 / math.Sqrt(beta)}
	}}
}

func right(x []float64) float64 {
	if x[0] > 0 {
		return 1
	}
	return 0
}

func TestTemperingFindsBothModes(t *testing.T) {
	starts := [][][]float64{}
	for range 4 {
		starts = append(starts, slices.Repeat([][]float64{{-8}}, 6))
	}
	chains, err := RunChains(newRand(1), func() *Tempering { return temperedWalk(farModes, Ladder(6, 0.02)) }, starts, 40_000, &RunOptions{BurnIn: 2000})
	if err != nil {
		t.Fatal(err)
	}
	var cold []*Chain[vectors]
	for _, c := range chains {
		cold = append(cold, Map(c, Cold))
	}
	share := Extract(cold, right)
	if z := (pooledMean(share) - 0.7) / MCSEMean(share); math.Abs(z) > tooFar || RHat(share) > 1.05 {
		t.Errorf("share of the right mode %v ± %v, R̂ %v", pooledMean(share), MCSEMean(share), RHat(share))
	}
	// The control: the walk alone stays where it starts.
	chain, err := Run(newRand(1), &Metropolis{LogDensity: farModes, Scale: 2}, []float64{-8}, 40_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := mean(Extract([]*Chain[vectors]{chain}, right)[0]); m != 0 {
		t.Errorf("the walk alone spends %v of its time in the other mode", m)
	}
}

func pooledMean(draws [][]float64) float64 {
	var s float64
	for _, c := range draws {
		s += mean(c) / float64(len(draws))
	}
	return s
}

// TestTemperingInvariance starts every replica from exact draws at its own
// temperature: p̃^β of N(0, 1) is N(0, 1/β).
func TestTemperingInvariance(t *testing.T) {
	logp := func(x []float64) float64 { return -0.5 * x[0] * x[0] }
	for _, c := range []struct {
		name  string
		betas []float64 // that the states are drawn at
		right bool
	}{{"right", []float64{1, 0.5, 0.1}, true}, {"control", []float64{1, 0.8, 0.1}, false}} {
		k := temperedWalk(logp, []float64{1, 0.5, 0.1})
		rng := newRand(6)
		const n = 40_000
		squares := make([][]float64, 3)
		swapped := 0
		for range n {
			s := make([][]float64, 3)
			for i, b := range c.betas {
				s[i] = []float64{rng.NormFloat64() / math.Sqrt(b)}
			}
			for range 2 {
				var info Info
				s, info = k.Step(rng, s)
				if info.Err != nil {
					t.Fatal(info.Err)
				}
			}
			for i := range s {
				squares[i] = append(squares[i], s[i][0]*s[i][0])
			}
			if s[0][0] == s[1][0] {
				swapped++
			}
		}
		far := 0.0
		for i, b := range []float64{1, 0.5, 0.1} {
			far = max(far, math.Abs(mean(squares[i])-1/b)/math.Sqrt(variance(squares[i])/n))
		}
		if (far < tooFar) != c.right || far > tooFar && far < 2*tooFar {
			t.Errorf("%s: variances %.2f standard errors from the truth", c.name, far)
		}
		if swapped > 0 {
			t.Errorf("%d states are in two replicas", swapped)
		}
		// E min{1, e^{(β−β')(U−U')}} for U ~ Gamma(½)/β: by simulation below.
		if c.right {
			want, draws := 0.0, 200_000
			for range draws {
				x, y := rng.NormFloat64(), rng.NormFloat64()/math.Sqrt(0.5)
				want += math.Min(1, math.Exp(0.5*0.5*(x*x-y*y))) / float64(draws)
			}
			if got := k.SwapRates()[0]; math.Abs(got-want) > 0.01 {
				t.Errorf("swap rate %v, want %v", got, want)
			}
		}
	}
}

func TestTemperingAdapts(t *testing.T) {
	g := modes()
	newKernel := func() *Tempering {
		return &Tempering{LogDensity: g.logp, Betas: []float64{1, 0.4}, NewKernel: func(beta float64) Kernel[[]float64] {
			return &NUTS{Gradient: TemperedGradient(g.grad, beta)}
		}}
	}
	starts := [][][]float64{{{0}, {1}}, {{-2}, {2}}, {{1}, {1}}, {{2}, {0}}}
	chains, err := RunChains(newRand(2), newKernel, starts, 5000, &RunOptions{BurnIn: 500})
	if err != nil {
		t.Fatal(err)
	}
	var cold []*Chain[vectors]
	for _, c := range chains {
		cold = append(cold, Map(c, Cold))
	}
	if z := g.zScores(cold); worst(z) > tooFar {
		t.Errorf("moments %.2f standard errors off", z)
	}
}

func TestTemperingBadInput(t *testing.T) {
	var shape *lvm.ShapeError
	var density *DensityError
	k := temperedWalk(farModes, Ladder(3, 0.1))
	for _, s := range [][][]float64{nil, {{0}}, {{}, {}, {}}, {{0}, {0, 1}, {0}}} {
		if _, info := k.Step(newRand(1), s); !errors.As(info.Err, &shape) {
			t.Errorf("state %v: %v", s, info.Err)
		}
	}
	if _, info := k.Step(newRand(1), [][]float64{{}, {}, {}}); !errors.As(info.Err, &shape) || shape.Got != 0 || shape.Want != 1 {
		t.Errorf("replicas without coordinates: %v", info.Err)
	}
	nan := func([]float64) float64 { return math.NaN() }
	if _, err := Run(newRand(1), temperedWalk(nan, Ladder(2, 0.1)), [][]float64{{0}, {0}}, 5, nil); !errors.As(err, &density) {
		t.Errorf("NaN: %v", err)
	}
	for _, betas := range [][]float64{nil, {0.5, 0.1}, {1, 1}, {1, -1}, {1, math.NaN()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("β = %v should panic", betas)
				}
			}()
			temperedWalk(farModes, betas).Step(newRand(1), slices.Repeat([][]float64{{0}}, len(betas)))
		}()
	}
	outside := func([]float64) float64 { return math.Inf(-1) }
	if l := Tempered(outside, 0)(nil); !math.IsInf(l, -1) {
		t.Errorf("at β = 0 the outside has log density %v", l)
	}
	if l := TemperedGradient(func(_, grad []float64) float64 { grad[0] = 3; return -2 }, 0.5)(nil, make([]float64, 1)); l != -1 {
		t.Errorf("half of −2 is %v", l)
	}
	if l := TemperedGradient(func(_, grad []float64) float64 { return math.Inf(-1) }, 0)(nil, nil); !math.IsInf(l, -1) {
		t.Errorf("at β = 0 the outside has log density %v", l)
	}
	doesNotAllocate(t, "Tempering", temperedWalk(farModes, Ladder(3, 0.1)), [][]float64{{0}, {0}, {0}})
}
