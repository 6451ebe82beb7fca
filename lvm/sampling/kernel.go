package sampling

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
)

// Kernel is one transition of a Markov chain over states S.
//
// Step draws the next state given s. It leaves s as it is, and apart from
// rng the result depends on s alone, so a chain may be taken up again from
// any of its states. The state returned may be storage of the kernel: it
// stays as it is during the next Step and may be overwritten by the one
// after, so a caller who keeps a state copies it. [Run] does.
//
// Because of that storage a kernel serves one chain at a time; [RunChains]
// makes one for each.
//
// Log densities and the like that kernels are given must be functions of
// their argument too: a kernel remembers the last value instead of computing
// it twice.
//
// A kernel that cannot go on, for instance because the log density is NaN at
// s, returns s with Info.Err set. It never panics on what a log density
// returns and never loops for ever.
type Kernel[S any] interface {
	Step(rng *rand.Rand, s S) (S, Info)
}

// Adaptive is a kernel that tunes itself while the chain burns in.
//
// [Run] and [BurnIn] call Adapt with t = 0, the start and a zero Info before
// the first step, and then after each burn-in step t = 1, …, n with what
// that step returned. At t = n the kernel settles; from then on its
// transition is fixed, as the convergence theorems ask.
type Adaptive[S any] interface {
	Kernel[S]
	Adapt(rng *rand.Rand, t, n int, s S, info Info)
}

// Fixed keeps a kernel from adapting while the chain burns in.
type Fixed[S any] struct{ Kernel[S] }

// Info is what a kernel tells about one step. Fields that mean nothing to a
// kernel stay zero, except for LogDensity, which is NaN then.
type Info struct {
	// LogDensity is log p̃ of the state returned, NaN if the kernel does not
	// compute it.
	LogDensity float64

	// Acceptance is the probability with which the proposal was accepted: the
	// mean over the proposals of a step that made several, the mean over the
	// trajectory for NUTS, 1 for kernels that always move.
	Acceptance float64

	// Accepted says that the state returned is a proposal, not s again.
	Accepted bool

	// Evaluations counts calls of the log density or of its gradient.
	Evaluations int

	// StepSize is the scale of the proposal or of the leapfrog integrator.
	StepSize float64

	// TreeDepth is the number of doublings of a NUTS trajectory.
	TreeDepth int

	// Energy is the Hamiltonian of the state returned, potential and kinetic.
	Energy float64

	// Divergent says that the trajectory left the energy level so far that the
	// integrator cannot be trusted there.
	Divergent bool

	// Invalid says that the log density was NaN at a proposal, which then
	// counted as a point without mass.
	Invalid bool

	// Proposal is the point proposed, taken or not; storage of the kernel.
	// Kernels over other states than []float64, and kernels without a single
	// proposal, leave it nil.
	Proposal []float64

	// Err says why the chain cannot go on; nil if it can.
	Err error
}

// Walk returns the chain that starts at start as an endless sequence of
// states and what the kernel told about them; the start is not part of it.
// The sequence ends after a step with an error. A state is the kernel's
// storage: copy it to keep it.
//
//	for x, info := range sampling.Walk(rng, kernel, start) { … }
//
// Walk does not adapt the kernel; see [BurnIn].
func Walk[S any](rng *rand.Rand, k Kernel[S], start S) iter.Seq2[S, Info] {
	checkRand("Walk", rng)
	return func(yield func(S, Info) bool) {
		var info Info
		for s := start; info.Err == nil; {
			s, info = k.Step(rng, s)
			if !yield(s, info) {
				return
			}
		}
	}
}

// BurnIn takes n steps from start, adapting the kernel if it is [Adaptive],
// and returns a copy of the state it arrives at. Afterwards the kernel is
// settled and ready for [Walk].
func BurnIn[S any](rng *rand.Rand, k Kernel[S], start S, n int) (S, error) {
	checkRand("BurnIn", rng)
	if n < 0 {
		panic(fmt.Sprintf("sampling: BurnIn of %d steps", n))
	}
	s, err := burnIn(rng, k, start, n, &pace{ctx: context.Background()})
	return Copy(s), err
}

func burnIn[S any](rng *rand.Rand, k Kernel[S], start S, n int, pace *pace) (S, error) {
	adaptive, adapts := k.(Adaptive[S])
	s := start
	var info Info
	if adapts && n > 0 {
		adaptive.Adapt(rng, 0, n, s, info)
	}
	for t := 1; t <= n; t++ {
		if err := pace.stop(); err != nil {
			return s, fmt.Errorf("stopped at burn-in step %d of %d: %w", t, n, err)
		}
		s, info = k.Step(rng, s)
		if info.Err != nil {
			return s, fmt.Errorf("burn-in step %d: %w", t, info.Err)
		}
		pace.step()
		if adapts {
			adaptive.Adapt(rng, t, n, s, info)
		}
	}
	return s, nil
}

// Cloner is a state that copies itself.
type Cloner[S any] interface{ Clone() S }

// Copy returns a copy of a state that does not share storage with it: by its
// Clone method if it has one, element by element for slices and for slices
// of slices. Other states are values and returned as they are; a state that
// is a pointer or holds one needs a Clone method, unless its kernel makes a
// fresh one at every step.
func Copy[S any](s S) S {
	var c any
	switch v := any(s).(type) {
	case Cloner[S]:
		return v.Clone()
	case []float64:
		c = slices.Clone(v)
	case []int:
		c = slices.Clone(v)
	case [][]float64:
		w := make([][]float64, len(v))
		for i := range v {
			w[i] = slices.Clone(v[i])
		}
		c = w
	default:
		v1 := reflect.ValueOf(s)
		if v1.Kind() != reflect.Slice || v1.IsNil() {
			return s
		}
		c = reflect.AppendSlice(reflect.MakeSlice(v1.Type(), 0, v1.Len()), v1).Interface()
	}
	return c.(S)
}

func checkRand(op string, rng *rand.Rand) {
	if rng == nil {
		panic("sampling: " + op + " with a nil *rand.Rand")
	}
}
