package clustering

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Digits of 64 pixels, ten components.
func BenchmarkBernoulliStep(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := &BernoulliMixture{Probs: mat.NewDense(10, 64, nil)}
	for c := range 10 {
		m.Weights = append(m.Weights, 0.1)
		for j := range 64 {
			m.Probs.Set(c, j, 0.05+0.9*rng.Float64())
		}
	}
	_, x := m.Sample(rng, 20000)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := m.Step(x); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(20000*10*64*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvalues/s")
}

func BenchmarkSilhouette(b *testing.B) {
	x, start := benchMixture(5000, 8, 8, Full)
	z := start.Assign(x)
	for b.Loop() {
		if _, _, err := Silhouette(x, z); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(5000*5000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mdistances/s")
}
