package clustering

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/sampling"
)

// MixtureGibbs samples the labels of a Bayesian mixture of K clusters given
// its rows. Weights and parameters of the clusters are integrated out:
// collapsed Gibbs sampling.
//
//	π   ~ Dirichlet(α/K, …, α/K)
//	z_i ~ Categorical(π)
//	θ_k ~ Prior,  x_i ~ p(x | θ_{z_i})
//
// A step redraws every label in order, from
//
//	p(z_i = k | z_−i, x) = (N_k + α/K)/(α + n − 1) · p(x_i | the other rows of k) / p(x_i | x_−i, z_−i)
//
// with N_k the number of those rows. It is a sampling.Kernel whose state is the
// labels, n of them from 0 to K−1; start it from zeros, or from the labels
// of a quicker method. Info.LogDensity is ln p(x, z).
//
// Labels have no meaning of their own: they switch as the chain goes on, and
// the posterior is the same for every renaming of them. Look at functions of
// the partition, such as [CoClustering].
//
// Bad parameters or data, or a label that is out of range, are in Info.Err: a
// *lvm.DataError or *lvm.ShapeError. The fields must not change after the first step.
//
// Cost per step: O(n·K·d²), and nothing is allocated for a row. Clusters change
// by rank-one updates as rows move, and are fitted afresh at the start of a
// step, so that no rounding adds up.
//
// Source: Subakan, Latent Variable Models, variant 4, where the prior of π
// should read Dirichlet(α/K); Neal (2000), Markov chain sampling methods for
// Dirichlet process mixture models.
type MixtureGibbs struct {
	X     mat.Matrix   // n×d
	K     int          // number of clusters
	Alpha float64      // α, what all weights together are worth in rows
	Prior ClusterPrior // of the parameters of every cluster

	sweeps *sweeps
}

// Step redraws every label once.
func (g *MixtureGibbs) Step(rng *rand.Rand, z []int) ([]int, sampling.Info) {
	info := sampling.Info{Acceptance: 1, Accepted: true}
	if info.Err = g.prepare(z); info.Err != nil {
		return z, info
	}
	if info.Err = g.sweeps.sweep(rng, g.Alpha); info.Err != nil {
		return z, info
	}
	info.LogDensity = logLabels(g.sweeps.sizes, g.K, g.Alpha) + g.sweeps.logMarginals()
	return g.sweeps.z, info
}

func (g *MixtureGibbs) prepare(z []int) error {
	const op = "clustering.MixtureGibbs"
	if g.sweeps == nil {
		if err := g.check(op); err != nil {
			return err
		}
		s, err := newSweeps(op, g.X, g.Prior, g.K)
		if err != nil {
			return err
		}
		g.sweeps = s
	}
	return g.sweeps.start(op, z)
}

func (g *MixtureGibbs) check(op string) error {
	if g.K < 1 {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("K is %d", g.K), Try: "at least one cluster, or DPGibbs, which needs no K"}
	}
	return checkAlpha(op, g.Alpha)
}

// mustCheck panics with what is wrong with the parameters or the labels.
func (g *MixtureGibbs) mustCheck(name string, z []int) {
	op := "clustering: MixtureGibbs." + name
	if err := g.check(op); err != nil {
		panic(err)
	}
	if g.X == nil || g.Prior == nil {
		panic(&lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "X or Prior is nil", Try: "giving both"})
	}
	if n, _ := g.X.Dims(); len(z) != n {
		panic(&lvm.ShapeError{Op: op, What: "labels", Got: len(z), Want: n})
	}
	for i, l := range z {
		if l < 0 || l >= g.K {
			panic(&lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the label is %d", l), Try: fmt.Sprintf("labels from 0 to %d", g.K-1)})
		}
	}
}

// logLabels returns ln p(z), π integrated out, from how often each label occurs.
func logLabels(sizes []int, k int, alpha float64) float64 {
	a := alpha / float64(k)
	l, n := lgamma(alpha), 0
	for _, m := range sizes {
		n += m
		if m > 0 {
			l += lgamma(a+float64(m)) - lgamma(a)
		}
	}
	return l - lgamma(alpha+float64(n))
}

// LogJoint returns ln p(x, z) of labels from 0 to K−1, weights and parameters
// integrated out: what Info.LogDensity is, computed from scratch. It panics with
// what is wrong with the labels or the fields, a *lvm.DataError or *lvm.ShapeError.
func (g *MixtureGibbs) LogJoint(z []int) float64 {
	g.mustCheck("LogJoint", z)
	return logLabels(sizesOf(z), g.K, g.Alpha) + logMarginal(g.X, z, g.Prior)
}

// Predictive returns the density of the next row given the labels,
//
//	p(x | z, X) = Σ_k (N_k + α/K)/(α + n) · p(x | the rows of k)
//
// in which the clusters without rows are one component, the last. The posterior
// predictive density is its mean over the draws of z. It panics as LogJoint does.
func (g *MixtureGibbs) Predictive(z []int) *StudentMixture {
	g.mustCheck("Predictive", z)
	return predictiveOf(g.X, z, g.Prior, g.Alpha, g.K)
}
