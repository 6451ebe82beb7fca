package clustering

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/check"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// settled is for fits that go on until nothing moves.
var settled = lvm.Options{MaxIter: 5000, Tol: 1e-14, Restarts: 8}

// The oracle of the catalogue to the notes: eight numbers, σ² = 1, σ₀² = 25, two
// clusters; K = 1 is exact; the formulas that are printed lie far below.
func TestVBMeansOfNotes(t *testing.T) {
	x := mat.NewDense(8, 1, []float64{-2.1, -1.4, -2.6, -1.9, 1.7, 2.2, 3.0, 2.5})
	prior := FixedVariance{Mean: []float64{0}, PriorVariance: 25, Variance: 1}
	bounds := []float64{0, -29.741270, -18.512425, -20.684605}
	for k := 1; k <= 3; k++ {
		_, trace, err := FitVBMeans(rand.New(rand.NewPCG(1, 2)), x, k, prior, &VBMeansOptions{Options: settled, From: FromRows})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(trace.Final()-bounds[k]) > 5e-7 {
			t.Errorf("K = %d: bound %v, want %v", k, trace.Final(), bounds[k])
		}
	}
	m, _, err := FitVBMeans(rand.New(rand.NewPCG(1, 2)), x, 2, prior, &VBMeansOptions{Options: settled})
	if err != nil {
		t.Fatal(err)
	}
	a, b := 0, 1
	if m.Means.At(0, 0) > 0 {
		a, b = 1, 0
	}
	for _, v := range [][2]float64{{m.Means.At(a, 0), -1.978864}, {m.Means.At(b, 0), 2.325689}, {m.Vars[a], 0.247508}, {m.Vars[b], 0.247541}} {
		if math.Abs(v[0]-v[1]) > 5e-7 {
			t.Errorf("parameter %v, want %v", v[0], v[1])
		}
	}

	// The printed update, iterated to its fixed point, has the bound −35.406 that the
	// catalogue gives.
	for range 200 {
		r := m.Posterior(x)
		for k := range 2 {
			var n, s float64
			for i := range 8 {
				n, s = n+r.At(i, k), s+r.At(i, k)*x.At(i, 0)
			}
			m.Means.Set(k, 0, s/(n+prior.Variance))
			m.Vars[k] = prior.Variance * prior.PriorVariance / (n + prior.Variance)
		}
	}
	_, bound, err := m.Step(x)
	if err != nil || math.Abs(bound+35.406) > 5e-4 {
		t.Errorf("the printed formulas have the bound %v, want −35.406; %v", bound, err)
	}
}

// logEvidence returns ln p(x) of a finite mixture, summed over all labellings.
func logEvidence(n, k int, logJoint func(z []int) float64) float64 {
	var all []float64
	z := make([]int, n)
	for s := range int(math.Pow(float64(k), float64(n))) {
		for i := range z {
			z[i], s = s%k, s/k
		}
		all = append(all, logJoint(z))
	}
	return num.LogSumExp(all)
}

