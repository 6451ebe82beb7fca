package clustering

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The probabilities of all partitions sum to one, and they are the products of
// Predictive over the guests, in whatever order these come. With the 1/(α+N)
// that the notes print for a new table, the partitions of four rows have a mass
// of 0.2 for α = 2.
func TestCRPPartitions(t *testing.T) {
	for _, alpha := range []float64{0.3, 1, 2} {
		c := CRP{Alpha: alpha}
		for n := range 9 {
			var mass, printed float64
			number := 0
			for z := range Partitions(n) {
				number++
				mass += math.Exp(c.LogProb(z))
				p, sequential := 1.0, 0.0
				var sizes []int
				for i, k := range z {
					sequential += math.Log(c.Predictive(sizes)[k])
					if k == len(sizes) {
						sizes = append(sizes, 0)
						p /= alpha + float64(i)
					} else {
						p *= float64(sizes[k]) / (alpha + float64(i))
					}
					sizes[k]++
				}
				printed += p
				if got := c.LogProb(z); math.Abs(got-sequential) > 1e-12 {
					t.Fatalf("α = %v: ln p(%v) = %v, guest by guest %v", alpha, z, got, sequential)
				}
				shuffled := slices.Clone(z)
				slices.Reverse(shuffled)
				if a, b := c.LogProb(z), c.LogProb(shuffled); math.Abs(a-b) > 1e-12 {
					t.Fatalf("α = %v: ln p(%v) = %v, and %v in reverse order", alpha, z, a, b)
				}
			}
			if bell := []int{1, 1, 2, 5, 15, 52, 203, 877, 4140}[n]; number != bell {
				t.Errorf("%d partitions of %d rows, want %d", number, n, bell)
			}
			if math.Abs(mass-1) > 1e-12 {
				t.Errorf("α = %v, n = %d: the partitions have mass %v", alpha, n, mass)
			}
			if n == 4 && alpha == 2 && math.Abs(printed-0.2) > 1e-12 {
				t.Errorf("the printed rule has mass %v, want 0.2", printed)
			}
		}
	}
}

// The table of the catalogue to the notes, and the exact distribution of the
// number of tables from all partitions.
func TestCRPTables(t *testing.T) {
	for _, c := range []struct {
		alpha float64
		n     int
		mean  float64
	}{
		{0.5, 10, 2.133256}, {0.5, 100, 3.284342}, {0.5, 1000, 4.435633},
		{1, 10, 2.928968}, {1, 100, 5.187378}, {1, 1000, 7.485471},
		{2, 10, 4.039755}, {2, 100, 8.394557}, {2, 1000, 12.972940},
		{5, 10, 5.841145}, {5, 100, 15.715366}, {5, 1000, 27.030638},
	} {
		crp := CRP{Alpha: c.alpha}
		if got := crp.TablesMean(c.n); math.Abs(got-c.mean) > 5e-7 {
			t.Errorf("α = %v, n = %d: mean %v, want %v", c.alpha, c.n, got, c.mean)
		}
		var sum, mean, square float64
		for k, p := range crp.TablesProb(c.n) {
			sum, mean, square = sum+p, mean+p*float64(k), square+p*float64(k*k)
		}
		if math.Abs(sum-1) > 1e-12 || math.Abs(mean-crp.TablesMean(c.n)) > 1e-10 || math.Abs(square-mean*mean-crp.TablesVar(c.n)) > 1e-8 {
			t.Errorf("α = %v, n = %d: mass %v, mean %v and variance %v, want 1, %v, %v", c.alpha, c.n, sum, mean, square-mean*mean, crp.TablesMean(c.n), crp.TablesVar(c.n))
		}
	}
	for n, want := range map[int]float64{10: 1.379201, 100: 3.552394} {
		if got := (CRP{Alpha: 1}).TablesVar(n); math.Abs(got-want) > 5e-7 {
			t.Errorf("α = 1, n = %d: variance %v, want %v", n, got, want)
		}
	}
	for alpha, want := range map[float64][]float64{1: {0, 1. / 4, 11. / 24, 1. / 4, 1. / 24}, 2: {0, 0.1, 11. / 30, 0.4, 4. / 30}} {
		for k, p := range (CRP{Alpha: alpha}).TablesProb(4) {
			if math.Abs(p-want[k]) > 1e-15 {
				t.Errorf("α = %v, n = 4: p(K=%d) = %v, want %v", alpha, k, p, want[k])
			}
		}
	}
}

