package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// block is a block of rows with what its functions take, and the plain
// definition of what they give.
type rowBlock struct{ n, d int }

func (k rowBlock) values(rng *rand.Rand, special bool) (x, mean, w []float64) {
	return awkward(rng, k.n*k.d, special), awkward(rng, k.d, special), awkward(rng, k.n, special)
}

func onBlocks(t *testing.T, f func(t *testing.T, rng *rand.Rand, k rowBlock, special bool)) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 9))
		for _, d := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 17} {
			for _, n := range []int{0, 16, 32, 48, 128} {
				f(t, rng, rowBlock{n, d}, rng.IntN(3) == 0)
			}
		}
	})
}

func TestWhitenedSquaresBits(t *testing.T) {
	onBlocks(t, func(t *testing.T, rng *rand.Rand, k rowBlock, special bool) {
		x, mean, _ := k.values(rng, special)
		l := awkward(rng, k.d*(k.d+1)/2, special)
		q := make([]float64, k.n)
		WhitenedSquares(q, x, mean, l, make([]float64, RowLanes*k.d))
		for b, got := range q {
			var want float64
			z := make([]float64, k.d)
			for i := range k.d {
				v := x[i*k.n+b] - mean[i]
				for j := range i {
					v = math.FMA(-l[i*(i+1)/2+j], z[j], v)
				}
				z[i] = v * l[i*(i+1)/2+i]
				want = math.FMA(z[i], z[i], want)
			}
			if !same(got, want) {
				t.Fatalf("%+v, row %d: got %v, want %v", k, b, got, want)
			}
		}
	})
}

func TestScaledSquaresBits(t *testing.T) {
	onBlocks(t, func(t *testing.T, rng *rand.Rand, k rowBlock, special bool) {
		x, mean, _ := k.values(rng, special)
		scale, q := awkward(rng, k.d, special), make([]float64, k.n)
		ScaledSquares(q, x, mean, scale)
		for b, got := range q {
			var want float64
			for j := range k.d {
				v := (x[j*k.n+b] - mean[j]) * scale[j]
				want = math.FMA(v, v, want)
			}
			if !same(got, want) {
				t.Fatalf("%+v, row %d: got %v, want %v", k, b, got, want)
			}
		}
	})
}

func TestCentreBits(t *testing.T) {
	onBlocks(t, func(t *testing.T, rng *rand.Rand, k rowBlock, special bool) {
		x, mean, w := k.values(rng, special)
		sums, y, wy := awkward(rng, k.d, false), make([]float64, len(x)), make([]float64, len(x))
		before := append([]float64(nil), sums...)
		Centre(sums, y, wy, x, mean, w)
		for j := range k.d {
			var s [4]float64
			for b := range k.n {
				at := j*k.n + b
				v := x[at] - mean[j]
				if !same(y[at], v) || !same(wy[at], w[b]*v) {
					t.Fatalf("%+v, row %d, column %d: got %v and %v, want %v and %v", k, b, j, y[at], wy[at], v, w[b]*v)
				}
				s[b%4] += float64(w[b] * v)
			}
			want := before[j]
			if k.n > 0 {
				want += (s[0] + s[1]) + (s[2] + s[3])
			}
			if !same(sums[j], want) {
				t.Fatalf("%+v, column %d: sum %v, want %v", k, j, sums[j], want)
			}
		}
	})
}

func TestAddPackedProductBits(t *testing.T) {
	onBlocks(t, func(t *testing.T, rng *rand.Rand, k rowBlock, special bool) {
		a, _, _ := k.values(rng, special)
		b, _, _ := k.values(rng, special)
		dst := awkward(rng, k.d*(k.d+1)/2, false)
		before := append([]float64(nil), dst...)
		AddPackedProduct(dst, a, b, k.d)
		for i := range k.d {
			for j := range i + 1 {
				var s [4]float64
				for r := range k.n {
					s[r%4] = math.FMA(a[i*k.n+r], b[j*k.n+r], s[r%4])
				}
				want := before[i*(i+1)/2+j]
				if k.n > 0 {
					want += (s[0] + s[1]) + (s[2] + s[3])
				}
				if got := dst[i*(i+1)/2+j]; !same(got, want) {
					t.Fatalf("%+v, product %d, %d: got %v, want %v", k, i, j, got, want)
				}
			}
		}
	})
}

func TestColumnsRefuse(t *testing.T) {
	ok := make([]float64, 32)
	for name, f := range map[string]func(){
		"rows not padded":   func() { WhitenedSquares(ok[:15], ok[:15], ok[:1], ok[:1], ok) },
		"missing columns":   func() { WhitenedSquares(ok[:16], ok[:16], ok[:2], ok[:3], ok) },
		"wrong triangle":    func() { WhitenedSquares(ok[:16], ok, ok[:2], ok[:2], ok) },
		"short scratch":     func() { WhitenedSquares(ok[:16], ok, ok[:2], ok[:3], ok[:31]) },
		"missing scale":     func() { ScaledSquares(ok[:16], ok, ok[:2], ok[:1]) },
		"missing sums":      func() { Centre(ok[:1], ok, ok, ok, ok[:2], ok[:16]) },
		"short destination": func() { Centre(ok[:2], ok[:16], ok, ok, ok[:2], ok[:16]) },
		"unequal blocks":    func() { AddPackedProduct(ok[:3], ok, ok[:16], 2) },
		"no columns":        func() { AddPackedProduct(nil, nil, nil, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func BenchmarkColumns(b *testing.B) {
	const n, d = 128, 8
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	x, y, wy, mean, w, q, l := random(n*d), random(n*d), random(n*d), random(d), random(n), random(n), random(d*(d+1)/2)
	scratch, sums := random(16*d), random(d)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"WhitenedSquares", func() { WhitenedSquares(q, x, mean, l, scratch) }},
		{"ScaledSquares", func() { ScaledSquares(q, x, mean, sums) }},
		{"Centre", func() { Centre(sums, y, wy, x, mean, w) }},
		{"AddPackedProduct", func() { AddPackedProduct(l, wy, y, d) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