// For two clusters on a line and three rows everything is an integral over
// (μ_1, μ_2): the evidence, the bound from its definition, and the gap between
// the two, which is KL(q‖p(μ, z | x)).
func TestVBMeansIntegral(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{-1, 0.3, 1.8})
	prior := FixedVariance{Mean: []float64{0.2}, PriorVariance: 4, Variance: 0.8}
	m := &VBMeans{Weights: []float64{0.3, 0.7}, Means: mat.NewDense(2, 1, []float64{-0.7, 1.1}), Vars: []float64{0.5, 0.3}, Prior: prior}
	_, bound, err := m.Step(x)
	if err != nil {
		t.Fatal(err)
	}
	logNormal := func(x, mu, v float64) float64 { return -0.5*(x-mu)*(x-mu)/v - 0.5*math.Log(2*math.Pi*v) }
	r := m.Posterior(x)
	const h = 0.05
	var evidence, elbo, gap, mass float64
	visit := func(f func(mu [2]float64)) {
		for a := -14.0; a < 14; a += h {
			for b := -14.0; b < 14; b += h {
				f([2]float64{a, b})
			}
		}
	}
	logPrior := func(mu [2]float64) float64 { return logNormal(mu[0], 0.2, 4) + logNormal(mu[1], 0.2, 4) }
	visit(func(mu [2]float64) {
		l := logPrior(mu)
		for i := range 3 {
			l += math.Log(0.3*math.Exp(logNormal(x.At(i, 0), mu[0], 0.8)) + 0.7*math.Exp(logNormal(x.At(i, 0), mu[1], 0.8)))
		}
		evidence += math.Exp(l) * h * h
	})
	visit(func(mu [2]float64) {
		logQ := logNormal(mu[0], -0.7, 0.5) + logNormal(mu[1], 1.1, 0.3)
		q := math.Exp(logQ) * h * h
		mass += q
		elbo += q * (logPrior(mu) - logQ)
		for s := range 8 {
			w, logW, l := q, logQ, logPrior(mu)
			for i := range 3 {
				k := s >> i & 1
				w *= r.At(i, k)
				logW += math.Log(r.At(i, k))
				l += math.Log(m.Weights[k]) + logNormal(x.At(i, 0), mu[k], 0.8)
			}
			gap += w * (logW - l + math.Log(evidence))
			elbo += w * (l - logPrior(mu) - (logW - logQ))
		}
	})
	if math.Abs(mass-1) > 1e-9 {
		t.Fatalf("q has mass %v on the grid", mass)
	}
	// The trapezoidal rule has converged to all digits at this width.
	if math.Abs(bound-elbo) > 1e-9 {
		t.Errorf("bound %v, by its definition %v", bound, elbo)
	}
	if math.Abs(math.Log(evidence)-bound-gap) > 1e-9 || gap < 0.01 {
		t.Errorf("evidence %v, bound %v, divergence from the posterior %v", math.Log(evidence), bound, gap)
	}
	g := &MixtureGibbs{X: x, K: 2, Alpha: 1, Prior: prior}
	sum := logEvidence(3, 2, func(z []int) float64 {
		l := logMarginal(g.X, z, prior)
		for _, k := range z {
			l += math.Log(m.Weights[k])
		}
		return l
	})
	if math.Abs(sum-math.Log(evidence)) > 1e-9 {
		t.Errorf("evidence %v by sums, %v by integrals", sum, math.Log(evidence))
	}
}

func testPrior() MixturePrior {
	return MixturePrior{Alpha: 1.5, Component: NIW{Mean: []float64{0.2, -0.1}, Kappa: 0.4, Nu: 4.5, Scale: mat.NewSymDense(2, []float64{1, 0.2, 0.2, 0.7})}}
}

// For one component the posterior and its bound are exact; for two the bound is
// below the evidence, summed over all 64 labellings of six rows, and above it
// if two were counted for the labels; mean fields lose about a nat here.
func TestVBGMMEvidence(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{-2, 0, -1.5, 0.4, -2.4, -0.8, 2.2, 3, 1.8, 2.5, 2.6, 3.3})
	prior := testPrior()
	m, trace, err := FitVBGMM(rand.New(rand.NewPCG(1, 2)), x, 1, &VBGMMOptions{Options: settled, Prior: &prior})
	if err != nil {
		t.Fatal(err)
	}
	if want := prior.Component.LogMarginal(x); math.Abs(trace.Final()-want) > 1e-11 {
		t.Errorf("one component: bound %v, evidence %v", trace.Final(), want)
	}
	if q := prior.Component.Posterior(x); math.Abs(q.Scale.At(0, 1)-m.Components[0].Scale.At(0, 1)) > 1e-12 || q.Nu != m.Components[0].Nu {
		t.Errorf("one component: %+v, want %+v", m.Components[0], q)
	}
	if _, trace, err = FitVBGMM(rand.New(rand.NewPCG(1, 2)), x, 2, &VBGMMOptions{Options: settled, Prior: &prior}); err != nil {
		t.Fatal(err)
	}
	g := &MixtureGibbs{X: x, K: 2, Alpha: prior.Alpha, Prior: prior.Component}
	evidence := logEvidence(6, 2, g.LogJoint)
	if gap := evidence - trace.Final() - math.Ln2; gap < 0 || gap > 1.5 {
		t.Errorf("bound %v with ln 2! for the labels, evidence %v", trace.Final()+math.Ln2, evidence)
	}
}

