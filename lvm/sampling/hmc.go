package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// HMC is Hamiltonian Monte Carlo with a fixed number of leapfrog steps: it
// draws a momentum p ~ N(0, M), follows the trajectory of
//
//	H(x, p) = −log p̃(x) + ½ pᵀM⁻¹p
//
// for L steps of size ε, and accepts its end with probability
// min{1, exp(H − H*)}. A trajectory whose length εL is a period of the
// target comes back to where it was and mixes badly, however it is tuned;
// some Jitter breaks the resonance, and [NUTS] chooses the length by itself.
//
// Burn-in tunes ε and M⁻¹, and divergences and errors are reported, as for
// NUTS.
//
// Cost per step: L gradients and O(L·d), or O(L·d²) for a dense metric. It
// allocates nothing after the first.
//
// Duane et al. 1987; Neal 2011.
type HMC struct {
	// Gradient writes ∇log p̃(x) to grad and returns log p̃(x), up to a constant.
	// It must depend on x alone, and not keep or change it. See [CheckGradient].
	Gradient func(x, grad []float64) float64

	// StepSize is ε at the start. 0 means that burn-in finds one.
	StepSize float64

	// Steps is L. 0 means 10.
	Steps int

	// Jitter draws the step size of each trajectory from ε(1 ± Jitter); below 1.
	Jitter float64

	// Target is the mean acceptance that the step size aims at. 0 means 0.8.
	Target float64

	// Metric is the form of M⁻¹. The zero value is DiagonalMetric.
	Metric Metric

	// Cov is M⁻¹ at the start, d×d, of which a diagonal metric takes the
	// diagonal. nil means the identity.
	Cov mat.Symmetric

	// Visit, if not nil, sees every point of every trajectory, for pictures.
	Visit func(x []float64)

	h hamiltonian
	z phase
}

// Tuning returns the step size and M⁻¹ as they are now, nil before the first
// step.
func (k *HMC) Tuning() (stepSize float64, cov *mat.SymDense) {
	if len(k.h.last.x) == 0 {
		return k.StepSize, nil
	}
	return k.h.eps, k.h.covariance()
}

// Adapt tunes ε and M⁻¹ after step t of n.
func (k *HMC) Adapt(rng *rand.Rand, t, n int, x []float64, info Info) {
	if !k.h.ready(len(x)) {
		if k.h.pending = k.init(len(x)); k.h.pending != nil {
			return
		}
	}
	target := k.Target
	if target == 0 {
		target = 0.8
	}
	k.h.adapt(rng, t, n, x, info.Acceptance, target, k.Metric)
}

func (k *HMC) init(d int) error {
	if k.Steps < 0 || !(k.Jitter >= 0 && k.Jitter < 1) {
		panic(fmt.Sprintf("sampling: HMC with %d steps and jitter %v", k.Steps, k.Jitter))
	}
	k.h, k.z = hamiltonian{}, newPhase(d)
	return k.h.init("sampling.HMC", settings{k.Gradient, k.Visit, k.StepSize, k.Target, k.Cov, k.Metric}, d)
}

// Step proposes the end of one trajectory from x.
func (k *HMC) Step(rng *rand.Rand, x []float64) ([]float64, Info) {
	info := Info{LogDensity: math.NaN()}
	if !k.h.ready(len(x)) && k.h.pending == nil {
		k.h.pending = k.init(len(x))
	}
	start, evals, err := k.h.begin(rng, &k.z, x)
	if err == nil && k.h.eps == 0 {
		err = errNoStepSize
	}
	if info.Err = err; err != nil {
		return x, info
	}
	steps := k.Steps
	if steps == 0 {
		steps = 10
	}
	eps := k.h.eps
	if k.Jitter != 0 {
		eps *= 1 + k.Jitter*(2*rng.Float64()-1)
	}
	info.LogDensity, info.Energy, info.StepSize, info.Evaluations = k.z.logp, start, eps, evals
	energy := start
	for range steps { // all of them: a stop on the way would not be reversible
		energy, err = k.h.leapfrog(&k.z, eps)
		info.Evaluations++
		if info.Err = err; err != nil {
			return x, info
		}
		info.Divergent = info.Divergent || energy-start > maxEnergyError
	}
	info.Proposal = k.z.x
	info.Acceptance, _ = acceptance(start - energy)
	if info.Acceptance == 1 || rng.Float64() < info.Acceptance {
		info.Accepted, info.LogDensity, info.Energy = true, k.z.logp, energy
		return k.h.finish(&k.z, x), info
	}
	return x, info
}
