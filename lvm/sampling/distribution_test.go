package sampling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// kolmogorov returns the probability that draws from cdf are as far from it
// as x is, by the asymptotic distribution of √n sup|F_n − F| with the
// correction of Stephens 1970. It sorts x.
func kolmogorov(x []float64, cdf func(x float64) float64) float64 {
	slices.Sort(x)
	n := float64(len(x))
	var d float64
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return kolmogorovTail((math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * d)
}

func kolmogorovTail(lambda float64) float64 {
	var p float64
	for k, sign := 1.0, 2.0; k < 100; k, sign = k+1, -sign {
		p += sign * math.Exp(-2*k*k*lambda*lambda)
	}
	return min(max(p, 0), 1)
}

// The probability of a correct sampler falling below is 1e-4 per test; the
// seeds are fixed, so a test that passes goes on passing.
const tooUnlikely = 1e-4

func followsCDF(t *testing.T, name string, x []float64, cdf func(x float64) float64) {
	t.Helper()
	if p := kolmogorov(x, cdf); p < tooUnlikely {
		t.Errorf("%s: Kolmogorov–Smirnov p = %.3g for %d draws", name, p, len(x))
	}
}

// chiSquare returns the probability that counts of n draws from p are as far
// from it as these, by the normal approximation of Wilson & Hilferty 1931.
func chiSquare(counts []int, p []float64) float64 {
	n, cells := 0, -1.0
	for _, c := range counts {
		n += c
	}
	var x2 float64
	for i, c := range counts {
		if p[i] == 0 {
			if c > 0 {
				return 0
			}
			continue
		}
		e := float64(n) * p[i]
		x2 += (float64(c) - e) * (float64(c) - e) / e
		cells++
	}
	z := (math.Cbrt(x2/cells) - (1 - 2/(9*cells))) / math.Sqrt(2/(9*cells))
	return 0.5 * math.Erfc(z/math.Sqrt2)
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func normalLogProb(x float64) float64 { return -0.5*x*x - 0.5*math.Log(2*math.Pi) }

// TestKolmogorov checks the test itself: the table of the limit distribution,
// the rate of rejection of draws that are right, and that it sees draws that
// are a little wrong.
func TestKolmogorov(t *testing.T) {
	for _, q := range [][2]float64{{1.2238478702, 0.1}, {1.3580986393, 0.05}, {1.6276236115, 0.01}} {
		if p := kolmogorovTail(q[0]); math.Abs(p-q[1]) > 1e-9 {
			t.Errorf("P(K > %v) = %v, want %v", q[0], p, q[1])
		}
	}
	rng := newRand(1)
	rejected := 0
	for range 1000 {
		x := Draws(rng, 200, (*rand.Rand).Float64)
		if kolmogorov(x, func(x float64) float64 { return x }) < 0.05 {
			rejected++
		}
	}
	// Binomial with mean 50 and sd 6.9.
	if rejected < 22 || rejected > 78 {
		t.Errorf("%d of 1000 right samples rejected at 5%%", rejected)
	}
	x := Draws(rng, 50_000, (*rand.Rand).NormFloat64)
	if p := kolmogorov(x, func(x float64) float64 { return normalCDF(x / 1.05) }); p > tooUnlikely {
		t.Errorf("a normal distribution 5%% too wide passes: p = %v", p)
	}
}