// The bound from its definition, E_q[ln p(x, z, π, μ, Λ) − ln q(z, π, μ, Λ)], over
// draws from q, with the densities of gonum; within five standard errors.
func TestVBGMMBoundIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, d, k, draws = 5, 2, 3, 10000
	x := normals(rng, n, d)
	m := &VBGMM{Alpha: []float64{2, 0.7, 1.1}, Prior: testPrior()}
	for range k {
		q := randomNIW(rng, d)
		q.Nu, q.Kappa = 20, 3
		q.Scale.ScaleSym(15, q.Scale)
		m.Components = append(m.Components, q)
	}
	_, bound, err := m.Step(x)
	if err != nil {
		t.Fatal(err)
	}
	r := m.Posterior(x)
	logParams := func(p NIW, mean []float64, lambda, cov *mat.SymDense) float64 {
		var c mat.Cholesky
		c.Factorize(p.Scale)
		var w mat.SymDense
		if err := c.InverseTo(&w); err != nil {
			t.Fatal(err)
		}
		wishart, ok := distmat.NewWishart(&w, p.Nu, nil)
		if !ok {
			t.Fatal("not positive definite")
		}
		var scaled mat.SymDense
		scaled.ScaleSym(1/p.Kappa, cov)
		normal, _ := distmv.NewNormal(p.Mean, &scaled, nil)
		return wishart.LogProbSym(lambda) + normal.LogProb(mean)
	}
	var sum, square float64
	for range draws {
		pi := Dirichlet{Alpha: m.Alpha}.Draw(rng)
		l := m.Prior.weights(k).LogProb(pi) - Dirichlet{Alpha: m.Alpha}.LogProb(pi)
		for c, q := range m.Components {
			mean, cov := q.Draw(rng)
			var chol mat.Cholesky
			chol.Factorize(cov)
			var lambda mat.SymDense
			if err := chol.InverseTo(&lambda); err != nil {
				t.Fatal(err)
			}
			l += logParams(m.Prior.Component, mean, &lambda, cov) - logParams(q, mean, &lambda, cov)
			normal, _ := distmv.NewNormal(mean, cov, nil)
			for i := range n {
				l += r.At(i, c) * (math.Log(pi[c]) + normal.LogProb(x.RawRowView(i)) - math.Log(r.At(i, c)))
			}
		}
		sum, square = sum+l/draws, square+l*l/draws
	}
	se := math.Sqrt((square - sum*sum) / draws)
	if z := (sum - bound) / se; math.Abs(z) > 5 {
		t.Errorf("bound %v, mean over draws %v ± %v", bound, sum, se)
	}
	if se > 0.1 {
		t.Errorf("a standard error of %v shows nothing", se)
	}
}

// As rows count for more, the prior counts for less: variational inference
// goes over into EM, and the distance shrinks like one over the weight.
func TestVBMeetsEM(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	_, x := testGMM(Full).Sample(rng, 300)
	em, _, err := FitGMM(rng, x, 3, &GMMOptions{Options: lvm.Options{Tol: 1e-14, MaxIter: 5000}})
	if err != nil {
		t.Fatal(err)
	}
	prior, err := DataNIW(x)
	if err != nil {
		t.Fatal(err)
	}
	var last float64
	for i, weight := range []float64{1e2, 1e4, 1e6} {
		w := slices.Repeat([]float64{weight}, 300)
		start := &VBGMM{Prior: MixturePrior{Alpha: 1, Component: prior}}
		for k, p := range em.Weights {
			n := 300 * weight * p
			cov := mat.NewSymDense(2, nil)
			cov.ScaleSym(n, em.Covs[k])
			start.Alpha = append(start.Alpha, n)
			start.Components = append(start.Components, NIW{Mean: slices.Clone(em.Means.RawRowView(k)), Kappa: n, Nu: n, Scale: cov})
		}
		vb, _, err := FitVBGMM(nil, x, 3, &VBGMMOptions{Options: lvm.Options{Tol: 1e-14, MaxIter: 5000}, Start: start, Weights: w})
		if err != nil {
			t.Fatal(err)
		}
		g := vb.Mixture()
		far := 0.0
		for k := range 3 {
			far = max(far, math.Abs(g.Weights[k]-em.Weights[k]))
			for j := range 2 {
				far = max(far, math.Abs(g.Means.At(k, j)-em.Means.At(k, j)), math.Abs(g.Covs[k].At(j, j)-em.Covs[k].At(j, j)))
			}
		}
		if i > 0 && !(far < last/20) { // a hundredth, but for where both stop
			t.Errorf("weight %v: %v away from EM, before %v", weight, far, last)
		}
		last = far
	}
	if last > 1e-5 {
		t.Errorf("still %v away from EM", last)
	}
}

