package clustering

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
)

// G(A) of a set of mass 0.3 under H is Beta(0.3α, 0.7α): mean and variance, and
// the distribution function at three points, within 4.5 standard errors of
// 8,000 draws.
func TestDPMass(t *testing.T) {
	const n = 8000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alpha := range []float64{0.5, 4} {
		dp := DP[float64]{Alpha: alpha, Base: (*rand.Rand).Float64}
		beta := distuv.Beta{Alpha: 0.3 * alpha, Beta: 0.7 * alpha}
		checks := []float64{0.1, 0.3, 0.6}
		below := make([]float64, len(checks))
		var mean, square float64
		for range n {
			g := dp.Draw(rng, 1e-10).Mass(func(u float64) bool { return u < 0.3 })
			mean, square = mean+g/n, square+g*g/n
			for i, c := range checks {
				if g < c {
					below[i] += 1. / n
				}
			}
		}
		if z := (mean - 0.3) / math.Sqrt(0.21/(alpha+1)/n); math.Abs(z) > 4.5 {
			t.Errorf("α = %v: E[G(A)] is %v, want 0.3", alpha, mean)
		}
		if v := square - mean*mean; math.Abs(v/(0.21/(alpha+1))-1) > 0.1 {
			t.Errorf("α = %v: Var[G(A)] is %v, want %v", alpha, v, 0.21/(alpha+1))
		}
		for i, c := range checks {
			p := beta.CDF(c)
			if z := (below[i] - p) / math.Sqrt(p*(1-p)/n); math.Abs(z) > 4.5 {
				t.Errorf("α = %v: p(G(A) < %v) is %v, want %v", alpha, c, below[i], p)
			}
		}
	}
}

// The weights sum to one, the last is shorter than rest and no other is what
// remained; it takes 1 + Poisson(α ln(1/rest)) breaks.
func TestStickBreaking(t *testing.T) {
	const n, rest = 5000, 1e-3
	rng := rand.New(rand.NewPCG(3, 4))
	for _, alpha := range []float64{0.1, 1, 20} {
		var breaks float64
		for range n {
			w := StickBreaking(rng, alpha, rest)
			left := 1.0
			for l, v := range w {
				if l < len(w)-1 && left < rest {
					t.Fatalf("break %d of a stick of %v", l, left)
				}
				left -= v
			}
			if math.Abs(left) > 1e-12 || w[len(w)-1] >= rest {
				t.Fatalf("weights %v leave %v", w, left)
			}
			breaks += float64(len(w)-1) / n
		}
		want := alpha * math.Log(1/rest)
		if z := (breaks - 1 - want) / math.Sqrt(want/n); math.Abs(z) > 4.5 {
			t.Errorf("α = %v: %v breaks on average, want %v", alpha, breaks, 1+want)
		}
	}
}

// Beyond 2⁵³ or so a break is lost to rounding: the stick would never end.
func TestStickBreakingTooLong(t *testing.T) {
	for _, alpha := range []float64{1e9, 1e17, 1e300} {
		err := func() (err any) {
			defer func() { err = recover() }()
			StickBreaking(rand.New(rand.NewPCG(1, 2)), alpha, 1e-3)
			return nil
		}()
		if _, ok := err.(*lvm.DataError); !ok {
			t.Errorf("α = %v: %v", alpha, err)
		}
	}
}

// The next value of an urn is drawn from the posterior's base: a value seen
// three times among five comes with probability 3/(α+5), a new one with α/(α+5).
func TestDPPosterior(t *testing.T) {
	const n, alpha = 40000, 2.0
	rng := rand.New(rand.NewPCG(5, 6))
	post := DP[int]{Alpha: alpha, Base: func(rng *rand.Rand) int { return 100 }}.Posterior([]int{7, 7, 8, 7, 9})
	if post.Alpha != alpha+5 {
		t.Errorf("α+n = %v", post.Alpha)
	}
	got := make(map[int]float64)
	for range n {
		g := post.Draw(rng, 1e-3)
		got[g.Draw(rng)] += 1. / n
	}
	for v, p := range map[int]float64{7: 3 / (alpha + 5), 8: 1 / (alpha + 5), 9: 1 / (alpha + 5), 100: alpha / (alpha + 5)} {
		if z := (got[v] - p) / math.Sqrt(p*(1-p)/n); math.Abs(z) > 4.5 {
			t.Errorf("value %d with frequency %v, want %v", v, got[v], p)
		}
	}
}
