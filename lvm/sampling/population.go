package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// MixtureProposal is a mixture of Gaussian or Student t distributions that
// adapts to a target by its own weighted draws,
//
//	q(x) = Σ_k α_k t_ν(x | μ_k, Σ_k)
//
// With one component a Step matches moments: the cross-entropy method. The
// fields must not change once it has been used.
//
// Cappé et al. 2008; Rubinstein & Kroese 2004.
type MixtureProposal struct {
	Weights []float64       // α, k
	Means   *mat.Dense      // μ, k×d
	Covs    []*mat.SymDense // Σ, k of d×d; for t, the covariance is ν/(ν−2) of it

	// DoF is ν. 0 means the Gaussian. A few degrees of freedom keep the
	// weights of a target with Gaussian tails bounded.
	DoF float64

	lower   [][]float64 // Cholesky factors by rows
	logNorm []float64   // log α_k and the constant of the density
	choose  *Alias
}

// PopulationOptions are the settings of [PopulationMonteCarlo].
type PopulationOptions struct {
	Draws  int // per round; 0 means 1000
	Rounds int // the last one only samples; 0 means 10
}

// PopulationMonteCarlo adapts a proposal to the density with logarithm
// logDensity, up to a constant, and returns it with draws from it, weighted.
// perplexity holds that of each round; it should rise towards 1.
//
// What the first proposals do not reach, none of the later ones will.
func PopulationMonteCarlo(rng *rand.Rand, logDensity func(x []float64) float64, start *MixtureProposal, opts *PopulationOptions) (final *MixtureProposal, draws *Weighted[[]float64], perplexity []float64, err error) {
	checkRand("PopulationMonteCarlo", rng)
	var o PopulationOptions
	if opts != nil {
		o = *opts
	}
	if o.Draws == 0 {
		o.Draws = 1000
	}
	if o.Rounds == 0 {
		o.Rounds = 10
	}
	if o.Draws < 1 || o.Rounds < 1 {
		panic(fmt.Sprintf("sampling: PopulationMonteCarlo with %d draws in %d rounds", o.Draws, o.Rounds))
	}
	q := start
	for round := 1; ; round++ {
		next, w, err := q.Step(rng, logDensity, o.Draws)
		if w != nil {
			perplexity = append(perplexity, w.Perplexity())
		}
		if err != nil {
			return q, w, perplexity, fmt.Errorf("round %d: %w", round, err)
		}
		if round == o.Rounds {
			return q, w, perplexity, nil
		}
		q = next
	}
}

// Step draws n times from q, weights the draws by the target, and returns
// them with the proposal that they suggest: the one that maximises the
// weighted likelihood Σ_i s_i log q(x_i) by one step of expectation
// maximisation, so that E[log q] under the target rises. It leaves q as it is.
//
// Where few draws carry the weight, a power of the weights below 1 is used to
// adapt, which moves towards the target more slowly; a component with hardly
// any draws to its name keeps its place and loses weight.
//
// Errors are those of [Importance.Sample]; and a *lvm.DegenerateError for a
// covariance that is not positive definite.
func (q *MixtureProposal) Step(rng *rand.Rand, logDensity func(x []float64) float64, n int) (next *MixtureProposal, draws *Weighted[[]float64], err error) {
	if err := q.init(); err != nil {
		return nil, nil, err
	}
	im := &Importance[[]float64]{LogDensity: logDensity, Draw: q.Draw, LogProposal: q.LogProb}
	if draws, err = im.Sample(rng, n); err != nil {
		return nil, nil, err
	}
	next = q.fit(draws)
	return next, draws, next.init()
}

// fit returns the proposal that weighted draws suggest.
func (q *MixtureProposal) fit(w *Weighted[[]float64]) *MixtureProposal {
	k, d := q.Means.Dims()
	weights := tempered(w.LogWeights, min(float64(len(w.Draws))/2, float64(10*k*(d+2))))

	// resp[c][i] is s_i times the probability that component c drew x_i, and
	// pull[c][i] that times the weight of x_i in the moments of a t.
	resp, pull := make([][]float64, k), make([][]float64, k)
	for c := range k {
		resp[c], pull[c] = make([]float64, len(weights)), make([]float64, len(weights))
	}
	logs, distance := make([]float64, k), make([]float64, k)
	for i, x := range w.Draws {
		q.components(x, logs, distance)
		total := num.LogSumExp(logs)
		for c, l := range logs {
			resp[c][i] = weights[i] * math.Exp(l-total)
			pull[c][i] = resp[c][i]
			if q.DoF > 0 {
				pull[c][i] *= (q.DoF + float64(d)) / (q.DoF + distance[c])
			}
		}
	}

	next := &MixtureProposal{Weights: make([]float64, k), Means: mat.DenseCopyOf(q.Means), Covs: slices.Clone(q.Covs), DoF: q.DoF}
	for c := range k {
		var mass, squares float64
		for _, r := range resp[c] {
			mass += r
			squares += r * r
		}
		next.Weights[c] = mass
		if !(mass*mass >= float64(2*(d+1))*squares) || mass == 0 {
			continue // too few draws for a covariance
		}
		next.Covs[c] = weightedMoments(w.Draws, pull[c], mass, next.Means.RawRowView(c))
	}
	return next
}