// chiSquare returns Σ (observed − expected)²/expected, and how many standard
// deviations that is above its mean, the number of cells less one.
func chiSquare(counts map[string]int, p map[string]float64, n int) (z float64) {
	var x2 float64
	for key, q := range p {
		e := q * float64(n)
		x2 += (float64(counts[key]) - e) * (float64(counts[key]) - e) / e
	}
	free := float64(len(p) - 1)
	return (x2 - free) / math.Sqrt(2*free)
}

func key(z []int) string {
	b := make([]byte, len(z))
	for i, k := range z {
		b[i] = byte('a' + k)
	}
	return string(b)
}

// Frequencies of the 52 partitions of five rows in 60,000 draws of the CRP and
// of the urn, against their probabilities; those of another α must fail.
func TestCRPSample(t *testing.T) {
	const n = 60000
	right, wrong := make(map[string]float64), make(map[string]float64)
	for z := range Partitions(5) {
		right[key(z)] = math.Exp(CRP{Alpha: 1.5}.LogProb(z))
		wrong[key(z)] = math.Exp(CRP{Alpha: 1.6}.LogProb(z))
	}
	dp := DP[float64]{Alpha: 1.5, Base: (*rand.Rand).NormFloat64}
	for name, draw := range map[string]func(rng *rand.Rand) []int{
		"CRP": func(rng *rand.Rand) []int { return CRP{Alpha: 1.5}.Sample(rng, 5) },
		"urn": func(rng *rand.Rand) []int { z, _ := dp.Urn(rng, 5); return z },
		"G": func(rng *rand.Rand) []int { // ties among draws from one G
			g := dp.Draw(rng, 1e-12)
			var v [5]float64
			for i := range v {
				v[i] = g.Draw(rng)
			}
			z := make([]int, 5)
			for i := range v {
				z[i] = slices.Index(v[:], v[i])
			}
			return Canonical(z)
		},
	} {
		rng, counts := rand.New(rand.NewPCG(7, 8)), make(map[string]int)
		for range n {
			counts[key(draw(rng))]++
		}
		if z := chiSquare(counts, right, n); z > 5 {
			t.Errorf("%s: frequencies %.1f standard deviations from their probabilities", name, z)
		}
		if z := chiSquare(counts, wrong, n); z < 5 {
			t.Errorf("%s: frequencies only %.1f standard deviations from those of α = 1.6", name, z)
		}
	}
}

func TestCRPRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alpha := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		c, d := CRP{Alpha: alpha}, DP[float64]{Alpha: alpha, Base: (*rand.Rand).Float64}
		for name, f := range map[string]func(){
			"CRP.Sample":     func() { c.Sample(rng, 3) },
			"CRP.Predictive": func() { c.Predictive([]int{1}) },
			"CRP.LogProb":    func() { c.LogProb([]int{0}) },
			"CRP.TablesMean": func() { c.TablesMean(3) },
			"CRP.TablesVar":  func() { c.TablesVar(3) },
			"CRP.TablesProb": func() { c.TablesProb(3) },
			"DP.Draw":        func() { d.Draw(rng, 0.1) },
			"DP.Urn":         func() { d.Urn(rng, 3) },
			"DP.Posterior":   func() { d.Posterior(nil) },
			"StickBreaking":  func() { StickBreaking(rng, alpha, 0.1) },
		} {
			if !isDataPanic(f) {
				t.Errorf("%s with α = %v: want a panic with a *lvm.DataError", name, alpha)
			}
		}
	}
	for name, f := range map[string]func(){
		"a nil generator": func() { CRP{Alpha: 1}.Sample(nil, 3) },
		"n = −1":          func() { CRP{Alpha: 1}.Sample(rng, -1) },
		"rest = 0":        func() { StickBreaking(rng, 1, 0) },
		"rest = 1":        func() { StickBreaking(rng, 1, 1) },
		"Partitions(−1)":  func() { Partitions(-1) },
		"no draws":        func() { CoClustering(nil) },
		"ragged draws":    func() { PointEstimate([][]int{{0}, {0, 1}}, Binder) },
	} {
		if s, _ := panicOf(f).(string); len(s) < 12 || s[:12] != "clustering: " {
			t.Errorf("%s: panic %q", name, s)
		}
	}
}
