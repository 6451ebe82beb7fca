package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// Metropolis is the random walk of Metropolis: it proposes a Gaussian step
// and takes it or stays,
//
//	x* = x + ε,  ε ~ N(0, σ²Σ),  accepted with probability min{1, p̃(x*)/p̃(x)}
//
// A small σ is nearly always accepted and goes nowhere, a large one is
// nearly always rejected; for a Gaussian target the best σ is about 2.38/√d
// standard deviations, with an acceptance rate of 0.44 for d = 1 that falls
// towards 0.234 (Roberts, Gelman & Gilks 1997).
//
// The log density may be −Inf where there is no mass. A NaN at a proposal
// counts as no mass and is reported in Info.Invalid; a NaN or −Inf at the
// start, a +Inf anywhere, and a Cov of the wrong size or not positive
// definite end the chain with Info.Err.
//
// Cost per step: one log density and O(d), or O(d²) with Cov; it allocates
// nothing after the first. The fields must not change once the chain runs.
//
// Metropolis et al. 1953; notes 000, §5.4; notes 002, §11.5.1. There (11.17)
// leaves out the probability of staying, without which no row of the
// transition sums to one.
type Metropolis struct {
	// LogDensity returns log p̃(x), up to a constant. It must depend on x
	// alone, as its last value is remembered, and must not keep or change x.
	LogDensity func(x []float64) float64

	// Scale is σ. 0 means 2.38/√d.
	Scale float64

	// Cov is the shape Σ of the proposal, d×d. nil means the identity.
	Cov mat.Symmetric

	buf   buffers
	memo  memo
	z     []float64
	lower []float64 // Cholesky factor of Cov by rows, nil for the identity
}

// Step proposes one move from x.
func (m *Metropolis) Step(rng *rand.Rand, x []float64) ([]float64, Info) {
	if len(m.z) != len(x) || len(x) == 0 {
		if err := m.init(len(x)); err != nil {
			return x, Info{LogDensity: math.NaN(), Err: err}
		}
	}
	y := m.buf.other(x)
	gaussianStep(rng, y, x, m.z, m.Scale, m.lower)
	return metropolis("sampling.Metropolis", rng, m.LogDensity, &m.memo, x, y, 0, m.Scale)
}

func (m *Metropolis) init(d int) error {
	const op = "sampling.Metropolis"
	if m.LogDensity == nil {
		panic("sampling: Metropolis without LogDensity")
	}
	if m.Scale < 0 || m.Scale-m.Scale != 0 {
		panic(fmt.Sprintf("sampling: Metropolis with scale %v", m.Scale))
	}
	if d == 0 {
		return &lvm.ShapeError{Op: op, What: "length of the state", Got: 0, Want: 1}
	}
	if m.Cov != nil {
		var err error
		if m.lower, err = lowerFactor(op, m.Cov, d); err != nil {
			return err
		}
	}
	if m.Scale == 0 {
		m.Scale = 2.38 / math.Sqrt(float64(d))
	}
	m.z = make([]float64, d)
	m.buf.resize(d)
	return nil
}

// gaussianStep sets y = x + scale·L·z with z ~ N(0, I).
func gaussianStep(rng *rand.Rand, y, x, z []float64, scale float64, lower []float64) {
	if lower == nil {
		for i, v := range x {
			y[i] = v + scale*rng.NormFloat64()
		}
		return
	}
	d := len(x)
	for i := range z {
		z[i] = rng.NormFloat64()
		y[i] = x[i] + scale*floats.Dot(lower[i*d:i*d+i+1], z[:i+1])
	}
}

// metropolis accepts the proposal y from x with probability
// min{1, exp(log p̃(y) − log p̃(x) + logRatio)} and returns the state that
// comes next. logRatio is log q(x|y) − log q(y|x).
func metropolis(op string, rng *rand.Rand, logDensity func([]float64) float64, memo *memo, x, y []float64, logRatio, scale float64) ([]float64, Info) {
	lx, evals := memo.at(logDensity, x)
	info := Info{LogDensity: lx, Evaluations: evals + 1, StepSize: scale, Proposal: y}
	if lx-lx != 0 {
		info.Err = checkDensity(op, x, lx)
		return x, info
	}
	ly := logDensity(y)
	if math.IsInf(ly, 1) {
		info.Err = checkDensity(op, y, ly)
		return x, info
	}
	info.Acceptance, info.Invalid = acceptance(ly - lx + logRatio)
	if info.Acceptance == 1 || rng.Float64() < info.Acceptance {
		memo.set(y, ly)
		info.LogDensity, info.Accepted = ly, true
		return y, info
	}
	return x, info
}

// acceptance returns min{1, exp(r)}, and for a NaN zero and true.
func acceptance(r float64) (a float64, invalid bool) {
	switch {
	case r >= 0:
		return 1, false
	case r < 0:
		return math.Exp(r), false
	}
	return 0, true
}
