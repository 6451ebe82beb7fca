package clustering

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// blobs returns n rows around k centres that are spread apart by sep, in units
// of the width of a blob, in every column.
func blobs(n, d, k int, sep float64) *mat.Dense {
	rng := rand.New(rand.NewPCG(1, 1))
	centers := make([]float64, k*d)
	for i := range centers {
		centers[i] = sep * rng.NormFloat64()
	}
	x := mat.NewDense(n, d, nil)
	for i := range n {
		z := rng.IntN(k)
		for j := range d {
			x.Set(i, j, centers[z*d+j]+rng.NormFloat64())
		}
	}
	return x
}

// Twenty iterations from the first k rows, on the data of bench/kmeans.go: blobs far
// apart, blobs that overlap, no clusters at all, and then few and many columns.
func BenchmarkKMeans(b *testing.B) {
	for _, c := range []struct {
		n, d, k int
		sep     float64
	}{
		{200000, 16, 32, 10}, {200000, 16, 32, 1}, {200000, 16, 32, 0},
		{50000, 2, 50, 1}, {20000, 64, 100, .5}, {10000, 300, 100, .2},
	} {
		x := blobs(c.n, c.d, c.k, c.sep)
		opts := &KMeansOptions{Options: lvm.Options{MaxIter: 20, Tol: -1}, Centers: x.Slice(0, c.k, 0, c.d)}
		b.Run(fmt.Sprintf("n=%d/d=%d/k=%d/apart=%g", c.n, c.d, c.k, c.sep), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := FitKMeans(nil, x, c.k, opts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(20*float64(c.n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func BenchmarkInitPlusPlus(b *testing.B) {
	const n, d, k = 200000, 16, 32
	x := blobs(n, d, k, 1)
	for b.Loop() {
		if _, err := InitPlusPlus(rand.New(rand.NewPCG(2, 2)), x, k); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
