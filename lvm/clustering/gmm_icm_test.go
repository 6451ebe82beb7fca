package clustering

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// labelledMixture is the complete-data maximum for given labels, as the
// equations of notes 002, (7.10)–(7.17), stand.
func labelledMixture(m *GMM, x *mat.Dense, z []int) *GMM {
	n, _ := x.Dims()
	q := mat.NewDense(n, len(m.Weights), nil)
	for i, c := range z {
		q.Set(i, c, 1)
	}
	return plainMStep(m, x, q)
}

// complete is ln p(x, z | θ).
func complete(m *GMM, x *mat.Dense, z []int) (l float64) {
	for i, c := range z {
		l += math.Log(plainDensities(m, x.RawRowView(i))[c])
	}
	return l
}

// Six steps by the obvious algorithm: labels of the largest density, then
// counts, means and covariances of the rows with each label.
func TestStepICMPlain(t *testing.T) {
	for _, shape := range shapes {
		_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(5, 6)), 402)
		fast, slow := testGMM(shape), testGMM(shape)
		for step := range 6 {
			z := make([]int, 402)
			for i := range z {
				p := plainDensities(slow, x.RawRowView(i))
				z[i] = slices.Index(p, slices.Max(p))
			}
			want := complete(slow, x, z)
			slow = labelledMixture(slow, x, z)
			next, got, err := fast.StepICM(x)
			if err != nil {
				t.Fatal(err)
			}
			if !near(got, want, 1e-13) {
				t.Errorf("%v: objective %v in step %d, want %v", shape, got, step, want)
			}
			fast = next
		}
		sameGMM(t, shape.String(), fast, slow, 1e-12)
	}
}

// The objective is the maximum over all 3⁶ labellings, and where ICM ends no
// change of one label and no labelling of its own components does better. It
// is a local maximum: the best of all restarts is also compared with the
// maximum over all labellings, each with its own best parameters.
func TestICMByEnumeration(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{-3, -2.5, 0.1, 0.4, 4, 5})
	const floor = 0.3 // in units of the data
	var variance mat.SymDense
	covariance(&variance, x)
	opts := &GMMOptions{Options: lvm.Options{Restarts: 100}, Floor: floor / variance.At(0, 0)}
	fit, trace, err := FitICM(rand.New(rand.NewPCG(1, 2)), x, 3, opts)
	if err != nil {
		t.Fatal(err)
	}
	bestHere, best := math.Inf(-1), math.Inf(-1)
	eachLabelling(6, 3, func(z []int) {
		bestHere = max(bestHere, complete(fit, x, z))
		if slices.Contains(z, 0) && slices.Contains(z, 1) && slices.Contains(z, 2) {
			m := labelledMixture(fit, x, z)
			for _, c := range m.Covs {
				c.SetSym(0, 0, max(c.At(0, 0), floor))
			}
			best = max(best, complete(m, x, z))
		}
	})
	if !near(trace.Final(), bestHere, 1e-13) {
		t.Errorf("objective %v, and %v for the best labels", trace.Final(), bestHere)
	}
	if !near(trace.Final(), best, 1e-13) {
		t.Errorf("objective %v, and %v for the best labelling of all", trace.Final(), best)
	}
}

// eachLabelling calls f with every labelling of n rows by k labels.
func eachLabelling(n, k int, f func(z []int)) {
	z := make([]int, n)
	for {
		f(z)
		i := 0
		for ; i < n && z[i] == k-1; i++ {
			z[i] = 0
		}
		if i == n {
			return
		}
		z[i]++
	}
}

// With equal weights and one spherical variance, whatever its size, a step moves
// the means as k-means moves its centres, all the way.
func TestICMIsKMeans(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 500)
	for _, variance := range []float64{1e-3, 1, 1e3} {
		km, err := InitRandomRows(rand.New(rand.NewPCG(3, 4)), x, 4)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 15 {
			m := &GMM{Weights: []float64{0.25, 0.25, 0.25, 0.25}, Means: km.Centers, Shape: Spherical}
			for range 4 {
				m.Covs = append(m.Covs, sym(2, variance, 0, 0, variance))
			}
			if !slices.Equal(m.Assign(x), km.Assign(x)) {
				t.Fatalf("variance %v: other labels in step %d", variance, step)
			}
			next, objective, err := m.StepICM(x)
			if err != nil {
				t.Fatal(err)
			}
			moved, inertia, err := km.Step(x)
			if err != nil {
				t.Fatal(err)
			}
			// −J/2σ² and the constants that k-means leaves out.
			want := inertia/(2*variance) + 500*(math.Log(0.25)-math.Log(2*math.Pi*variance))
			if !near(objective, want, 1e-13) {
				t.Errorf("variance %v: objective %v in step %d, want %v", variance, objective, step, want)
			}
			if !mat.EqualApprox(next.Means, moved.Centers, 1e-13) {
				t.Errorf("variance %v: means\n%v\nin step %d, want\n%v", variance, mat.Formatted(next.Means), step, mat.Formatted(moved.Centers))
			}
			km = moved
		}
	}
}

