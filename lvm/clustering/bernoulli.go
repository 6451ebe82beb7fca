package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// BernoulliMixture is a mixture of k patterns of d switches, each on or off.
//
//	z      ~ Categorical(π_1, …, π_k)
//	x_j|z  ~ Bernoulli(θ_zj), the columns independent given z
//	p(x)   = Σ_k π_k Π_j θ_kj^{x_j} (1 − θ_kj)^{1−x_j}
//
// Rows hold 0 and 1 only. Given z the columns are independent; the mixture as
// a whole has correlations between them.
//
// A probability of 0 or 1 would make a row impossible for ever after, with a
// log-likelihood of −∞. So every θ_kj lies strictly between them, and a fit
// keeps it within [Floor, 1−Floor].
//
// A BernoulliMixture can be written by hand. Its methods check it: the weights
// sum to one within 1e-6 and 0 < θ < 1. Step returns what is wrong as an
// error; the methods without an error result panic with that error, a
// *lvm.DataError, *lvm.ShapeError or *lvm.DegenerateError, and with a
// *lvm.ShapeError if x has another width. Log-likelihoods are sums of log
// probabilities, in nats, and never positive.
//
// Source: Bishop (2006), Pattern Recognition and Machine Learning, §9.3.3;
// latent class analysis of Lazarsfeld and Henry (1968).
type BernoulliMixture struct {
	Weights []float64  // π, k, sum to one
	Probs   *mat.Dense // θ, k×d, the probability of a 1

	// Floor is the smallest probability, of a 1 or of a 0, that Step gives: it
	// chooses among the θ in [Floor, 1−Floor], Floor < ½. 0 means 1e-3.
	Floor float64
}

var bernoulli = &law{
	model: "BernoulliMixture", params: "Probs", floor: 1e-3, most: 0.5,
	wrong: func(x float64) string {
		if x == 0 || x == 1 {
			return ""
		}
		return fmt.Sprintf("the value is %v, neither 0 nor 1", x)
	},
	try:     "1 where a value exceeds a threshold and 0 elsewhere, or FitGMM",
	inside:  func(m float64) bool { return 0 < m && m < 1 },
	inRange: "probabilities between 0 and 1, neither included",
	clamp:   func(m, floor float64) float64 { return min(max(m, floor), 1-max(floor, 0x1p-53)) }, // below one even so
	even:    func(x float64) float64 { return x },
	slope:   func(m float64) float64 { return math.Log(m) - math.Log1p(-m) },
	cost:    func(m float64) float64 { return -math.Log1p(-m) },
	base:    func(float64) float64 { return 0 },
	draw: func(rng *rand.Rand, m float64) float64 {
		if rng.Float64() < m {
			return 1
		}
		return 0
	},
}

func (m *BernoulliMixture) product() product {
	return product{bernoulli, m.Weights, m.Probs, m.Floor}
}

func bernoulliOf(p product) *BernoulliMixture {
	return &BernoulliMixture{p.weights, p.means, p.floor}
}

// BernoulliOptions are the settings of FitBernoulliMixture. The zero value and
// nil mean the defaults.
type BernoulliOptions struct {
	lvm.Options // Defaults: MaxIter 1000, Tol 1e-9, Restarts 4.

	// Floor as in BernoulliMixture; 0 means 1e-3. It is what the fit says
	// about a value that a component has never seen; cross-validation finds a
	// good one.
	Floor float64

	// Start is a given start, k×d. There is then a single run, and its
	// probabilities are moved to within the floor of this fit. nil: none given.
	Start *BernoulliMixture

	// Weights holds a weight w_i ≥ 0 for every row: a row of weight 2 counts
	// as two equal rows, one of weight 0 is not there. nil: all 1.
	Weights []float64
}

// FitBernoulliMixture returns the mixture of k patterns with the largest
// log-likelihood among the restarts, by expectation maximisation:
// BernoulliMixture.Step, repeated. The objective in the trace is the
// log-likelihood; it never falls.
//
// Each restart starts from one run of k-means with k-means++ on at most 20,000
// rows drawn at random, followed by an M step with the labels as responsibilities.
//
// It panics if Floor is not in [0, ½) or, unless a start is given, rng
// is nil. k < 1 is a *lvm.DataError. A value that is neither 0 nor 1 is a *lvm.DataError that says where,
// and so are fewer than k distinct rows and weights that are negative or sum to
// nothing; a Start or weights of another shape are a *lvm.ShapeError.
//
// Cost: that of BernoulliMixture.Step for every iteration.
func FitBernoulliMixture(rng *rand.Rand, x mat.Matrix, k int, opts *BernoulliOptions) (*BernoulliMixture, lvm.Trace, error) {
	if opts == nil {
		opts = &BernoulliOptions{}
	}
	var given *product
	if opts.Start != nil {
		p := opts.Start.product()
		given = &p
	}
	best, trace, err := fitProduct(bernoulli, rng, x, k, opts.Options, opts.Floor, given, opts.Weights)
	if err != nil {
		return nil, trace, err
	}
	return bernoulliOf(best), trace, nil
}

