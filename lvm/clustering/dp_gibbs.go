package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/sampling"
)

// DPState is the state of a sampler of a Dirichlet process mixture.
type DPState struct {
	// Z holds the label of every row, from 0 to n−1. Labels stay with their
	// clusters while the chain goes on, so that some may not be in use.
	Z []int

	// Alpha is the concentration α.
	Alpha float64
}

// Clone returns a copy that shares nothing with s.
func (s DPState) Clone() DPState { return DPState{Z: slices.Clone(s.Z), Alpha: s.Alpha} }

// GammaPrior is the distribution of a positive number with mean Shape/Rate and
// variance Shape/Rate².
type GammaPrior struct {
	Shape, Rate float64
}

func (p GammaPrior) check(op string) error {
	if err := checkPositive(op, "Shape of the prior of α", p.Shape); err != nil {
		return err
	}
	return checkPositive(op, "Rate of the prior of α", p.Rate)
}

func (p GammaPrior) logProb(v float64) float64 {
	return distuv.Gamma{Alpha: p.Shape, Beta: p.Rate}.LogProb(v)
}

// redraw draws α given that n rows are in k clusters, from
//
//	p(α | k) ∝ p(α) α^k Γ(α)/Γ(α+n)
//
// with the help of η | α ~ Beta(α+1, n), given which α is a mixture of two
// gamma distributions.
//
// Source: Escobar and West (1995), Bayesian density estimation and inference
// using mixtures, (13)–(14).
func (p GammaPrior) redraw(rng *rand.Rand, alpha float64, k, n int) float64 {
	// η = g/(g+h) with gamma variables g and h of shapes α+1 and n
	g := distuv.Gamma{Alpha: alpha + 1, Beta: 1, Src: rng}.Rand()
	h := distuv.Gamma{Alpha: float64(n), Beta: 1, Src: rng}.Rand()
	rate := p.Rate + math.Log1p(h/g) // b − ln η
	shape := p.Shape + float64(k)
	if rng.Float64()*(shape-1+float64(n)*rate) >= shape-1 {
		shape--
	}
	// With one cluster and a vague prior α may be too small for a float64.
	return max(math.Exp(logGamma(rng, shape))/rate, 0x1p-1022)
}

// DPGibbs samples the partition of the rows in a Dirichlet process mixture, a
// mixture of infinitely many clusters of which n rows use finitely many.
//
//	G   ~ DP(α, Prior)
//	θ_i ~ G,  x_i ~ p(x | θ_i)
//
// Rows with the same θ_i are a cluster. G and the parameters are integrated out,
// so that the partition is a [CRP] and a step redraws every label in order, from
//
//	p(z_i = k | z_−i, x) ∝ N_k/(α+n−1) · p(x_i | the other rows of k)
//	p(z_i new | z_−i, x) ∝ α/(α+n−1) · p(x_i)
//
// It is a sampling.Kernel. Start it from one cluster for all rows, or from
// the labels of another method:
//
//	start := clustering.DPState{Z: make([]int, n), Alpha: 1}
//
// Info.LogDensity is ln p(x, z | α), and with AlphaPrior ln p(x, z, α).
//
// Bad parameters or data, α ≤ 0, or a label that is out of range, are in
// Info.Err: a *lvm.DataError or *lvm.ShapeError. The fields must not change
// after the first step.
//
// Cost per step: O(n·K·d²) with K clusters, and nothing is allocated for a
// row. Clusters change by rank-one updates as rows move, and are fitted
// afresh at the start of a step, so that no rounding adds up.
//
// Source: Neal (2000), Markov chain sampling methods for Dirichlet process
// mixture models, Algorithm 3; Subakan, Latent Variable Models, infinite
// mixture model.
type DPGibbs struct {
	X     mat.Matrix   // n×d
	Prior ClusterPrior // H, of the parameters of every cluster

	// AlphaPrior is the prior of α, which is then redrawn at the end of each
	// step. nil: α stays as it is in the state.
	AlphaPrior *GammaPrior

	// SplitMerge is how many times each step proposes to split a cluster or to
	// merge two, before it redraws the labels (Jain and Neal 2004). It helps
	// where clusters overlap so that rows one by one do not find the way.
	// Each looks six times at the rows of the clusters it concerns.
	// Info.Acceptance is the share of these proposals that was accepted.
	// Default: none.
	SplitMerge int

	sweeps *sweeps
}

// Step redraws every label once, and α if it has a prior.
func (g *DPGibbs) Step(rng *rand.Rand, s DPState) (DPState, sampling.Info) {
	info := sampling.Info{Acceptance: 1, Accepted: true}
	if info.Err = g.prepare(s); info.Err != nil {
		return s, info
	}
	w := g.sweeps
	if g.SplitMerge > 0 {
		info.Acceptance = 0
	}
	for range g.SplitMerge {
		if w.splitMerge(rng, s.Alpha) {
			info.Acceptance += 1 / float64(g.SplitMerge)
		}
	}
	if info.Err = w.sweep(rng, s.Alpha); info.Err != nil {
		return s, info
	}
	next := DPState{Z: w.z, Alpha: s.Alpha}
	if g.AlphaPrior != nil {
		next.Alpha = g.AlphaPrior.redraw(rng, s.Alpha, len(w.active), w.N)
		info.LogDensity = g.AlphaPrior.logProb(next.Alpha)
	}
	info.LogDensity += CRP{Alpha: next.Alpha}.logProb(w.sizes) + w.logMarginals()
	return next, info
}

func (g *DPGibbs) prepare(s DPState) error {
	const op = "clustering.DPGibbs"
	if err := checkAlpha(op, s.Alpha); err != nil {
		return err
	}
	if g.sweeps == nil {
		if g.AlphaPrior != nil {
			if err := g.AlphaPrior.check(op); err != nil {
				return err
			}
		}
		if g.SplitMerge < 0 {
			return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("SplitMerge is %d", g.SplitMerge), Try: "0 for none, or a few per step"}
		}
		w, err := newSweeps(op, g.X, g.Prior, 0)
		if err != nil {
			return err
		}
		g.sweeps = w
	}
	return g.sweeps.start(op, s.Z)
}

// LogJoint returns ln p(x, z | α), and with AlphaPrior ln p(x, z, α), G and the
// parameters integrated out: what Info.LogDensity is, computed from scratch. It
// panics if there are not n labels, or with what is wrong with the prior or α.
func (g *DPGibbs) LogJoint(s DPState) float64 {
	l := CRP{Alpha: s.Alpha}.LogProb(s.Z) + logMarginal(g.X, s.Z, g.Prior)
	if g.AlphaPrior != nil {
		l += g.AlphaPrior.logProb(s.Alpha)
	}
	return l
}

// Predictive returns the density of the next row given the partition,
//
//	p(x | z, X) = Σ_k N_k/(α+n) · p(x | the rows of k) + α/(α+n) · p(x)
//
// with the new cluster last. The posterior predictive density is its mean over
// the draws. It panics as LogJoint does.
func (g *DPGibbs) Predictive(s DPState) *StudentMixture {
	if err := checkAlpha("clustering: DPGibbs.Predictive", s.Alpha); err != nil {
		panic(err)
	}
	return predictiveOf(g.X, s.Z, g.Prior, s.Alpha, 0)
}
