package kernels

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// slowGemv is the bit contract in one loop.
func slowGemv(alpha float64, a Matrix[float64], x []float64, beta float64, y []float64) {
	for i := range y {
		var s [4]float64
		for l, v := range x {
			s[l%4] = math.FMA(*a.at(i, l), v, s[l%4])
		}
		sum := (s[0] + s[2]) + (s[1] + s[3])
		if sum == 0 {
			sum = 0 // never −0
		}
		if beta == 0 {
			y[i] = alpha * sum
		} else {
			y[i] = math.FMA(alpha, sum, beta*y[i])
		}
	}
}

func TestGemvBits(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 1))
		for _, m := range []int{0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 130} {
			for n := range 40 {
				if rng.IntN(20) == 0 {
					n += 500
				}
				k := pick(rng, []kind{normal, huge, tiny, special})
				a := randomView[float64](rng, k, m, n, rng.IntN(3), false)
				x := randomView[float64](rng, k, 1, n, 0, false).Data
				y := randomView[float64](rng, k, 1, m, 0, false)
				alpha, beta := pick(rng, scalars), pick(rng, scalars)
				want := y.clone()
				slowGemv(alpha, a, x, beta, want.Data)
				Gemv(alpha, a, x, beta, y.Data)
				checkSame(t, fmt.Sprintf("%d×%d, α = %v, β = %v", m, n, alpha, beta), y, want)
			}
		}
	})
}

// A sum of n products in four lanes takes at most n/4+2 roundings, each of half
// a unit in the last place of a number below Σ|ab|.
func TestGemvAgainstBigFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	for range trials(50) {
		m, n := 1+rng.IntN(9), 1+rng.IntN(300)
		a := randomView[float64](rng, normal, m, n, 1, false)
		x, y := randomVector[float64](rng, n), make([]float64, m)
		Gemv(1, a, x, 0, y)
		for i, got := range y {
			want, size := new(big.Float).SetPrec(200), 0.0
			for l, v := range x {
				p := new(big.Float).SetPrec(200).Mul(big.NewFloat(*a.at(i, l)), big.NewFloat(v))
				want.Add(want, p)
				size += math.Abs(*a.at(i, l) * v)
			}
			off, _ := want.Sub(want, big.NewFloat(got)).Float64()
			if bound := float64(n/4+3) * 0x1p-53 * size; !(math.Abs(off) <= bound) {
				t.Errorf("%d columns: off by %g, at most %g is rounding", n, off, bound)
			}
		}
	}
}

func TestGemvDoesNotRead(t *testing.T) {
	a := Of(2, 3, []float64{1, 2, 3, 4, 5, 6}, 3)
	y := []float64{math.NaN(), math.Inf(1)}
	Gemv(2, a, []float64{1, 1, 1}, 0, y)
	if y[0] != 12 || y[1] != 30 {
		t.Errorf("β = 0 gives %v", y)
	}
}

func TestGemvRefusals(t *testing.T) {
	d := make([]float64, 100)
	m := Of(10, 10, d, 10)
	x, y := make([]float64, 10), make([]float64, 10)
	mustPanic(t, "y = x", func() { Gemv(1, m, x, 0, x) })
	mustPanic(t, "y in A", func() { Gemv(1, m, x, 0, d[20:30]) })
	mustPanic(t, "short x", func() { Gemv(1, m, x[:9], 0, y) })
	mustPanic(t, "short y", func() { Gemv(1, m, x, 0, y[:9]) })
	mustPanic(t, "columns in pieces", func() { Gemv(1, m.T(), x, 0, y) })
	// A destination between the rows of A is fine.
	Gemv(1, m.Slice(0, 5, 0, 5), x[:5], 0, d[5:10])
}

func TestGemvBitsAreFrozen(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		a, y := uniform[float64](70, 99), uniform[float64](1, 70).Data
		Gemv(0.7, a, uniform[float64](1, 99).Data, 0.3, y)
		if got, want := checksum(y), uint64(0xbf7451d2705d93bc); got != want {
			t.Errorf("%#x, want %#x", got, want)
		}
	})
}

func BenchmarkGemv(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{10, 100, 1000} {
		a, x, y := randomView[float64](rng, normal, n, n, 0, false), randomVector[float64](rng, n), make([]float64, n)
		measure(b, fmt.Sprint(n), 2*float64(n*n), func() { Gemv(1, a, x, 0, y) })
	}
}
