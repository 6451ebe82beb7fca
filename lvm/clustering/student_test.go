package clustering

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

func testStudents() *StudentMixture {
	return &StudentMixture{
		Weights: []float64{0.3, 0.7},
		Means:   mat.NewDense(2, 1, []float64{-1, 2}),
		Scales:  []*mat.SymDense{mat.NewSymDense(1, []float64{0.5}), mat.NewSymDense(1, []float64{2})},
		DF:      []float64{6, math.Inf(1)},
	}
}

// Weighted sums of gonum's univariate densities.
func TestStudentMixture(t *testing.T) {
	m := testStudents()
	a := distuv.StudentsT{Mu: -1, Sigma: math.Sqrt(0.5), Nu: 6}
	b := distuv.Normal{Mu: 2, Sigma: math.Sqrt(2)}
	var sum float64
	x := mat.NewDense(40, 1, nil)
	for i := range 40 {
		v := float64(i) - 20
		x.Set(i, 0, v)
		want := math.Log(0.3*a.Prob(v) + 0.7*b.Prob(v))
		if got := m.LogProb([]float64{v}); math.Abs(got-want) > 1e-12 {
			t.Errorf("ln p(%v) = %v, want %v", v, got, want)
		}
		sum += want
	}
	if got := m.LogLikelihood(x); math.Abs(got-sum) > 1e-10 {
		t.Errorf("log-likelihood %v, want %v", got, sum)
	}
	if got := m.LogProb([]float64{math.NaN()}); !math.IsNaN(got) {
		t.Errorf("of a NaN: %v", got)
	}
}

// The mean absolute distance from each component's centre, within five standard errors.
func TestStudentMixtureSample(t *testing.T) {
	const n = 40000
	m := testStudents()
	z, x := m.Sample(rand.New(rand.NewPCG(1, 2)), n)
	var count, dist, square [2]float64
	for i, k := range z {
		v := math.Abs(x.At(i, 0) - m.Means.At(k, 0))
		count[k]++
		dist[k] += v
		square[k] += v * v
	}
	if s := (count[0]/n - 0.3) / math.Sqrt(0.21/n); math.Abs(s) > 5 {
		t.Errorf("%v of %v rows from component 0", count[0], n)
	}
	// E|t| = 2√(ν s) Γ((ν+1)/2) / (√π Γ(ν/2) (ν−1)), E|N(0, s)| = √(2s/π)
	want := [2]float64{2 * math.Sqrt(6*0.5) * math.Gamma(3.5) / (math.Sqrt(math.Pi) * math.Gamma(3) * 5), math.Sqrt(2 * 2 / math.Pi)}
	for k := range 2 {
		mean := dist[k] / count[k]
		se := math.Sqrt((square[k]/count[k] - mean*mean) / count[k])
		if s := (mean - want[k]) / se; math.Abs(s) > 5 {
			t.Errorf("component %d: mean distance %v, want %v (%.1f standard errors)", k, mean, want[k], s)
		}
	}
}

func TestStudentMixtureRefuses(t *testing.T) {
	for name, spoil := range map[string]func(m *StudentMixture){
		"ν = 0":       func(m *StudentMixture) { m.DF[0] = 0 },
		"one ν":       func(m *StudentMixture) { m.DF = m.DF[:1] },
		"weights":     func(m *StudentMixture) { m.Weights[0] = 0.5 },
		"a bad scale": func(m *StudentMixture) { m.Scales[0].SetSym(0, 0, -1) },
		"no means":    func(m *StudentMixture) { m.Means = nil },
	} {
		m := testStudents()
		spoil(m)
		wantTyped(t, name, "clustering: StudentMixture.LogProb", recovered(func() { m.LogProb([]float64{0}) }), "")
	}
	wantTyped(t, "another width", "clustering: StudentMixture.LogProb", recovered(func() { testStudents().LogProb([]float64{0, 1}) }), "columns")
	wantTyped(t, "no width", "clustering: StudentMixture.LogProb", recovered(func() { testStudents().LogProb(nil) }), "columns")
}
