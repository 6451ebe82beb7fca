package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/climb"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// VBMeans is the variational posterior of the means of k round clusters of
// which weights and variance are known, the smallest model that shows what
// variational inference does:
//
//	μ_k ~ N(m_0, σ₀² I),   z_i ~ Categorical(π),   x_i | z_i ~ N(μ_{z_i}, σ² I)
//	p(μ, z | x) ≈ Π_k q(μ_k) Π_i q(z_i),   q(μ_k) = N(m_k, v_k I)
//
// q(z) is not stored: it follows from the rest, see Posterior. Step improves
// the bound ELBO ≤ ln p(x), which is computed with all its constants.
//
// A VBMeans can be written by hand. Step returns what is wrong with it as an
// error; the methods without an error result panic with that error, and with
// a *lvm.ShapeError if x has another width.
//
// Source: Subakan, Latent Variable Models (CS598PS, 2017), variant 3, with m_0 = 0.
type VBMeans struct {
	Weights []float64  // π, k, fixed, sum to one
	Means   *mat.Dense // m, k×d
	Vars    []float64  // v, k
	Prior   FixedVariance
}

// Step returns the posterior after one round of updates, and the bound ELBO of
// the receiver, with the q(z) that is best for it.
//
//	r_ik ∝ π_k exp(−(‖x_i − m_k‖² + d·v_k)/(2σ²))
//	v_k  = 1/(1/σ₀² + N_k/σ²),   m_k = v_k (m_0/σ₀² + Σ_i r_ik x_i/σ²)
//	ELBO = Σ_i ln Σ_k π_k (2πσ²)^{−d/2} exp(…) − Σ_k KL(q(μ_k)‖p(μ_k))
//
// The bound never falls. The notes print m_k = Σ r x/(Σ r + σ²) and
// v_k = σ²σ₀²/(Σ r + σ²), which is right for σ₀² = 1 only, and the average
// over q(μ) adds d·v_k to the squared distance.
//
// A posterior that its methods refuse, x of another width, and data that is
// not finite are an error. Cost: O(n·k·d).
func (m *VBMeans) Step(x mat.Matrix) (*VBMeans, float64, error) {
	const op = "clustering.VBMeans.Step"
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return nil, math.NaN(), err
	}
	return m.step(newEM(op, data))
}

func (m *VBMeans) step(e *em) (*VBMeans, float64, error) {
	gs, err := m.prepare(e.op)
	if err != nil {
		return nil, math.NaN(), err
	}
	if _, d := m.Means.Dims(); e.data.D != d {
		return nil, math.NaN(), &lvm.ShapeError{Op: e.op, What: "columns of x", Got: e.data.D, Want: d}
	}
	s, bound := e.sweep(gs, Spherical, m.Means)
	bound -= m.divergence()
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return nil, bound, &lvm.DataError{Op: e.op, Row: -1, Col: -1, Problem: "the bound overflows", Try: "a prior nearer to the data or with larger variances"}
	}
	return m.Prior.posterior(m.Weights, s), bound, nil
}

// posterior returns q(μ) given the sums of the responsibilities.
func (p FixedVariance) posterior(weights []float64, s *moments) *VBMeans {
	m := &VBMeans{Weights: slices.Clone(weights), Means: s.means(), Vars: make([]float64, s.k), Prior: p}
	for c, n := range s.weight {
		m.Vars[c] = p.PriorVariance / (1 + n*p.PriorVariance/p.Variance)
		pull := n * m.Vars[c] / p.Variance // of x̄_k; the rest is that of m_0
		row := m.Means.RawRowView(c)
		for j := range row {
			row[j] = p.Mean[j] + pull*(row[j]-p.Mean[j])
		}
	}
	return m
}

// divergence returns Σ_k KL(q(μ_k)‖p(μ_k)).
func (m *VBMeans) divergence() (kl float64) {
	_, d := m.Means.Dims()
	for c, v := range m.Vars {
		r := v / m.Prior.PriorVariance
		kl += 0.5 * (float64(d)*(r-1-math.Log(r)) + num.SqDist(m.Means.RawRowView(c), m.Prior.Mean)/m.Prior.PriorVariance)
	}
	return kl
}

// Posterior returns the responsibilities r_ik = q(z_i = k), n×k. Each row sums to
// one. A row with a NaN or an infinity gets NaN.
func (m *VBMeans) Posterior(x mat.Matrix) *mat.Dense {
	const op = "clustering: VBMeans.Posterior"
	return posteriorOf(op, m.mustPrepare(op), x)
}

// Assign returns the most probable cluster of every row, the lowest among
// equals. A row with a NaN or an infinity gets −1.
func (m *VBMeans) Assign(x mat.Matrix) []int {
	const op = "clustering: VBMeans.Assign"
	return assignOf(op, m.mustPrepare(op), x)
}

// Predictive returns the density of the next row, the means integrated out
// under q: Σ_k π_k N(x | m_k, (σ²+v_k) I).
func (m *VBMeans) Predictive() *GMM {
	m.mustPrepare("clustering: VBMeans.Predictive")
	_, d := m.Means.Dims()
	g := &GMM{Weights: slices.Clone(m.Weights), Means: mat.DenseCopyOf(m.Means), Shape: Spherical}
	for _, v := range m.Vars {
		cov := mat.NewSymDense(d, nil)
		for j := range d {
			cov.SetSym(j, j, m.Prior.Variance+v)
		}
		g.Covs = append(g.Covs, cov)
	}
	return g
}

