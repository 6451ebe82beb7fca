package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
	"github.com/latent-lessons/latent/lvm/sampling"
)

// ClusterModel is a distribution of rows with parameters θ of type T, and a
// prior H of θ that need not be conjugate. Values of T are copied by assignment:
// one that holds slices must not be changed once it was handed out. A model with
// a method Check(d int) error is asked first whether it suits d columns.
type ClusterModel[T any] interface {
	// Draw draws θ ~ H.
	Draw(rng *rand.Rand) T

	// LogProb returns ln p(x | θ) of one row, −Inf where it has no mass.
	LogProb(theta T, x []float64) float64

	// Update draws the next θ of a cluster with these rows: from p(θ | rows), or by a step
	// of any Markov chain that leaves it invariant. It must not keep rows.
	Update(rng *rand.Rand, theta T, rows [][]float64) T
}

// DPParams is the state of a sampler of a Dirichlet process mixture that keeps
// the parameters of the clusters.
type DPParams[T any] struct {
	// Z holds the label of every row, from 0 to n−1; some may not be in use.
	Z []int

	// Alpha is the concentration α.
	Alpha float64

	// Theta holds the parameters by label. What belongs to labels not in use
	// means nothing. In the start of a chain it may be short or nil: what is
	// missing is drawn from H.
	Theta []T
}

// Clone returns a copy that shares nothing with s but what values of T share.
func (s DPParams[T]) Clone() DPParams[T] {
	return DPParams[T]{Z: slices.Clone(s.Z), Alpha: s.Alpha, Theta: slices.Clone(s.Theta)}
}

// AuxiliaryGibbs samples a Dirichlet process mixture of clusters of any kind, with
// [DPGibbs] for conjugate ones.
//
//	G   ~ DP(α, H)
//	θ_i ~ G,  x_i ~ p(x | θ_i)
//
// What a new cluster predicts for a row is an integral over H without closed
// form. Instead, each row is offered m clusters without rows, whose parameters
// are drawn from H for the occasion:
//
//	p(z_i = k | …) ∝ N_k p(x_i | θ_k)        for clusters with other rows
//	p(z_i = k | …) ∝ (α/m) p(x_i | θ_k)      for the m others
//
// where the first of the m is the row's own cluster, if it has one for itself.
// That is exact for every m; more of them mix better and cost more. After all
// rows the parameters are redrawn by Model.Update.
//
// It is a sampling.Kernel. Info.LogDensity is ln p(x, z | θ, α), and with
// AlphaPrior ln p(x, z, α | θ). Bad parameters or data, α ≤ 0, a label that is out of range, or a density that is NaN are in
// Info.Err. The fields must not change after the first step.
//
// Cost per step: n·(K+m) densities, n·m draws from H, and K updates.
//
// Source: Neal (2000), Markov chain sampling methods for Dirichlet process
// mixture models, Algorithm 8.
type AuxiliaryGibbs[T any] struct {
	X     mat.Matrix // n×d
	Model ClusterModel[T]

	// Auxiliary is m. 0 means 3.
	Auxiliary int

	// AlphaPrior is the prior of α, which is then redrawn at the end of each
	// step. nil: α stays as it is in the state.
	AlphaPrior *GammaPrior

	work *auxiliary[T]
}

// Step redraws every label, every θ, and α if it has a prior.
func (g *AuxiliaryGibbs[T]) Step(rng *rand.Rand, s DPParams[T]) (DPParams[T], sampling.Info) {
	info := sampling.Info{Acceptance: 1, Accepted: true}
	if info.Err = g.prepare(rng, s); info.Err != nil {
		return s, info
	}
	w := g.work
	for i := range w.now.Z {
		if info.Err = w.redraw(rng, i); info.Err != nil {
			return s, info
		}
	}
	w.update(rng)
	k := len(w.active)
	if g.AlphaPrior != nil {
		w.now.Alpha = g.AlphaPrior.redraw(rng, s.Alpha, k, len(s.Z))
		info.LogDensity = g.AlphaPrior.logProb(w.now.Alpha)
	}
	info.LogDensity += CRP{Alpha: w.now.Alpha}.logProb(w.sizes)
	for i, l := range w.now.Z {
		info.LogDensity += g.Model.LogProb(w.now.Theta[l], w.rows.Row(i))
	}
	return w.now, info
}

