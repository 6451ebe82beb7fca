package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Against the loop over package math that each function replaces; ns/elem.
func BenchmarkVector(b *testing.B) {
	reference := map[string]func(float64) float64{
		"exp": math.Exp, "log": math.Log, "tanh": math.Tanh,
		"sigmoid":  func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"softplus": func(x float64) float64 { return math.Log1p(math.Exp(-math.Abs(x))) + max(x, 0) },
	}
	for _, name := range []string{"exp", "log", "sigmoid", "tanh", "softplus"} {
		for _, n := range []int{16, 1000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/n=%d/math", name, n), func(b *testing.B) {
				f := reference[name]
				benchmarkVector(b, n, func(dst, src []float64) {
					for i, x := range src {
						dst[i] = f(x)
					}
				})
			})
			for p := portable; p <= best(); p++ {
				b.Run(fmt.Sprintf("%s/n=%d/%v/float64", name, n, p), func(b *testing.B) {
					force(b, p)
					benchmarkVector(b, n, elementwiseFunctions[float64]()[name].vector)
				})
				b.Run(fmt.Sprintf("%s/n=%d/%v/float32", name, n, p), func(b *testing.B) {
					force(b, p)
					benchmarkVector(b, n, elementwiseFunctions[float32]()[name].vector)
				})
			}
		}
	}
}

func benchmarkVector[T Float](b *testing.B, n int, f func(dst, src []T)) {
	rng := rand.New(rand.NewPCG(1, 1))
	src, dst := make([]T, n), make([]T, n)
	for i := range src {
		src[i] = T(10 * rng.Float64())
	}
	for b.Loop() {
		f(dst, src)
	}
	perElement(b, n)
}

func perElement(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/elem")
}

// The E-step's block, stored either way: rows that stay in the first-level cache.
func BenchmarkLogSumExpRows(b *testing.B) {
	for _, k := range []int{2, 3, 5, 8, 16, 64} {
		b.Run(fmt.Sprintf("k=%d/float64", k), func(b *testing.B) { benchmarkRows[float64](b, k, false) })
		b.Run(fmt.Sprintf("k=%d/float32", k), func(b *testing.B) { benchmarkRows[float32](b, k, false) })
		b.Run(fmt.Sprintf("k=%d/float64/columns", k), func(b *testing.B) { benchmarkRows[float64](b, k, true) })
		b.Run(fmt.Sprintf("k=%d/float32/columns", k), func(b *testing.B) { benchmarkRows[float32](b, k, true) })
	}
}

func benchmarkRows[T Float](b *testing.B, k int, byColumns bool) {
	const n = 256
	rng := rand.New(rand.NewPCG(1, 1))
	from, x, lse := make([]T, n*k), make([]T, n*k), make([]T, n)
	for i := range from {
		from[i] = T(-100 * rng.Float64())
	}
	m := Of(n, k, x, k)
	if byColumns {
		m = Of(k, n, x, n).T()
	}
	for b.Loop() {
		copy(x, from)
		LogSumExpRows(lse, m)
	}
	perElement(b, n*k)
}

func BenchmarkDot(b *testing.B) {
	for _, n := range []int{4, 16, 64, 1000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			x, y := make([]float64, n), make([]float64, n)
			for b.Loop() {
				Dot(x, y)
			}
			perElement(b, n)
		})
	}
}
