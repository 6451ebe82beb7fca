package clustering

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// benchMixture returns n rows in d dimensions from k overlapping components,
// and a start that is off by one standard deviation.
func benchMixture(n, d, k int, shape Shape) (*mat.Dense, *GMM) {
	rng := rand.New(rand.NewPCG(1, 2))
	truth := &GMM{Means: mat.NewDense(k, d, nil), Shape: Full}
	start := &GMM{Means: mat.NewDense(k, d, nil), Shape: shape}
	for c := range k {
		truth.Weights = append(truth.Weights, 1/float64(k))
		start.Weights = append(start.Weights, 1/float64(k))
		cov, eye := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
		for j := range d {
			cov.SetSym(j, j, 0.5)
			eye.SetSym(j, j, 2)
			truth.Means.Set(c, j, 2*rng.NormFloat64())
			start.Means.Set(c, j, truth.Means.At(c, j)+rng.NormFloat64())
		}
		for range d {
			v := mat.NewVecDense(d, nil)
			for j := range d {
				v.SetVec(j, rng.NormFloat64())
			}
			cov.SymRankOne(cov, 1/float64(d), v)
		}
		truth.Covs, start.Covs = append(truth.Covs, cov), append(start.Covs, eye)
	}
	_, x := truth.Sample(rng, n)
	return x, start
}

func benchmarkStep(b *testing.B, n, d, k int, shape Shape) {
	x, m := benchMixture(n, d, k, shape)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := m.Step(x); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(k)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mdensities/s")
}

func BenchmarkGMMStepFull(b *testing.B)      { benchmarkStep(b, 100000, 8, 8, Full) }
func BenchmarkGMMStepTied(b *testing.B)      { benchmarkStep(b, 100000, 8, 8, Tied) }
func BenchmarkGMMStepDiagonal(b *testing.B)  { benchmarkStep(b, 100000, 8, 8, Diagonal) }
func BenchmarkGMMStepSpherical(b *testing.B) { benchmarkStep(b, 100000, 8, 8, Spherical) }
func BenchmarkGMMStepWide(b *testing.B)      { benchmarkStep(b, 5000, 64, 8, Full) }

func BenchmarkGMMPosterior(b *testing.B) {
	x, m := benchMixture(100000, 8, 8, Full)
	for b.Loop() {
		m.Posterior(x)
	}
	b.ReportMetric(8e5*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mdensities/s")
}
