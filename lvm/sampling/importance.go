package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Importance draws from one distribution, q, and weights the draws so that
// they stand for another, p = p̃/Z,
//
//	s_i ~ q,  w_i = p̃(s_i)/q(s_i)
//
// Every draw is kept. q must have mass wherever p has, and tails no lighter:
// where w has no bound, few draws may carry all the weight, or none of those
// that would has been drawn yet. See [Weighted.ESS] and [Weighted.Smooth].
//
// Notes 000, §5.3; notes 002, (11.11), which needs both densities normalised.
type Importance[S any] struct {
	// LogDensity returns log p̃(s), up to a constant.
	LogDensity func(s S) float64

	// Draw draws from q.
	Draw func(rng *rand.Rand) S

	// LogProposal returns log q(s). Up to a constant is enough, except for
	// LogZ and ExpectPlain.
	LogProposal func(s S) float64
}

// Sample draws n weighted states. A log density of NaN or +Inf, and a
// proposal without density where it was drawn, give a *DensityError; weights
// that are all zero a *lvm.DataError.
//
// Cost: n draws and densities of either kind.
func (im *Importance[S]) Sample(rng *rand.Rand, n int) (*Weighted[S], error) {
	const op = "sampling.Importance"
	checkRand("Importance.Sample", rng)
	checkCount("Importance.Sample", n)
	w := &Weighted[S]{Draws: make([]S, n), LogWeights: make([]float64, n)}
	for i := range n {
		s := Copy(im.Draw(rng))
		logW, err := logWeight(op, s, im.LogDensity(s), im.LogProposal(s))
		if err != nil {
			return nil, err
		}
		w.Draws[i], w.LogWeights[i] = s, logW
	}
	if err := someWeight(op, w.LogWeights); err != nil {
		return nil, err
	}
	return w, nil
}

func logWeight[S any](op string, s S, logP, logQ float64) (float64, error) {
	if math.IsNaN(logP) || math.IsInf(logP, 1) {
		return 0, densityError(op, point(s), logP)
	}
	if logQ-logQ != 0 {
		return 0, &DensityError{Op: op + " with a proposal", At: point(s), Value: logQ, Try: "a LogProposal that belongs to Draw"}
	}
	return logP - logQ, nil
}

func someWeight(op string, logWeights []float64) error {
	for _, l := range logWeights {
		if !math.IsInf(l, -1) {
			return nil
		}
	}
	return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the target has no mass at any of %d draws", len(logWeights)), Try: "a proposal that reaches its support, or more draws"}
}

// OptimalProposal returns log |f(s)| p̃(s), the log density up to a constant
// of the proposal under which the plain estimate of E[f] has the least
// variance: none at all if f has one sign. For the self-normalised estimate
// take f − E[f] for f.
//
// Notes 000, (5.21).
func OptimalProposal[S any](logDensity, f func(s S) float64) func(s S) float64 {
	return func(s S) float64 { return logDensity(s) + math.Log(math.Abs(f(s))) }
}

// Weighted holds draws of one distribution with weights that make them stand
// for another. Weights are kept as logarithms and may have any common factor.
type Weighted[S any] struct {
	Draws      []S
	LogWeights []float64 // log w
}

// Weights returns the normalised weights w_i/Σ_j w_j.
func (w *Weighted[S]) Weights() []float64 { return normalise(w.LogWeights) }

func normalise(logWeights []float64) []float64 {
	logSum := num.LogSumExp(logWeights)
	weights := make([]float64, len(logWeights))
	for i, l := range logWeights {
		weights[i] = math.Exp(l - logSum)
	}
	return weights
}

// ESS returns the effective sample size 1/Σ_i s_i² of the normalised weights
// s: from 1, where one draw carries all, to their number, where all carry the
// same. It knows of no weights but those drawn.
func (w *Weighted[S]) ESS() float64 { return ess(w.Weights()) }

func ess(weights []float64) float64 {
	var sum float64
	for _, s := range weights {
		sum += s * s
	}
	return 1 / sum
}

// Perplexity returns exp(−Σ_i s_i log s_i)/N of the normalised weights s, which
// is 1 for equal weights and falls with the Kullback–Leibler divergence of
// q from p (Cappé et al. 2008).
func (w *Weighted[S]) Perplexity() float64 {
	var entropy float64
	for _, s := range w.Weights() {
		if s > 0 {
			entropy -= s * math.Log(s)
		}
	}
	return math.Exp(entropy) / float64(len(w.LogWeights))
}

// LogZ estimates the logarithm of the mean weight: log ∫ p̃ if LogProposal
// is normalised, and in any case log C/M of (5.17) in notes 000. Its standard
// error is that of the mean weight in relation to it.
func (w *Weighted[S]) LogZ() Estimate {
	n := float64(len(w.LogWeights))
	return Estimate{
		Value:  num.LogSumExp(w.LogWeights) - math.Log(n),
		StdErr: math.Sqrt(max(n/w.ESS()-1, 0) / (n - 1)),
	}
}

// Expect estimates E[f] under p by self-normalised weights,
//
//	E[f] ≈ Σ_i s_i f(x_i),  s_i = w_i/Σ_j w_j
//
// with the standard error √Σ_i s_i² (f(x_i) − E[f])². It is biased by O(1/N)
// and works for unnormalised densities. f is not called where the weight is
// zero; a value that is not finite gives a *lvm.DataError.
//
// Notes 000, (5.20), with Σ_j inside s.
func (w *Weighted[S]) Expect(f func(s S) float64) (Estimate, error) {
	values, weights, err := w.values("sampling.Weighted.Expect", f)
	if err != nil {
		return Estimate{}, err
	}
	var mean, variance float64
	for i, s := range weights {
		mean += s * values[i]
	}
	for i, s := range weights {
		variance += s * s * (values[i] - mean) * (values[i] - mean)
	}
	return Estimate{mean, math.Sqrt(variance)}, nil
}

// ExpectPlain estimates E[f] under p by plain weights,
//
//	E[f] ≈ (1/N) Σ_i w_i f(x_i)
//
// which is unbiased, and right only if both densities are normalised. With
// p̃ = Z p it estimates Z·E[f].
//
// Notes 000, (5.14)–(5.15); notes 002, (11.11).
func (w *Weighted[S]) ExpectPlain(f func(s S) float64) (Estimate, error) {
	values, weights, err := w.values("sampling.Weighted.ExpectPlain", f)
	if err != nil {
		return Estimate{}, err
	}
	// w_i = N Z s_i with the mean weight Z.
	n, z := float64(len(weights)), math.Exp(w.LogZ().Value)
	var mean, variance float64
	for i, s := range weights {
		mean += s * values[i]
	}
	for i, s := range weights {
		d := n*s*values[i] - mean
		variance += d * d
	}
	return Estimate{z * mean, z * math.Sqrt(variance/(n-1)/n)}, nil
}

// values returns f of every draw with weight, and the weights.
func (w *Weighted[S]) values(op string, f func(s S) float64) (values, weights []float64, err error) {
	if len(w.Draws) != len(w.LogWeights) {
		panic(fmt.Sprintf("sampling: %d draws with %d weights", len(w.Draws), len(w.LogWeights)))
	}
	if err := someWeight(op, w.LogWeights); err != nil {
		return nil, nil, err
	}
	values, weights = make([]float64, len(w.Draws)), w.Weights()
	for i, s := range w.Draws {
		if weights[i] == 0 {
			continue
		}
		if values[i] = f(s); values[i]-values[i] != 0 {
			return nil, nil, &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the function is %v", values[i]), Try: "a function that is finite wherever there is mass"}
		}
	}
	return values, weights, nil
}
