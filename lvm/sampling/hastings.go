package sampling

import (
	"math"
	"math/rand/v2"
	"slices"
)

// MetropolisHastings proposes by a rule of the caller's over states of any
// type and accepts with the probability that makes p̃ invariant,
//
//	s* ~ q(·|s),  accepted with probability min{1, p̃(s*) q(s|s*) / (p̃(s) q(s*|s))}
//
// What a log density may return is as for [Metropolis].
//
// Cost per step: one proposal and one log density, or two log densities for
// states other than []float64, []int and int, which it cannot compare.
//
// Hastings 1970; notes 000, (5.25) and Algorithm 5, which stores the start
// and loses the last state; notes 002, (11.18).
type MetropolisHastings[S any] struct {
	// LogDensity returns log p̃(s), up to a constant.
	LogDensity func(s S) float64

	// Propose draws s* and returns it with log q(s|s*) − log q(s*|s), which is
	// 0 for a symmetric proposal. It must leave s as it is, and keep off
	// the storage of the last state that it returned.
	Propose func(rng *rand.Rand, s S) (proposal S, logRatio float64)

	memo stateMemo[S]
}

// Step proposes one move from s.
func (m *MetropolisHastings[S]) Step(rng *rand.Rand, s S) (S, Info) {
	ls, evals := m.memo.at(m.LogDensity, s)
	if x := vector(s); ls-ls != 0 {
		return s, Info{LogDensity: ls, Evaluations: evals, Err: checkDensity("sampling.MetropolisHastings", x, ls)}
	}
	proposal, logRatio := m.Propose(rng, s)
	next, info := hastings("sampling.MetropolisHastings", rng, &m.memo, s, proposal, ls, m.LogDensity(proposal), logRatio)
	info.Evaluations = evals + 1
	return next, info
}

// Independence proposes states from one distribution q, wherever the chain
// is: Metropolis–Hastings with q(s*|s) = q(s*). Where p̃/q is large the chain
// gets stuck, so q needs the heavier tails; with p̃/q ≤ k the chain forgets
// its start at the rate 1 − ∫p̃/k per step (Mengersen & Tweedie 1996).
//
// Cost per step: one draw and one density of each kind; two for states that
// [MetropolisHastings] cannot compare.
type Independence[S any] struct {
	// LogDensity returns log p̃(s), up to a constant.
	LogDensity func(s S) float64

	// Draw draws from q.
	Draw func(rng *rand.Rand) S

	// LogProposal returns log q(s), up to a constant.
	LogProposal func(s S) float64

	memo stateMemo[S]
}

// Step proposes one move from s.
func (m *Independence[S]) Step(rng *rand.Rand, s S) (S, Info) {
	ls, evals := m.memo.at(m.LogDensity, s)
	if x := vector(s); ls-ls != 0 {
		return s, Info{LogDensity: ls, Evaluations: evals, Err: checkDensity("sampling.Independence", x, ls)}
	}
	proposal := m.Draw(rng)
	logRatio := m.LogProposal(s) - m.LogProposal(proposal)
	next, info := hastings("sampling.Independence", rng, &m.memo, s, proposal, ls, m.LogDensity(proposal), logRatio)
	info.Evaluations = evals + 1
	return next, info
}

// hastings accepts the proposal or stays.
func hastings[S any](op string, rng *rand.Rand, memo *stateMemo[S], s, proposal S, ls, lp, logRatio float64) (S, Info) {
	info := Info{LogDensity: ls, Proposal: vector(proposal)}
	if math.IsInf(lp, 1) {
		info.Err = checkDensity(op, vector(proposal), lp)
		return s, info
	}
	info.Acceptance, info.Invalid = acceptance(lp - ls + logRatio)
	if info.Acceptance == 1 || rng.Float64() < info.Acceptance {
		memo.set(proposal, lp)
		info.LogDensity, info.Accepted = lp, true
		return proposal, info
	}
	return s, info
}

// vector returns s if it is a vector and nil otherwise.
func vector[S any](s S) []float64 {
	x, _ := any(s).([]float64)
	return x
}

// stateMemo is a memo for states of any type; it remembers those that it can
// compare.
type stateMemo[S any] struct {
	s     S
	logp  float64
	known bool
}

func (m *stateMemo[S]) at(logDensity func(S) float64, s S) (float64, int) {
	if m.known && equal(m.s, s) {
		return m.logp, 0
	}
	logp := logDensity(s)
	m.set(s, logp)
	return logp, 1
}

func (m *stateMemo[S]) set(s S, logp float64) {
	m.logp, m.known = logp, true
	switch v := any(s).(type) {
	case []float64:
		m.s = any(append(any(m.s).([]float64)[:0], v...)).(S)
	case []int:
		m.s = any(append(any(m.s).([]int)[:0], v...)).(S)
	case int:
		m.s = s
	default:
		m.known = false
	}
}

func equal[S any](a, b S) bool {
	switch v := any(a).(type) {
	case []float64:
		return slices.Equal(v, any(b).([]float64))
	case []int:
		return slices.Equal(v, any(b).([]int))
	case int:
		return v == any(b).(int)
	}
	return false
}
