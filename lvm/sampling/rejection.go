package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Rejection draws independent states from p̃/Z by keeping some of the draws
// of another distribution q,
//
//	s ~ q, u ~ U(0, 1),  accepted if u k q(s) ≤ p̃(s),  with k q(s) ≥ p̃(s) everywhere
//
// Accepted with probability Z/k (for normalised q), so the best k is the
// smallest, sup p̃/q: more only wastes proposals, less draws from
// min(p̃, k q) instead. With q = N(0, σ_q²I) for p = N(0, σ_p²I) it is
// (σ_p/σ_q)^d: in many dimensions nothing is accepted.
//
// A k too small is found out by the proposals that lie above the envelope and
// reported by an [EnvelopeError]; one that is too small only where q hardly
// ever draws is not found out.
//
// Cost per proposal: a draw from q and both densities.
//
// Notes 000, (5.12)–(5.13) and Algorithm 4, which stops one short of N; notes
// 002, §11.3, where k q(x) ≤ p̃(x) must be k q(x) ≥ p̃(x).
type Rejection[S any] struct {
	// LogDensity returns log p̃(s), up to a constant.
	LogDensity func(s S) float64

	// Draw draws from q.
	Draw func(rng *rand.Rand) S

	// LogProposal returns log q(s). If it lacks its constant, k is that much
	// larger.
	LogProposal func(s S) float64

	LogK float64 // log k

	// MaxTries is how many proposals in a row may be rejected before Sample
	// gives up. 0 means a million.
	MaxTries int
}

// Trial is one proposal of a [Rejection]: a point under the envelope.
type Trial[S any] struct {
	State     S
	LogHeight float64 // log u k q(s), the height of the point
	LogRatio  float64 // log p̃(s) − log q(s), at most log k for an envelope
	Accepted  bool    // the point is under p̃ too
}

// RejectionSample is what [Rejection.Sample] drew.
type RejectionSample[S any] struct {
	Draws       []S
	Proposals   int
	LogK        float64
	MaxLogRatio float64 // largest log p̃ − log q seen: the least log k for these
	Violations  int     // proposals where p̃ was above the envelope
}

// EnvelopeError reports a k that is too small.
type EnvelopeError struct {
	Op          string
	At          []float64 // where p̃/q was largest; nil if the state is no vector
	LogRatio    float64   // log p̃ − log q there
	LogK        float64
	Violations  int // proposals above the envelope
	Proposals   int // out of these
	Unavoidable bool
}

// Error says where p̃ is above the envelope, and what to try.
func (e *EnvelopeError) Error() string {
	at := ""
	if e.At != nil {
		at = fmt.Sprintf(" at %.6g", e.At[:min(len(e.At), 8)])
	}
	if e.Unavoidable {
		return fmt.Sprintf("%s: log p̃ − log q is %.6g%s and still grows; try a proposal with heavier tails", e.Op, e.LogRatio, at)
	}
	return fmt.Sprintf("%s: log k = %.6g is too small: log p̃ − log q is %.6g%s, and p̃ is above k q at %d of %d proposals, so the draws follow min(p̃, k q); try log k of at least %.6g, or a proposal with heavier tails",
		e.Op, e.LogK, e.LogRatio, at, e.Violations, e.Proposals, e.LogRatio)
}

// envelopeSlack is how far log p̃ − log q may exceed log k: rounding, whose
// effect on the draws is of the same relative size.
const envelopeSlack = 1e-9

// Propose makes one trial. A log density of NaN or +Inf, and a proposal
// without density where it was drawn, give a *DensityError.
func (r *Rejection[S]) Propose(rng *rand.Rand) (Trial[S], error) {
	const op = "sampling.Rejection"
	s := r.Draw(rng)
	logP, logQ := r.LogDensity(s), r.LogProposal(s)
	if math.IsNaN(logP) || math.IsInf(logP, 1) {
		return Trial[S]{State: s}, densityError(op, point(s), logP)
	}
	if logQ-logQ != 0 {
		return Trial[S]{State: s}, &DensityError{Op: op + " with a proposal", At: point(s), Value: logQ, Try: "a LogProposal that belongs to Draw"}
	}
	logU := math.Log(openUniform(rng))
	return Trial[S]{
		State:     s,
		LogHeight: logU + r.LogK + logQ,
		LogRatio:  logP - logQ,
		Accepted:  logU <= logP-logQ-r.LogK,
	}, nil
}

