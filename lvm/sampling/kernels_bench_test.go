package sampling

import (
	"slices"
	"testing"
)

func benchmarkKernel[S any](b *testing.B, k Kernel[S], start S, unit string, perStep float64) {
	b.ReportAllocs()
	x, rng := start, newRand(1)
	for b.Loop() {
		var info Info
		if x, info = k.Step(rng, x); info.Err != nil {
			b.Fatal(info.Err)
		}
	}
	b.ReportMetric(perStep*float64(b.N)/b.Elapsed().Seconds(), unit)
}

func BenchmarkSlice2D(b *testing.B) {
	benchmarkKernel(b, &Slice{LogDensity: gauss2, Width: 2}, []float64{0, 0}, "steps/s", 1)
}

func BenchmarkHMC2D(b *testing.B) {
	gradient := func(x, g []float64) float64 { g[0], g[1] = -x[0], -x[1]; return gauss2(x) }
	benchmarkKernel(b, &HMC{Gradient: gradient, StepSize: 0.3}, []float64{0, 0}, "steps/s", 1)
}

func BenchmarkGaussianGibbs2D(b *testing.B) {
	benchmarkKernel(b, &GaussianGibbs{Mean: []float64{0, 0}, Cov: decaying(2, 0.9)}, []float64{0, 0}, "sweeps/s", 1)
}

func BenchmarkFactorGibbsFourCycle(b *testing.B) {
	benchmarkKernel(b, fourCycle(nil, Systematic), make([]int, 4), "sweeps/s", 1)
}

func BenchmarkIsing256(b *testing.B) {
	benchmarkKernel(b, &Ising{Rows: 256, Cols: 256, Coupling: 0.44, Wrap: true}, slices.Repeat([]int8{1}, 256*256), "spins/s", 256*256)
}
