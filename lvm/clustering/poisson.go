package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
)

// PoissonMixture is a mixture of k kinds of rows of counts.
//
//	z      ~ Categorical(π_1, …, π_k)
//	x_j|z  ~ Poisson(λ_zj), the columns independent given z
//	p(x)   = Σ_k π_k Π_j e^{−λ_kj} λ_kj^{x_j} / x_j!
//
// Rows hold whole numbers from 0 to 1e9. Within a component, mean and variance
// of a column are equal; the mixture as a whole varies more than that, which is
// what it is good for: counts that one Poisson distribution cannot explain.
//
// A rate of 0 would make any other count impossible, with a log-likelihood of
// −∞. So every λ_kj is above it, and a fit keeps it at Floor or more.
//
// A PoissonMixture can be written by hand. Its methods check it: the weights
// sum to one within 1e-6 and every λ is positive and finite. Step returns what
// is wrong as an error; the methods without an error result panic with that
// error, a *lvm.DataError, *lvm.ShapeError or *lvm.DegenerateError, and with a
// *lvm.ShapeError if x has another width. Log-likelihoods are sums of log
// probabilities, in nats, and never positive.
//
// Source: McLachlan and Peel (2000), Finite Mixture Models, §1.2 and ch. 5.
type PoissonMixture struct {
	Weights []float64  // π, k, sum to one
	Rates   *mat.Dense // λ, k×d, the expected counts

	// Floor is the smallest rate that Step gives: it chooses among λ ≥ Floor.
	// 0 means 1e-3; counts that are rarer than one in a thousand rows want less.
	Floor float64
}

// mostCount is the largest count: beyond it, products with log rates lose the
// digits that tell components apart, and a Gaussian is as good.
const mostCount = 1e9

var poisson = &law{
	model: "PoissonMixture", params: "Rates", floor: 1e-3, most: math.Inf(1),
	wrong: func(x float64) string {
		switch {
		case x != math.Trunc(x):
			return fmt.Sprintf("the value is %v, not a whole number", x)
		case x < 0:
			return fmt.Sprintf("the value is %v, a negative count", x)
		case x > mostCount:
			return fmt.Sprintf("the value is %v, beyond 1e9", x)
		}
		return ""
	},
	try:     "counts of whole things, or FitGMM",
	inside:  func(m float64) bool { return m > 0 && !math.IsInf(m, 1) },
	inRange: "rates that are positive and finite",
	clamp:   func(m, floor float64) float64 { return max(m, floor) },
	even:    math.Sqrt,
	slope:   math.Log,
	cost:    func(m float64) float64 { return m },
	base:    func(x float64) float64 { return -lgamma(x + 1) },
	draw: func(rng *rand.Rand, m float64) float64 {
		return distuv.Poisson{Lambda: m, Src: rng}.Rand()
	},
}

func (m *PoissonMixture) product() product {
	return product{poisson, m.Weights, m.Rates, m.Floor}
}

func poissonOf(p product) *PoissonMixture {
	return &PoissonMixture{p.weights, p.means, p.floor}
}

// PoissonOptions are the settings of FitPoissonMixture. The zero value and
// nil mean the defaults.
type PoissonOptions struct {
	lvm.Options // Defaults: MaxIter 1000, Tol 1e-9, Restarts 4.

	// Floor as in PoissonMixture; 0 means 1e-3.
	Floor float64

	// Start is a given start, k×d. There is then a single run, and its
	// rates are raised to the floor of this fit. nil: none given.
	Start *PoissonMixture

	// Weights holds a weight w_i ≥ 0 for every row: a row of weight 2 counts
	// as two equal rows, one of weight 0 is not there. nil: all 1.
	Weights []float64
}

// FitPoissonMixture returns the mixture of k components with the largest
// log-likelihood among the restarts, by expectation maximisation:
// PoissonMixture.Step, repeated. The objective in the trace is the
// log-likelihood; it never falls.
//
// Each restart starts from one run of k-means with k-means++ on at most 20,000
// rows drawn at random, of which the square roots are taken so that their
// variances are alike, followed by an M step with the labels as responsibilities.
//
// It panics if Floor is negative or not finite or, unless a start is
// given, rng is nil. k < 1 is a *lvm.DataError. A value that is negative, not a whole number or beyond 1e9
// is a *lvm.DataError that says where, and so are fewer than k distinct rows and
// weights that are negative or sum to nothing; a Start or weights of another shape
// are a *lvm.ShapeError.
//
// Cost: that of PoissonMixture.Step for every iteration.
func FitPoissonMixture(rng *rand.Rand, x mat.Matrix, k int, opts *PoissonOptions) (*PoissonMixture, lvm.Trace, error) {
	if opts == nil {
		opts = &PoissonOptions{}
	}
	var given *product
	if opts.Start != nil {
		p := opts.Start.product()
		given = &p
	}
	best, trace, err := fitProduct(poisson, rng, x, k, opts.Options, opts.Floor, given, opts.Weights)
	if err != nil {
		return nil, trace, err
	}
	return poissonOf(best), trace, nil
}