// LogProb returns ln p(x) of one row under Predictive, NaN if it has a NaN.
func (m *VBMeans) LogProb(x []float64) float64 { return m.Predictive().LogProb(x) }

func (m *VBMeans) mustPrepare(op string) []gaussian {
	gs, err := m.prepare(op)
	if err != nil {
		panic(err)
	}
	return gs
}

// prepare checks m and returns E_q[ln π_k N(x | μ_k, σ²I)] as Gaussians, whose
// biases hold what the average over q adds.
func (m *VBMeans) prepare(op string) ([]gaussian, error) {
	if m.Means == nil || m.Means.IsEmpty() {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "there are no clusters", Try: "giving Weights, Means, Vars and Prior, or FitVBMeans"}
	}
	k, d := m.Means.Dims()
	if err := m.Prior.check(op, d); err != nil {
		return nil, err
	}
	cov := mat.NewSymDense(d, nil)
	for j := range d {
		cov.SetSym(j, j, m.Prior.Variance)
	}
	plain := &GMM{Weights: m.Weights, Means: m.Means, Shape: Spherical}
	for range k {
		plain.Covs = append(plain.Covs, cov)
	}
	gs, err := plain.densities(op)
	if err != nil {
		return nil, err
	}
	if len(m.Vars) != k {
		return nil, &lvm.ShapeError{Op: op, What: "numbers in Vars", Got: len(m.Vars), Want: k}
	}
	for c, v := range m.Vars {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, &lvm.DegenerateError{Op: op, Component: c, Problem: fmt.Sprintf("has the variance %v", v), Try: "positive numbers"}
		}
		gs[c].bias -= 0.5 * float64(d) * v / m.Prior.Variance
	}
	return gs, nil
}

// VBMeansOptions are the settings of FitVBMeans. The zero value and nil mean
// the defaults.
type VBMeansOptions struct {
	// Defaults: MaxIter 1000, Tol 1e-9, Restarts 4.
	lvm.Options

	// Weights are the known weights π, k of them. nil: all equal.
	Weights []float64

	// From says where each restart starts. Default: FromKMeans.
	From VBStart

	// Start is a given start with k clusters. There is then a single run, and
	// its Weights and Prior replace those given. nil: none given.
	Start *VBMeans
}

// FitVBMeans returns the variational posterior of the means of k clusters with
// the largest bound among the restarts, by VBMeans.Step, repeated. The objective
// in the trace is the bound, ELBO ≤ ln p(x); it never falls.
//
// It panics if rng is nil, unless a start is given. k < 1, data with a NaN, an
// infinity or a value beyond ±1e140, with fewer than k distinct rows or a column
// that is constant, and variances that are not positive, are a *lvm.DataError; a
// prior, Start or weights of another shape are a *lvm.ShapeError.
//
// Source: as [VBMeans].
func FitVBMeans(rng *rand.Rand, x mat.Matrix, k int, prior FixedVariance, opts *VBMeansOptions) (*VBMeans, lvm.Trace, error) {
	const op = "clustering.FitVBMeans"
	if opts == nil {
		opts = &VBMeansOptions{}
	}
	checkFit("FitVBMeans", rng, opts.From, opts.Start != nil)
	data, cols, err := vbData(op, x, nil, k)
	if err != nil {
		return nil, lvm.Trace{}, err
	}
	if err := prior.check(op, data.D); err != nil && opts.Start == nil {
		return nil, lvm.Trace{}, err
	}
	prior.Mean = slices.Clone(prior.Mean)
	weights := opts.Weights
	if weights == nil {
		weights = slices.Repeat([]float64{1 / float64(k)}, k)
	}

	settings := opts.Options.Or(lvm.Options{MaxIter: 1000, Tol: 1e-9, Restarts: 4})
	start := func(rng *rand.Rand) (*VBMeans, error) {
		s, err := opts.From.moments(op, rng, data, cols, k, Spherical)
		if err != nil {
			return nil, err
		}
		return prior.posterior(weights, s), nil
	}
	if given := opts.Start; given != nil {
		if got := len(given.Vars); got != k {
			return nil, lvm.Trace{}, &lvm.ShapeError{Op: op, What: "clusters of Start", Got: got, Want: k}
		}
		settings.Restarts = 1
		start = func(*rand.Rand) (*VBMeans, error) { return given, nil }
		rng = rand.New(rand.NewPCG(0, 0)) // for the loop to split; nothing draws from it
	}
	best, trace, err := climb.Fit(rng, settings, climb.Problem[climbing[*VBMeans]]{
		Op: op,
		Start: func(rng *rand.Rand) (climbing[*VBMeans], error) {
			m, err := start(rng)
			return climbing[*VBMeans]{m, newEM(op, data)}, err
		},
		Step: func(c climbing[*VBMeans]) (climbing[*VBMeans], float64, error) {
			next, bound, err := c.model.step(c.em)
			return climbing[*VBMeans]{next, c.em}, bound, err
		},
	})
	if err != nil {
		return nil, trace, err
	}
	return best.model, trace, nil
}
