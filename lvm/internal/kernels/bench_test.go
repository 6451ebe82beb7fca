package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func benchmarkGemm[T Float](b *testing.B, m, n, k int) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := randomView[T](rng, normal, m, k, 0, false)
	y := randomView[T](rng, normal, k, n, 0, false)
	z := randomView[T](rng, normal, m, n, 0, false)
	for b.Loop() {
		Gemm(1, x, y, 0, z)
	}
	b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkGemm(b *testing.B) {
	for _, n := range []int{16, 64, 256, 512, 1024, 2048} {
		b.Run(fmt.Sprintf("float64/%d", n), func(b *testing.B) { benchmarkGemm[float64](b, n, n, n) })
		b.Run(fmt.Sprintf("float32/%d", n), func(b *testing.B) { benchmarkGemm[float32](b, n, n, n) })
	}
	b.Run("float64/100000x64x16", func(b *testing.B) { benchmarkGemm[float64](b, 100_000, 16, 64) })
}

func BenchmarkGram(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][2]int{{100_000, 5}, {100_000, 16}, {50_000, 256}} {
		n, d := s[0], s[1]
		x := randomView[float64](rng, normal, n, d, 0, false)
		c := randomView[float64](rng, normal, d, d, 0, false)
		mean, weights := randomVector[float64](rng, d), randomVector[float64](rng, n)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%dx%d/%s", n, d, name), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(n*d*d)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
		run("plain", func() { Gram(1, x, nil, nil, 0, c) })
		run("centred-weighted", func() { Gram(1, x, mean, weights, 0, c) })
	}
}