// EM goes over into k-means as the variance goes to zero (notes 001, A25).
func TestColdEMIsICM(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(1, 2)), 500)
	m := testGMM(Spherical)
	gap := func(variance float64) float64 {
		for _, c := range m.Covs {
			c.SetSym(0, 0, variance)
			c.SetSym(1, 1, variance)
		}
		hard, _, err := m.StepICM(x)
		if err != nil {
			t.Fatal(err)
		}
		soft, _, err := m.Step(x)
		if err != nil {
			t.Fatal(err)
		}
		var diff mat.Dense
		diff.Sub(hard.Means, soft.Means)
		return mat.Norm(&diff, math.Inf(1))
	}
	if g := gap(1); g < 0.05 {
		t.Errorf("control: at variance 1 the means differ by %v only", g)
	}
	if g := gap(1e-6); g > 1e-12 {
		t.Errorf("at variance 1e-6 the means differ by %v", g)
	}
}

// Two unit Gaussians at distance 2: cut in the middle, each half has the
// variance and the mean of a truncated mixture. At the maximum under the cut at
// zero, by symmetry, μ = E|x| and σ² = E x² − μ² for x ~ ½N(−1,1)+½N(1,1):
// E x² = 2 and E|x| = 2φ(1)+1−2Φ(−1) = 1.1666, so σ² = 0.6391 where EM finds 1.
func TestICMBias(t *testing.T) {
	const n = 20000
	truth := &GMM{Weights: []float64{0.5, 0.5}, Means: mat.NewDense(2, 1, []float64{-1, 1}), Covs: []*mat.SymDense{sym(1, 1), sym(1, 1)}, Shape: Tied}
	_, x := truth.Sample(rand.New(rand.NewPCG(1, 2)), n)
	opts := &GMMOptions{Options: lvm.Options{MaxIter: 5000}, Start: truth}
	hard, _, err := FitICM(nil, x, 2, opts)
	if err != nil {
		t.Fatal(err)
	}
	soft, _, err := FitGMM(nil, x, 2, opts)
	if err != nil {
		t.Fatal(err)
	}
	// The cut wanders by some standard errors of a share of the rows, ½/√n = 0.0035,
	// times how much the moments of a side change with it.
	if v := hard.Covs[0].At(0, 0); math.Abs(v-0.6391) > 0.03 {
		t.Errorf("the variance of ICM is %v, want 0.639", v)
	}
	if gap := hard.Means.At(1, 0) - hard.Means.At(0, 0); math.Abs(gap-2*1.1666) > 0.05 {
		t.Errorf("the means of ICM are %v apart, want 2.333", gap)
	}
	if v := soft.Covs[0].At(0, 0); math.Abs(v-1) > 0.1 {
		t.Errorf("control: the variance of EM is %v, want 1", v)
	}
}

// Weights count as copies, and weight zero as absence.
func TestFitICMWeights(t *testing.T) {
	_, x := testGMM(Full).Sample(rand.New(rand.NewPCG(5, 6)), 90)
	copies, w := mat.NewDense(90, 2, nil), make([]float64, 90)
	at := 0
	for i := range 90 {
		w[i] = float64(i % 3)
		for range i % 3 {
			copies.SetRow(at, x.RawRowView(i))
			at++
		}
	}
	a, ta, err := FitICM(nil, x, 3, &GMMOptions{Start: testGMM(Full), Weights: w})
	if err != nil {
		t.Fatal(err)
	}
	b, tb, err := FitICM(nil, copies, 3, &GMMOptions{Start: testGMM(Full)})
	if err != nil {
		t.Fatal(err)
	}
	if !near(ta.Final(), tb.Final(), 1e-12) || ta.Steps() != tb.Steps() {
		t.Errorf("%v in %d steps with weights, %v in %d with copies", ta.Final(), ta.Steps(), tb.Final(), tb.Steps())
	}
	sameGMM(t, "weights and copies", a, b, 1e-10)
}

func TestICMBadInput(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 1, 2, 3, 1, 1, 2, 0})
	m := testGMM(Full)
	for name, spoiled := range map[string]mat.Matrix{
		"NaN":   mat.NewDense(1, 2, []float64{0, math.NaN()}),
		"empty": &mat.Dense{},
	} {
		var data *lvm.DataError
		if _, _, err := m.StepICM(spoiled); !errors.As(err, &data) || data.Op != "clustering.GMM.StepICM" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var shape *lvm.ShapeError
	if _, _, err := m.StepICM(mat.NewDense(4, 3, nil)); !errors.As(err, &shape) {
		t.Errorf("wrong width: %v", err)
	}
	// The third component is far from all rows: no label.
	m.Means.SetRow(2, []float64{90, 90})
	var dead *lvm.DegenerateError
	if _, _, err := m.StepICM(x); !errors.As(err, &dead) || dead.Component != 2 {
		t.Errorf("empty component: %v", err)
	}
	if _, _, err := FitICM(nil, x, 3, &GMMOptions{Start: m}); !errors.As(err, &dead) || dead.Component != 2 {
		t.Errorf("empty component in a fit: %v", err)
	}
	// Without a floor, three rows in two dimensions can collapse onto a line.
	line := mat.NewDense(6, 2, []float64{0, 0, 1, 1, 2, 2, 9, 3, 9, 5, 8, 4})
	if _, _, err := FitICM(rand.New(rand.NewPCG(1, 2)), line, 2, &GMMOptions{Floor: -1}); !errors.As(err, &dead) {
		t.Errorf("no floor: %v", err)
	}
	if fit, _, err := FitICM(rand.New(rand.NewPCG(1, 2)), line, 2, nil); err != nil || fit.Floor == nil {
		t.Errorf("with a floor: %v", err)
	}
}