// A posterior keeps its prior, not that of the caller.
func TestVBCopiesPrior(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	_, x := testGMM(Full).Sample(rng, 60)
	p := testPrior()
	m, _, err := FitVBGMM(rng, x, 2, &VBGMMOptions{Prior: &p})
	if err != nil {
		t.Fatal(err)
	}
	f := FixedVariance{Mean: []float64{1, 2}, PriorVariance: 3, Variance: 1}
	means, _, err := FitVBMeans(rng, x, 2, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Component.Mean[0], f.Mean[0] = 77, 77
	p.Component.Scale.SetSym(0, 0, 77)
	if c := m.Prior.Component; c.Mean[0] == 77 || c.Scale.At(0, 0) == 77 || means.Prior.Mean[0] == 77 {
		t.Errorf("priors changed: %+v, %+v", c, means.Prior)
	}
}

func vbModel(x *mat.Dense) check.Model[*VBGMM] {
	return check.Model[*VBGMM]{
		X: x, K: 3,
		Fit: func(rng *rand.Rand, x mat.Matrix, k int) (*VBGMM, lvm.Trace, error) {
			return FitVBGMM(rng, x, k, &VBGMMOptions{Options: lvm.Options{MaxIter: 50}})
		},
		FitFrom: func(m *VBGMM, x mat.Matrix, steps int) (*VBGMM, lvm.Trace, error) {
			return FitVBGMM(nil, x, 3, &VBGMMOptions{Options: lvm.Options{MaxIter: steps, Tol: -1}, Start: m})
		},
		Step: (*VBGMM).Step,
		Params: func(m *VBGMM) []float64 {
			p := append([]float64(nil), m.Alpha...)
			for _, c := range append(slices.Clone(m.Components), m.Prior.Component) {
				p = append(append(p, c.Mean...), c.Kappa, c.Nu)
				for i := range c.Mean {
					for j := range i + 1 {
						p = append(p, c.Scale.At(i, j))
					}
				}
			}
			return p
		},
		Relabel: func(m *VBGMM, perm []int) *VBGMM {
			r := &VBGMM{Prior: m.Prior}
			for _, p := range perm {
				r.Alpha, r.Components = append(r.Alpha, m.Alpha[p]), append(r.Components, m.Components[p])
			}
			return r
		},
		Assign:    (*VBGMM).Assign,
		Posterior: (*VBGMM).Posterior,
		LogProb:   (*VBGMM).LogProb,
	}
}

func vbMeansModel(x *mat.Dense) check.Model[*VBMeans] {
	prior := FixedVariance{Mean: make([]float64, x.RawMatrix().Cols), PriorVariance: 20, Variance: 0.5}
	return check.Model[*VBMeans]{
		X: x, K: 3,
		Fit: func(rng *rand.Rand, x mat.Matrix, k int) (*VBMeans, lvm.Trace, error) {
			return FitVBMeans(rng, x, k, prior, &VBMeansOptions{Options: lvm.Options{MaxIter: 50}})
		},
		FitFrom: func(m *VBMeans, x mat.Matrix, steps int) (*VBMeans, lvm.Trace, error) {
			return FitVBMeans(nil, x, 3, prior, &VBMeansOptions{Options: lvm.Options{MaxIter: steps, Tol: -1}, Start: m})
		},
		Step: (*VBMeans).Step,
		Params: func(m *VBMeans) []float64 {
			return append(append(slices.Clone(m.Weights), m.Means.RawMatrix().Data...), m.Vars...)
		},
		Relabel: func(m *VBMeans, perm []int) *VBMeans {
			r := &VBMeans{Means: mat.DenseCopyOf(m.Means), Prior: m.Prior}
			for i, p := range perm {
				r.Weights, r.Vars = append(r.Weights, m.Weights[p]), append(r.Vars, m.Vars[p])
				r.Means.SetRow(i, m.Means.RawRowView(p))
			}
			return r
		},
		Assign:    (*VBMeans).Assign,
		Posterior: (*VBMeans).Posterior,
		LogProb:   (*VBMeans).LogProb,
	}
}

// The promises that every model of the library makes.
func TestVBConformance(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	_, plane := testGMM(Full).Sample(rng, 1100)
	line := mat.DenseCopyOf(plane.Slice(0, 1100, 1, 2))
	for name, x := range map[string]*mat.Dense{"1-D": line, "2-D": plane} {
		t.Run("posterior "+name, func(t *testing.T) { check.Run(t, vbModel(x)) })
		t.Run("means "+name, func(t *testing.T) { check.Run(t, vbMeansModel(x)) })
	}
}

// A prior a million standard deviations from the rows makes posteriors of
// condition 1e12; rounding then moves the bound, which is no fall to report.
func TestVBFarPrior(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, d := 3+rng.IntN(10), 2+rng.IntN(7)
		x := normals(rng, n, d)
		x.Apply(func(_, _ int, v float64) float64 { return 1e6 + v }, x)
		prior := MixturePrior{Alpha: 1, Component: NIW{Mean: make([]float64, d), Kappa: 0.1, Nu: float64(d) + 2, Scale: mat.NewSymDense(d, nil)}}
		for j := range d {
			prior.Component.Scale.SetSym(j, j, 1)
		}
		if _, _, err := FitVBGMM(rng, x, 2, &VBGMMOptions{Prior: &prior}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func TestVBRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := normals(rng, 60, 4)
	good, err := DataNIW(x)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(p MixturePrior) error {
		_, _, err := FitVBGMM(rng, x, 2, &VBGMMOptions{Prior: &p})
		return err
	}
	singular, narrow := good, good
	singular.Scale = mat.NewSymDense(4, nil)
	narrow.Mean = good.Mean[:3]
	for name, err := range map[string]error{
		"α = 0":            fit(MixturePrior{Component: good}),
		"α < 0":            fit(MixturePrior{Alpha: -1, Component: good}),
		"a singular scale": fit(MixturePrior{Alpha: 1, Component: singular}),
		"three means":      fit(MixturePrior{Alpha: 1, Component: narrow}),
		"no prior":         fit(MixturePrior{Alpha: 1}),
	} {
		wantTyped(t, name, "clustering.FitVBGMM: ", err, "prior")
	}
	m, _, err := FitVBGMM(rng, x, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(m *VBGMM){
		"α_1 = 0":      func(m *VBGMM) { m.Alpha[1] = 0 },
		"one α":        func(m *VBGMM) { m.Alpha = m.Alpha[:1] },
		"no component": func(m *VBGMM) { m.Components = nil },
		"ν_1 too low":  func(m *VBGMM) { m.Components[1].Nu = 2 },
	} {
		c := &VBGMM{Alpha: slices.Clone(m.Alpha), Components: slices.Clone(m.Components), Prior: m.Prior}
		spoil(c)
		_, _, err := c.Step(x)
		wantTyped(t, name, "clustering.VBGMM.Step: ", err, "")
		wantTyped(t, name, "clustering: VBGMM.Posterior: ", recovered(func() { c.Posterior(x) }), "")
	}
	_, _, err = FitVBGMM(rng, x, 3, &VBGMMOptions{Start: m})
	wantTyped(t, "a start of two", "clustering.FitVBGMM: ", err, "components of Start")
	_, _, err = FitVBMeans(rng, x, 2, FixedVariance{Mean: make([]float64, 4), PriorVariance: 1}, nil)
	wantTyped(t, "σ² = 0", "clustering.FitVBMeans: ", err, "Variance")
	_, _, err = FitVBMeans(rng, x, 2, FixedVariance{Mean: make([]float64, 4), PriorVariance: 1, Variance: 1}, &VBMeansOptions{Weights: []float64{1}})
	wantTyped(t, "one weight", "clustering.FitVBMeans: ", err, "")
}
