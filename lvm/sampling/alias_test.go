package sampling

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/latent-lessons/latent/lvm"
)

// The table holds every probability to within a unit or two of 2⁻⁶² of the
// sum, counted in whole numbers.
func TestAliasExact(t *testing.T) {
	rng := newRand(1)
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 64, 100, 1000, 4097} {
		for name, weight := range map[string]func(i int) float64{
			"equal":    func(int) float64 { return 0.1 },
			"uniform":  func(int) float64 { return rng.Float64() },
			"powers":   func(i int) float64 { return math.Exp2(-float64(i)) },
			"huge":     func(i int) float64 { return math.MaxFloat64 / float64(i+1) },
			"tiny":     func(i int) float64 { return float64(i+1) * math.SmallestNonzeroFloat64 },
			"one":      func(i int) float64 { return float64((i + 1) / n) },
			"one hole": func(i int) float64 { return float64(min(i, 1)) + float64(1/n) },
		} {
			w := make([]float64, n)
			for i := range w {
				w[i] = weight(i)
			}
			a, err := NewAlias(w)
			if err != nil {
				t.Fatalf("%s, n = %d: %v", name, n, err)
			}
			mass := make([]*big.Int, n)
			for i := range mass {
				mass[i] = new(big.Int)
			}
			full := new(big.Int).Lsh(big.NewInt(1), a.height)
			for i, c := range a.columns {
				cut := new(big.Int).SetUint64(c.cut)
				if c.cut > 1<<a.height {
					t.Fatalf("%s, n = %d: column %d is cut at %d", name, n, i, c.cut)
				}
				mass[i].Add(mass[i], cut)
				mass[c.other].Add(mass[c.other], cut.Sub(full, cut))
			}
			sum, total := new(big.Rat), new(big.Rat).SetInt(full)
			total.Mul(total, big.NewRat(int64(n), 1))
			for _, v := range w {
				sum.Add(sum, new(big.Rat).SetFloat64(v))
			}
			for i, p := range a.Probs() {
				exact := new(big.Rat).SetFloat64(w[i])
				exact.Quo(exact, sum)
				held := new(big.Rat).SetInt(mass[i])
				held.Quo(held, total)
				off, _ := new(big.Rat).Sub(held, exact).Float64()
				// One unit for the division and one for rounding the weight;
				// the sum of the rounded weights is off by n halves at most.
				if math.Abs(off) > 0x1p-62*(2+float64(n)*p) {
					t.Errorf("%s, n = %d: P(%d) is off by %v", name, n, i, off)
				}
				if h, _ := held.Float64(); math.Abs(h-p) > 0x1p-52*h {
					t.Errorf("%s, n = %d: Probs()[%d] = %v, the table holds %v", name, n, i, p, h)
				}
				if share, other := a.Column(i); share < 0 || share > 1 || share < 1 && w[other] == 0 {
					t.Errorf("%s, n = %d: column %d has the share %v, and %d the rest", name, n, i, share, other)
				}
				if w[i] == 0 && p != 0 {
					t.Errorf("%s, n = %d: a weight of zero has probability %v", name, n, p)
				}
			}
		}
	}
}

func TestAliasDraws(t *testing.T) {
	w := []float64{3, 0, 1, 0.5, 0.001, 12, 3, 0}
	a, err := NewAlias(w)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, len(w))
	for _, v := range a.Sample(newRand(5), 1_000_000) {
		counts[v]++
	}
	if p := chiSquare(counts, a.Probs()); p < tooUnlikely {
		t.Errorf("chi-square p = %v for %v", p, counts)
	}
	wrong := slices.Clone(w)
	wrong[3] = 0.52 // one draw in 1000 moved
	b, _ := NewAlias(wrong)
	if p := chiSquare(counts, b.Probs()); p > tooUnlikely {
		t.Errorf("counts pass for weights that are wrong by 4%%: p = %v", p)
	}
	// Many columns: every value is drawn through its own column and others'.
	const n = 5000
	many := make([]float64, n)
	for i := range many {
		many[i] = 1 + float64(i%17)
	}
	c, _ := NewAlias(many)
	counts = make([]int, n)
	rng := newRand(6)
	for range 2_000_000 {
		counts[c.Draw(rng)]++
	}
	if p := chiSquare(counts, c.Probs()); p < tooUnlikely {
		t.Errorf("chi-square p = %v for %d values", p, n)
	}
}

func TestAliasDoesNotAllocate(t *testing.T) {
	a, _ := NewAlias([]float64{1, 2, 3})
	rng := newRand(1)
	if n := testing.AllocsPerRun(100, func() { a.Draw(rng) }); n != 0 {
		t.Errorf("%v allocations per draw", n)
	}
}

func TestAliasBadInput(t *testing.T) {
	for _, c := range []struct {
		w   []float64
		row int
	}{
		{nil, -1}, {[]float64{}, -1}, {[]float64{0, 0}, -1},
		{[]float64{1, -1}, 1}, {[]float64{1, 2, math.NaN()}, 2}, {[]float64{math.Inf(1)}, 0},
	} {
		_, err := NewAlias(c.w)
		var data *lvm.DataError
		if !errors.As(err, &data) || data.Row != c.row || !strings.Contains(err.Error(), "; try ") {
			t.Errorf("%v: %v", c.w, err)
		}
	}
}