// Step returns the mixture after one step of expectation maximisation, and the
// log-likelihood of the receiver.
//
//	E:  γ_ik = p(z=k | x_i)
//	M:  N_k  = Σ_i γ_ik,   π_k = N_k / n
//	    θ_kj = (1/N_k) Σ_i γ_ik x_ij, or the end of [Floor, 1−Floor] that it is beyond
//
// The clamped θ maximises the expected log-likelihood within the floor, so the
// log-likelihood never falls from a mixture that keeps to it.
//
// A mixture that its methods refuse, x of another width, and a value that is
// neither 0 nor 1 are an error, and so is a component that ends up with less
// than 1e-100 of all rows: a *lvm.DegenerateError.
//
// Cost: O(n·k·d) time, O(n·d) memory at most.
func (m *BernoulliMixture) Step(x mat.Matrix) (*BernoulliMixture, float64, error) {
	return m.StepWeighted(x, nil)
}

// StepWeighted is Step with a weight w_i ≥ 0 for every row: a row of weight 2
// counts as two equal rows, one of weight 0 is not there. nil means ones.
func (m *BernoulliMixture) StepWeighted(x mat.Matrix, w []float64) (*BernoulliMixture, float64, error) {
	e, err := newProductEM("clustering.BernoulliMixture.Step", bernoulli, x, w)
	if err != nil {
		return nil, math.NaN(), err
	}
	next, logLik, err := e.step(m.product())
	if err != nil {
		return nil, logLik, err
	}
	return bernoulliOf(next), logLik, nil
}

// LogProb returns ln p(x) of one row: −Inf if a value is neither 0 nor 1, NaN if
// one is NaN. It takes the logarithms of all θ on every call; LogProbs,
// LogLikelihood and Posterior do so once for all their rows.
func (m *BernoulliMixture) LogProb(x []float64) float64 {
	row := &mat.Dense{}
	if len(x) > 0 {
		row = mat.NewDense(1, len(x), x)
	}
	return m.product().mustPrepare("LogProb", row).logProbs(row)[0]
}

// LogLikelihood returns Σ_i ln p(x_i), larger is better, with rows as LogProb
// sees them. Cost: O(n·k·d).
func (m *BernoulliMixture) LogLikelihood(x mat.Matrix) float64 {
	return floats.Sum(m.product().mustPrepare("LogLikelihood", x).logProbs(x))
}

// LogProbs returns ln p(x_i) of every row, as LogProb does. Cost: O(n·k·d).
func (m *BernoulliMixture) LogProbs(x mat.Matrix) []float64 {
	return m.product().mustPrepare("LogProbs", x).logProbs(x)
}

// Posterior returns the responsibilities, n×k: γ_ik = p(z=k | x_i). A row with a
// value that is neither 0 nor 1 gets NaN.
func (m *BernoulliMixture) Posterior(x mat.Matrix) *mat.Dense {
	return m.product().mustPrepare("Posterior", x).posterior(x)
}

// Assign returns the most probable component of every row, the lowest among
// equals. A row with a value that is neither 0 nor 1 gets −1.
func (m *BernoulliMixture) Assign(x mat.Matrix) []int {
	return m.product().mustPrepare("Assign", x).assign(x)
}

// Sample draws n rows with the components that they came from.
// It panics if rng is nil or n is negative.
func (m *BernoulliMixture) Sample(rng *rand.Rand, n int) (z []int, x *mat.Dense) {
	return m.product().sample(rng, n)
}

// NumParams returns the number of free parameters: k−1 weights and k·d
// probabilities.
func (m *BernoulliMixture) NumParams() int { return m.product().numParams() }

// AIC is as GMM.AIC: smaller is better.
func (m *BernoulliMixture) AIC(x mat.Matrix) float64 { return aic(m, x) }

// BIC is as GMM.BIC: smaller is better.
func (m *BernoulliMixture) BIC(x mat.Matrix) float64 { return bic(m, x) }

// ICL is as GMM.ICL: smaller is better.
func (m *BernoulliMixture) ICL(x mat.Matrix) float64 { return icl(m.BIC(x), m.Posterior(x)) }
