package kernels

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// lanes is the definition of SqDist.
func lanes(x, y []float64) float64 {
	var s [4]float64
	for j := range x {
		t := x[j] - y[j]
		s[j%4] = math.FMA(t, t, s[j%4])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// awkward returns values of all sizes, with repeats, zeros of both signs and,
// if special, NaN and infinities.
func awkward(rng *rand.Rand, n int, special bool) []float64 {
	v := make([]float64, n)
	for i := range v {
		switch rng.IntN(8) {
		case 0:
			v[i] = float64(rng.IntN(5) - 2)
		case 1:
			v[i] = math.Copysign(0, -1)
		case 2:
			v[i] = rng.NormFloat64() * math.Pow(10, float64(rng.IntN(400)-200))
		default:
			v[i] = rng.NormFloat64()
		}
		if special && rng.IntN(6) == 0 {
			v[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}[rng.IntN(5)]
		}
	}
	return v
}

func TestSqDistRowBits(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 4))
		for d := range 70 {
			for m := range 20 {
				special := rng.IntN(3) == 0
				x, rows, dst := awkward(rng, d, special), awkward(rng, d*m, special), make([]float64, m+1)
				const untouched = -1
				dst[m] = untouched
				SqDistRow(dst[:m], x, rows)
				if dst[m] != untouched {
					t.Fatalf("d = %d, m = %d: wrote past the end", d, m)
				}
				for i, got := range dst[:m] {
					y := rows[i*d : (i+1)*d]
					want := lanes(x, y)
					if !same(got, want) || !same(SqDist(x, y), want) {
						t.Fatalf("d = %d, row %d of %d: got %v and %v, want %v", d, i, m, got, SqDist(x, y), want)
					}
				}
			}
		}
	})
}

// same says whether a and b have the same bits; all NaN count as one.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// Each term has a relative error of 3u with u = 2⁻⁵³, and as no term is
// negative the sums add at most one u for each of the d/4+2 additions.
func TestSqDistAgainstBig(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 4))
		for _, offset := range []float64{0, 1e8} {
			for _, d := range []int{1, 3, 16, 101, 800} {
				x, y := make([]float64, d), make([]float64, d)
				exact := new(big.Float).SetPrec(2000)
				for j := range x {
					x[j], y[j] = offset+rng.NormFloat64(), offset+rng.NormFloat64()
					term := new(big.Float).SetPrec(2000).Sub(big.NewFloat(x[j]), big.NewFloat(y[j]))
					exact.Add(exact, term.Mul(term, term))
				}
				want, _ := exact.Float64()
				if got := SqDist(x, y); math.Abs(got-want) > (float64(d)/4+6)*0x1p-53*want {
					t.Errorf("offset %g, d = %d: got %v, want %v", offset, d, got, want)
				}
			}
		}
	})
}

func TestTwoLeast(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for n := range 60 {
			for range 200 {
				v := awkward(rng, n, rng.IntN(2) == 0)
				index, least, second := -1, math.Inf(1), math.Inf(1)
				for i, x := range v {
					if x < least {
						index, least = i, x
					}
				}
				for i, x := range v {
					if i != index && x < second {
						second = x
					}
				}
				i, a, b := TwoLeast(v)
				if i != index || a != least || b != second {
					t.Fatalf("%v: got %d %v %v, want %d %v %v", v, i, a, b, index, least, second)
				}
			}
		}
	})
}

// move moves a row of a 2×3 matrix between two groups.
func move(m Move, origins int) {
	cut := &Cut{make([]float64, origins), make([]float64, 8), make([]float64, 8)}
	MoveRows(make([]float64, 32), make([]float64, 6), 3, 3, []Move{m}, make([]float64, 2), cut)
}

func TestNearestPanics(t *testing.T) {
	for _, f := range []func(){
		func() { SqDistRow(make([]float64, 2), make([]float64, 3), make([]float64, 5)) },
		func() { move(Move{Row: 2}, 3) },
		func() { move(Move{Row: -1}, 3) },
		func() { move(Move{To: 2}, 3) },
		func() { move(Move{From: -1}, 3) },
		func() { move(Move{}, 2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("slices that do not fit did not panic")
				}
			}()
			f()
		}()
	}
}

func BenchmarkSqDistRow(b *testing.B) {
	for _, c := range []struct{ d, m int }{{2, 8}, {16, 32}, {64, 16}, {300, 16}, {784, 10}} {
		b.Run(fmt.Sprintf("d=%d/m=%d", c.d, c.m), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(4, 4))
			x, rows, dst := awkward(rng, c.d, false), awkward(rng, c.d*c.m, false), make([]float64, c.m)
			for b.Loop() {
				SqDistRow(dst, x, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.m), "ns/distance")
		})
	}
}

func BenchmarkTwoLeast(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 4))
	v := make([]float64, 32)
	for i := range v {
		v[i] = rng.Float64()
	}
	for b.Loop() {
		TwoLeast(v)
	}
}
