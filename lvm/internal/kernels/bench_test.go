package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"
)

// bench/peers_kernels.py runs these by name, in turn with numpy.

// measure reports the flops per second of f.
func measure(b *testing.B, name string, flops float64, f func()) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			f()
		}
		b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	})
}

func benchmarkGemm[T Float](b *testing.B, name string, m, n, k int) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := randomView[T](rng, normal, m, k, 0, false)
	y := randomView[T](rng, normal, k, n, 0, false)
	z := randomView[T](rng, normal, m, n, 0, false)
	measure(b, name, 2*float64(m*n*k), func() { Gemm(1, x, y, 0, z) })
}

func BenchmarkGemm(b *testing.B) {
	for _, n := range []int{16, 64, 256, 512, 1024, 2048} {
		benchmarkGemm[float64](b, fmt.Sprintf("float64/%d", n), n, n, n)
		benchmarkGemm[float32](b, fmt.Sprintf("float32/%d", n), n, n, n)
	}
	benchmarkGemm[float64](b, "float64/skinny", 100_000, 16, 64)
}

func BenchmarkGram(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][2]int{{100_000, 5}, {100_000, 16}, {50_000, 256}} {
		n, d := s[0], s[1]
		x := randomView[float64](rng, normal, n, d, 0, false)
		c := randomView[float64](rng, normal, d, d, 0, false)
		mean, weights := randomVector[float64](rng, d), randomVector[float64](rng, n)
		flops := float64(n * d * d)
		measure(b, fmt.Sprintf("plain/%dx%d", n, d), flops, func() { Gram(1, x, nil, nil, 0, c) })
		measure(b, fmt.Sprintf("centred-weighted/%dx%d", n, d), flops, func() { Gram(1, x, mean, weights, 0, c) })
	}
}

func BenchmarkTrsm(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][2]int{{16, 100_000}, {1000, 1000}} {
		m, n := s[0], s[1]
		a := randomTriangle[float64](rng, m, Lower, false, false)
		x := randomView[float64](rng, normal, m, n, 0, false)
		measure(b, fmt.Sprintf("%dx%d", m, n), float64(m*m*n), func() { Trsm(Lower, false, 1, a, x) })
	}
}

func BenchmarkCholesky(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{16, 200, 2000} {
		a := randomCovariance[float64](rng, n)
		f := a.clone()
		measure(b, fmt.Sprint(n), float64(n*n*n)/3, func() {
			copy(f.Data, a.Data)
			Cholesky(Lower, f)
		})
	}
}

func BenchmarkEigen(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{20, 100, 600} {
		a := randomCovariance[float64](rng, n)
		flops := 4 * float64(n*n*n) / 3 // of the reduction alone
		measure(b, fmt.Sprintf("all/%d", n), flops, func() { Eigen(a, n) })
		measure(b, fmt.Sprintf("top10/%d", n), flops, func() { Eigen(a, 10) })
	}
}

func BenchmarkGonum(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{512, 1024, 2048} {
		x, y, z := randomVector[float64](rng, n*n), randomVector[float64](rng, n*n), make([]float64, n*n)
		measure(b, fmt.Sprintf("Gemm/%d", n), 2*float64(n*n*n), func() {
			gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, y, n, 0, z, n)
		})
	}
	const n = 600
	a := randomCovariance[float64](rng, n)
	s := mat.NewSymDense(n, copyOf(a))
	measure(b, fmt.Sprintf("Eigen/%d", n), 4*float64(n*n*n)/3, func() {
		var e mat.EigenSym
		e.Factorize(s, true)
	})
}