// Step returns the mixture after one step of expectation maximisation, and the
// log-likelihood of the receiver.
//
//	E:  γ_ik = p(z=k | x_i)
//	M:  N_k  = Σ_i γ_ik,   π_k = N_k / n
//	    λ_kj = (1/N_k) Σ_i γ_ik x_ij, or Floor if that is more
//
// That λ maximises the expected log-likelihood within the floor, so the
// log-likelihood never falls from a mixture that keeps to it.
//
// A mixture that its methods refuse, x of another width, and a value that is
// no count are an error, and so is a component that ends up with less
// than 1e-100 of all rows: a *lvm.DegenerateError.
//
// Cost: O(n·k·d) time, O(n·d) memory at most.
func (m *PoissonMixture) Step(x mat.Matrix) (*PoissonMixture, float64, error) {
	return m.StepWeighted(x, nil)
}

// StepWeighted is Step with a weight w_i ≥ 0 for every row: a row of weight 2
// counts as two equal rows, one of weight 0 is not there. nil means ones.
func (m *PoissonMixture) StepWeighted(x mat.Matrix, w []float64) (*PoissonMixture, float64, error) {
	e, err := newProductEM("clustering.PoissonMixture.Step", poisson, x, w)
	if err != nil {
		return nil, math.NaN(), err
	}
	next, logLik, err := e.step(m.product())
	if err != nil {
		return nil, logLik, err
	}
	return poissonOf(next), logLik, nil
}

// LogProb returns ln p(x) of one row: −Inf if a value is no count, NaN if one
// is NaN. It takes the logarithms of all λ on every call; LogProbs,
// LogLikelihood and Posterior do so once for all their rows.
func (m *PoissonMixture) LogProb(x []float64) float64 {
	row := &mat.Dense{}
	if len(x) > 0 {
		row = mat.NewDense(1, len(x), x)
	}
	return m.product().mustPrepare("LogProb", row).logProbs(row)[0]
}

// LogLikelihood returns Σ_i ln p(x_i), larger is better, with rows as LogProb
// sees them. Cost: O(n·k·d).
func (m *PoissonMixture) LogLikelihood(x mat.Matrix) float64 {
	return floats.Sum(m.product().mustPrepare("LogLikelihood", x).logProbs(x))
}

// LogProbs returns ln p(x_i) of every row, as LogProb does. Cost: O(n·k·d).
func (m *PoissonMixture) LogProbs(x mat.Matrix) []float64 {
	return m.product().mustPrepare("LogProbs", x).logProbs(x)
}

// Posterior returns the responsibilities, n×k: γ_ik = p(z=k | x_i). A row with a
// value that is no count gets NaN.
func (m *PoissonMixture) Posterior(x mat.Matrix) *mat.Dense {
	return m.product().mustPrepare("Posterior", x).posterior(x)
}

// Assign returns the most probable component of every row, the lowest among
// equals. A row with a value that is no count gets −1.
func (m *PoissonMixture) Assign(x mat.Matrix) []int {
	return m.product().mustPrepare("Assign", x).assign(x)
}

// Sample draws n rows with the components that they came from.
// It panics if rng is nil or n is negative.
func (m *PoissonMixture) Sample(rng *rand.Rand, n int) (z []int, x *mat.Dense) {
	return m.product().sample(rng, n)
}

// NumParams returns the number of free parameters: k−1 weights and k·d
// rates.
func (m *PoissonMixture) NumParams() int { return m.product().numParams() }

// AIC is as GMM.AIC: smaller is better.
func (m *PoissonMixture) AIC(x mat.Matrix) float64 { return aic(m, x) }

// BIC is as GMM.BIC: smaller is better.
func (m *PoissonMixture) BIC(x mat.Matrix) float64 { return bic(m, x) }

// ICL is as GMM.ICL: smaller is better.
func (m *PoissonMixture) ICL(x mat.Matrix) float64 { return icl(m.BIC(x), m.Posterior(x)) }