// weightedMoments sets mean to the mean of x with weights pull, and returns their
// second moments about it divided by mass.
func weightedMoments(x [][]float64, pull []float64, mass float64, mean []float64) *mat.SymDense {
	d := len(mean)
	var sum float64
	for j := range mean {
		mean[j] = 0
	}
	for i, p := range pull {
		sum += p
		for j, v := range x[i] {
			mean[j] += p * v
		}
	}
	for j := range mean {
		mean[j] /= sum
	}
	cov := make([]float64, d*d)
	for i, p := range pull {
		for a := range d {
			da := p * (x[i][a] - mean[a]) / mass
			for b := a; b < d; b++ {
				cov[a*d+b] += da * (x[i][b] - mean[b])
			}
		}
	}
	return mat.NewSymDense(d, cov)
}

// tempered returns the normalised weights to the largest power up to 1 that
// leaves an effective sample size of at least least.
func tempered(logWeights []float64, least float64) []float64 {
	at := func(power float64) []float64 {
		scaled := make([]float64, len(logWeights))
		for i, l := range logWeights {
			scaled[i] = math.Inf(-1)
			if !math.IsInf(l, -1) {
				scaled[i] = power * l
			}
		}
		return normalise(scaled)
	}
	weights := at(1)
	if ess(weights) >= least {
		return weights
	}
	lo, hi := 0.0, 1.0
	for range 50 {
		if mid := (lo + hi) / 2; ess(at(mid)) >= least {
			lo = mid
		} else {
			hi = mid
		}
	}
	return at(lo)
}

// Draw draws from q. It panics if the proposal is malformed, which Step
// reports as an error.
func (q *MixtureProposal) Draw(rng *rand.Rand) []float64 {
	q.must()
	c := q.choose.Draw(rng)
	mean := q.Means.RawRowView(c)
	d := len(mean)
	z, x := make([]float64, d), make([]float64, d)
	gaussianStep(rng, x, mean, z, 1, q.lower[c])
	if q.DoF > 0 {
		stretch := math.Sqrt(q.DoF / distuv.ChiSquared{K: q.DoF, Src: rng}.Rand())
		for j := range x {
			x[j] = mean[j] + stretch*(x[j]-mean[j])
		}
	}
	return x
}

// LogProb returns log q(x).
func (q *MixtureProposal) LogProb(x []float64) float64 {
	q.must()
	logs, distance := make([]float64, len(q.lower)), make([]float64, len(q.lower))
	q.components(x, logs, distance)
	return num.LogSumExp(logs)
}

// components sets logs to log α_k q_k(x) and distance to the squared
// Mahalanobis distances.
func (q *MixtureProposal) components(x, logs, distance []float64) {
	d := q.Means.RawMatrix().Cols
	if len(x) != d {
		panic(fmt.Sprintf("sampling: a MixtureProposal in %d dimensions at a point in %d", d, len(x)))
	}
	z := make([]float64, d)
	for c, lower := range q.lower {
		mean := q.Means.RawRowView(c)
		distance[c] = 0
		for i := range z {
			v := x[i] - mean[i]
			for j, l := range lower[i*d : i*d+i] {
				v -= l * z[j]
			}
			z[i] = v / lower[i*d+i]
			distance[c] += z[i] * z[i]
		}
		logs[c] = q.logNorm[c] - distance[c]/2
		if nu := q.DoF; nu > 0 {
			logs[c] = q.logNorm[c] - (nu+float64(d))/2*math.Log1p(distance[c]/nu)
		}
	}
}

func (q *MixtureProposal) must() {
	if err := q.init(); err != nil {
		panic("sampling: " + err.Error())
	}
}

// init checks the proposal and factors its covariances.
func (q *MixtureProposal) init() error {
	const op = "sampling.MixtureProposal"
	if q.lower != nil {
		return nil
	}
	if q.Means == nil || !(q.DoF >= 0) {
		panic(fmt.Sprintf("sampling: MixtureProposal with Means %v and %v degrees of freedom", q.Means, q.DoF))
	}
	k, d := q.Means.Dims()
	if len(q.Weights) != k {
		return &lvm.ShapeError{Op: op, What: "Weights", Got: len(q.Weights), Want: k}
	}
	if len(q.Covs) != k {
		return &lvm.ShapeError{Op: op, What: "Covs", Got: len(q.Covs), Want: k}
	}
	choose, err := NewAlias(q.Weights)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	var sum float64
	for _, w := range q.Weights {
		sum += w
	}
	constant := -float64(d) / 2 * math.Log(2*math.Pi)
	if nu := q.DoF; nu > 0 {
		a, _ := math.Lgamma((nu + float64(d)) / 2)
		b, _ := math.Lgamma(nu / 2)
		constant = a - b - float64(d)/2*math.Log(nu*math.Pi)
	}
	lower, logNorm := make([][]float64, k), make([]float64, k)
	for c, cov := range q.Covs {
		if lower[c], err = lowerFactor(op, cov, d); err != nil {
			if _, ok := err.(*lvm.DataError); ok {
				err = &lvm.DegenerateError{Op: op, Component: c, Problem: "has a covariance that is not positive definite", Try: "more draws per round, or fewer components"}
			}
			return err
		}
		logNorm[c] = math.Log(q.Weights[c]/sum) + constant
		for i := range d {
			logNorm[c] -= math.Log(lower[c][i*d+i])
		}
	}
	q.lower, q.logNorm, q.choose = lower, logNorm, choose
	return nil
}