// Sample draws until n are accepted.
//
// If k turned out too small, the draws come back with an *EnvelopeError that
// tells the k they ask for. If MaxTries proposals in a row were rejected, or
// a density is at fault, the draws so far come back with an *AcceptanceError
// or a *DensityError.
func (r *Rejection[S]) Sample(rng *rand.Rand, n int) (*RejectionSample[S], error) {
	const op = "sampling.Rejection"
	checkRand("Rejection.Sample", rng)
	checkCount("Rejection.Sample", n)
	limit := r.MaxTries
	if limit == 0 {
		limit = 1_000_000
	}
	sample := &RejectionSample[S]{LogK: r.LogK, MaxLogRatio: math.Inf(-1)}
	var highest S
	for rejected := 0; len(sample.Draws) < n; {
		trial, err := r.Propose(rng)
		if err != nil {
			return sample, err
		}
		sample.Proposals++
		if trial.LogRatio > sample.MaxLogRatio {
			sample.MaxLogRatio, highest = trial.LogRatio, Copy(trial.State)
		}
		if trial.LogRatio > r.LogK+envelopeSlack {
			sample.Violations++
		}
		if trial.Accepted {
			sample.Draws = append(sample.Draws, Copy(trial.State))
			rejected = 0
			continue
		}
		if rejected++; rejected >= limit {
			return sample, &AcceptanceError{Op: op, Accepted: len(sample.Draws), Tries: rejected, Try: "a smaller k if the envelope is loose, a proposal closer to the target, or a Markov chain"}
		}
	}
	if sample.Violations > 0 {
		return sample, &EnvelopeError{
			Op: op, At: point(highest), LogRatio: sample.MaxLogRatio, LogK: r.LogK,
			Violations: sample.Violations, Proposals: sample.Proposals,
		}
	}
	return sample, nil
}

// Acceptance returns the share of proposals accepted, an estimate of Z/k.
func (s *RejectionSample[S]) Acceptance() float64 {
	return float64(len(s.Draws)) / float64(s.Proposals)
}

// LogZ estimates log Z = log ∫ p̃ by log k plus the log of the acceptance
// rate. LogProposal must be normalised for that.
func (s *RejectionSample[S]) LogZ() Estimate {
	a := s.Acceptance()
	return Estimate{
		Value:  s.LogK + math.Log(a),
		StdErr: math.Sqrt((1 - a) / (a * float64(s.Proposals))),
	}
}

// LogEnvelope returns the smallest log k of an envelope, the largest
// log p̃ − log q, and where that is, by a search over [lower, upper], either
// of which may be infinite. For what the search can miss see
// [TabulatedOptions].
//
// If p̃/q has no bound because the proposal has the lighter tails, or no mass
// where there is some, the error is an *EnvelopeError with Unavoidable set.
func LogEnvelope(logDensity, logProposal func(x float64) float64, lower, upper float64) (logK, at float64, err error) {
	const op = "sampling.LogEnvelope"
	ratio := func(x float64) float64 {
		p := logDensity(x)
		if math.IsInf(p, -1) {
			return p
		}
		return p - logProposal(x)
	}
	found, err := peaks(op, ratio, lower, upper, nil)
	if err != nil {
		if e, ok := err.(*DensityError); ok && math.IsInf(e.Value, 1) {
			return math.Inf(1), e.At[0], &EnvelopeError{Op: op, At: e.At, LogRatio: e.Value, Unavoidable: true}
		}
		return math.NaN(), math.NaN(), err
	}
	top := highest(found)
	outermost := searchPoints(lower, upper, nil)
	for _, end := range []float64{outermost[0], outermost[len(outermost)-1]} {
		if math.IsInf(upper-lower, 1) && top.x == end && end != lower && end != upper && top.value > ratio(end/2)+envelopeSlack {
			return math.Inf(1), top.x, &EnvelopeError{Op: op, At: []float64{top.x}, LogRatio: top.value, Unavoidable: true}
		}
	}
	return top.value, top.x, nil
}

// point returns a state as a vector if it is one or a number, and nil
// otherwise.
func point[S any](s S) []float64 {
	switch v := any(s).(type) {
	case float64:
		return []float64{v}
	case []float64:
		return slices.Clone(v)
	}
	return nil
}