func (g *AuxiliaryGibbs[T]) prepare(rng *rand.Rand, s DPParams[T]) error {
	const op = "clustering.AuxiliaryGibbs"
	if err := checkAlpha(op, s.Alpha); err != nil {
		return err
	}
	if g.work == nil {
		if g.X == nil || g.Model == nil {
			return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "X or Model is nil", Try: "giving both"}
		}
		if g.Auxiliary < 0 {
			return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("Auxiliary is %d", g.Auxiliary), Try: "at least 1, or 0 for the default"}
		}
		if g.AlphaPrior != nil {
			if err := g.AlphaPrior.check(op); err != nil {
				return err
			}
		}
		rows, err := num.CheckData(op, g.X)
		if err != nil {
			return err
		}
		if c, ok := g.Model.(interface{ Check(d int) error }); ok {
			if err := c.Check(rows.D); err != nil {
				return err
			}
		}
		m := g.Auxiliary
		if m == 0 {
			m = 3
		}
		g.work = &auxiliary[T]{rows: rows, model: g.Model, fresh: make([]T, m)}
	}
	return g.work.start(op, rng, s)
}

// auxiliary is the work space of a chain.
type auxiliary[T any] struct {
	rows  num.Rows
	model ClusterModel[T]
	fresh []T // the parameters of the clusters without rows

	now, last DPParams[T] // the state in work, and the one returned before
	sizes     []int
	active    []int // the labels in use
	weights   []float64
	members   [][]float64
}

// start takes up a state: it copies it, and draws parameters that are missing.
func (w *auxiliary[T]) start(op string, rng *rand.Rand, s DPParams[T]) error {
	n := w.rows.N
	most, err := checkLabels(op, s.Z, n, n)
	if err != nil {
		return err
	}
	w.now, w.last = w.last, w.now
	if len(w.now.Z) > 0 && &w.now.Z[0] == &s.Z[0] {
		w.now, w.last = w.last, w.now
	}
	w.now.Z = append(w.now.Z[:0], s.Z...)
	w.now.Theta = append(w.now.Theta[:0], s.Theta...)
	w.now.Alpha = s.Alpha
	w.sizes = append(w.sizes[:0], make([]int, max(most+1, len(s.Theta)))...)
	for _, l := range s.Z {
		w.sizes[l]++
	}
	w.active = w.active[:0]
	for l, size := range w.sizes {
		if l == len(w.now.Theta) {
			w.now.Theta = append(w.now.Theta, w.model.Draw(rng))
		}
		if size > 0 {
			w.active = append(w.active, l)
		}
	}
	return nil
}

// redraw draws the label of row i.
func (w *auxiliary[T]) redraw(rng *rand.Rand, i int) error {
	x, own := w.rows.Row(i), w.now.Z[i]
	w.sizes[own]--
	alone := w.sizes[own] == 0
	for a := range w.fresh {
		if a == 0 && alone {
			w.fresh[0] = w.now.Theta[own]
			w.active = slices.DeleteFunc(w.active, func(l int) bool { return l == own })
			continue
		}
		w.fresh[a] = w.model.Draw(rng)
	}
	p := w.weights[:0]
	for _, l := range w.active {
		p = append(p, math.Log(float64(w.sizes[l]))+w.model.LogProb(w.now.Theta[l], x))
	}
	share := math.Log(w.now.Alpha / float64(len(w.fresh)))
	for _, theta := range w.fresh {
		p = append(p, share+w.model.LogProb(theta, x))
	}
	w.weights = p
	top := floats.Max(p)
	if floats.HasNaN(p) || math.IsInf(top, 0) {
		w.sizes[own]++
		return &lvm.DataError{Op: "clustering.AuxiliaryGibbs", Row: i, Col: -1, Problem: "its density is zero in every cluster, infinite or NaN", Try: "data such as the Model gives, a start whose clusters can hold their rows, or a Model with wider tails"}
	}
	for c := range p {
		p[c] = math.Exp(p[c] - top)
	}
	to := categorical(rng, p, floats.Sum(p))
	if to < len(w.active) {
		w.move(i, w.active[to])
		return nil
	}
	theta, l := w.fresh[to-len(w.active)], own
	if !alone {
		l = slices.Index(w.sizes, 0)
	}
	if l < 0 {
		l = len(w.sizes)
		w.sizes, w.now.Theta = append(w.sizes, 0), append(w.now.Theta, theta)
	}
	w.now.Theta[l] = theta
	w.active = append(w.active, l)
	w.move(i, l)
	return nil
}

func (w *auxiliary[T]) move(i, l int) {
	w.sizes[l]++
	w.now.Z[i] = l
}

// update redraws the parameters of every cluster.
func (w *auxiliary[T]) update(rng *rand.Rand) {
	slices.Sort(w.active)
	for _, l := range w.active {
		w.members = w.members[:0]
		for i, label := range w.now.Z {
			if label == l {
				w.members = append(w.members, w.rows.Row(i))
			}
		}
		w.now.Theta[l] = w.model.Update(rng, w.now.Theta[l], w.members)
	}
}
