package clustering

import "testing"

// One step of the full model, to be compared with BenchmarkGMMStepFull.
func BenchmarkVBGMMStep(b *testing.B) {
	const n, d, k = 100000, 8, 8
	x, start := benchMixture(n, d, k, Full)
	prior, err := DataNIW(x)
	if err != nil {
		b.Fatal(err)
	}
	m := &VBGMM{Prior: MixturePrior{Alpha: 1, Component: prior}}
	for c := range k {
		q := prior
		q.Mean = start.Means.RawRowView(c)
		m.Alpha, m.Components = append(m.Alpha, n/k), append(m.Components, q)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := m.Step(x); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*k*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mdensities/s")
}
