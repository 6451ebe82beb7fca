package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// NUTS is the No-U-Turn sampler: a Hamiltonian trajectory that doubles,
// forwards or backwards in time at random, until it turns back on itself,
// and a state drawn from it with probability ∝ exp(−energy), in favour of
// the later doublings. The particle has the energy
//
//	H(x, p) = −log p̃(x) + ½ pᵀM⁻¹p,  p ~ N(0, M)
//
// While the chain burns in, it learns the step size ε by dual averaging and
// M⁻¹ in windows that double, as Stan does; 1000 steps are a good number.
//
// A trajectory on which the energy rises by more than 1000, or is not a
// number, ends there and is reported as Divergent: the integrator fails in a
// region of high curvature, and draws near it are not to be trusted. A start
// where the log density or its gradient is not finite ends the chain with
// Info.Err, as does a +Inf anywhere.
//
// Cost per step: one gradient and O(d), or O(d²) for a dense metric, per
// leapfrog step, of which there are at most 2^MaxDepth − 1. It allocates
// nothing after the first step. A gradient that multiplies by a matrix gains
// by an import of package fastblas.
//
// Hoffman & Gelman 2014; with multinomial sampling and the criterion of
// Betancourt 2017, appendix A.
type NUTS struct {
	// Gradient writes ∇log p̃(x) to grad and returns log p̃(x), up to a constant.
	// It must depend on x alone, and not keep or change it. See [CheckGradient].
	Gradient func(x, grad []float64) float64

	// StepSize is ε at the start. 0 means that burn-in finds one.
	StepSize float64

	// Target is the mean acceptance that the step size aims at. 0 means 0.8;
	// nearer to 1 for targets with divergences.
	Target float64

	// MaxDepth bounds the doublings of a trajectory, at most 30. 0 means 10.
	MaxDepth int

	// Metric is the form of M⁻¹. The zero value is DiagonalMetric.
	Metric Metric

	// Cov is M⁻¹ at the start, d×d, of which a diagonal metric takes the
	// diagonal. nil means the identity.
	Cov mat.Symmetric

	// Visit, if not nil, sees every point of every trajectory, for pictures.
	Visit func(x []float64)

	h              hamiltonian
	fore, back     phase // ends of the trajectory
	chosen, beyond phase // drawn from the trajectory, and from its extension
	nodes          []node
	turns          []turn // storage of the ends of nodes, used by free
	free           []*turn
}

// node is a stretch of trajectory: the sum of its momenta, and its ends in
// the order of time, or of integration while it is built.
type node struct {
	size     int // leapfrog steps
	rho      []float64
	beg, end *turn
}

// turn is what the U-turn criterion needs of one end.
type turn struct{ p, sharp []float64 }

// Tuning returns the step size and M⁻¹ as they are now, nil before the first
// step.
func (k *NUTS) Tuning() (stepSize float64, cov *mat.SymDense) {
	if len(k.h.last.x) == 0 {
		return k.StepSize, nil
	}
	return k.h.eps, k.h.covariance()
}

// Adapt tunes ε and M⁻¹ after step t of n.
func (k *NUTS) Adapt(rng *rand.Rand, t, n int, x []float64, info Info) {
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

func (k *NUTS) init(d int) error {
	if k.MaxDepth < 0 || k.MaxDepth > 30 {
		panic(fmt.Sprintf("sampling: NUTS with MaxDepth %d", k.MaxDepth))
	}
	k.h = hamiltonian{}
	if err := k.h.init("sampling.NUTS", settings{k.Gradient, k.Visit, k.StepSize, k.Target, k.Cov, k.Metric}, d); err != nil {
		return err
	}
	k.fore, k.back, k.chosen, k.beyond = newPhase(d), newPhase(d), newPhase(d), newPhase(d)
	depth := k.maxDepth()
	k.nodes = make([]node, depth+2)
	for i := range k.nodes {
		k.nodes[i].rho = make([]float64, d)
	}
	k.turns = make([]turn, 2*len(k.nodes))
	k.free = make([]*turn, 0, len(k.turns))
	for i := range k.turns {
		k.turns[i] = turn{make([]float64, d), make([]float64, d)}
	}
	return nil
}

func (k *NUTS) maxDepth() int {
	if k.MaxDepth == 0 {
		return 10
	}
	return k.MaxDepth
}

// Step draws the next state by one trajectory through x.
func (k *NUTS) Step(rng *rand.Rand, x []float64) ([]float64, Info) {
	info := Info{LogDensity: math.NaN()}
	if !k.h.ready(len(x)) && k.h.pending == nil {
		k.h.pending = k.init(len(x))
	}
	energy, evals, err := k.h.begin(rng, &k.back, x)
	if err == nil && k.h.eps == 0 {
		err = errNoStepSize
	}
	info.LogDensity, info.StepSize, info.Evaluations = k.back.logp, k.h.eps, evals
	if info.Err = err; err != nil {
		return x, info
	}
	k.fore.copyFrom(&k.back)
	k.chosen.copyFrom(&k.back)
	info.Energy = energy

	k.free = k.free[:0]
	for i := range k.turns {
		k.free = append(k.free, &k.turns[i])
	}
	path := &k.nodes[0] // the trajectory so far
	k.leaf(path, &k.back)
	tree := tree{start: energy, weight: 1}
	for info.TreeDepth < k.maxDepth() {
		forward := rng.Uint64()&1 == 0
		z, eps := &k.fore, k.h.eps
		if !forward {
			z, eps = &k.back, -eps
		}
		more := &k.nodes[1]
		whole, err := k.extend(rng, &tree, z, eps, 1<<info.TreeDepth)
		if err != nil {
			info.Err = err
			return x, info
		}
		if !whole {
			break
		}
		info.TreeDepth++
		if tree.extension >= tree.weight || rng.Float64()*tree.weight < tree.extension {
			k.chosen, k.beyond = k.beyond, k.chosen
			info.Accepted, info.Energy = true, tree.energy
		}
		tree.weight += tree.extension
		var turned bool
		if forward {
			turned = k.merge(path, more)
		} else { // built backwards in time, so its ends are the other way round
			more.beg, more.end = more.end, more.beg
			turned = k.merge(more, path)
			k.nodes[0], k.nodes[1] = k.nodes[1], k.nodes[0]
		}
		if turned {
			break
		}
	}
	info.Evaluations += tree.steps
	info.Acceptance = tree.accepted / float64(tree.steps)
	info.Divergent = tree.divergent
	info.LogDensity = k.chosen.logp
	return k.h.finish(&k.chosen, x), info
}

// tree sums up a trajectory. Weights are exp(start − energy − shift).
type tree struct {
	start     float64 // energy of the start
	shift     float64 // keeps weights in range where the energy falls a lot
	weight    float64 // of the trajectory so far
	extension float64 // of its extension so far
	energy    float64 // of the state drawn from the extension
	steps     int
	accepted  float64 // Σ min{1, exp(start − energy)}
	divergent bool
}

// add takes in a new state and returns its weight.
func (t *tree) add(energy float64) float64 {
	t.steps++
	gain := t.start - energy
	if gain-t.shift > 300 {
		down := math.Exp(t.shift - gain)
		t.weight *= down
		t.extension *= down
		t.shift = gain
	}
	a := math.Exp(gain)
	t.accepted += min(1, a)
	if t.shift != 0 {
		a = math.Exp(gain - t.shift)
	}
	t.extension += a
	t.divergent = -gain > maxEnergyError
	return a
}

// extend integrates n more steps from z, into node 1, and draws a state of
// them into k.beyond with probability proportional to its weight. It is not
// whole if the energy diverges or a part turns back on itself: a stretch
// that could not have grown to its size from any of its own states must be
// left out, or the transition would not be reversible.
//
// Stretches merge like the digits of a binary counter: nodes[1:] holds those
// still without a neighbour of their size, the largest first.
func (k *NUTS) extend(rng *rand.Rand, t *tree, z *phase, eps float64, n int) (whole bool, err error) {
	t.extension = 0
	at := 1 // the next free node
	for range n {
		energy, err := k.h.leapfrog(z, eps)
		if err != nil {
			return false, err
		}
		w := t.add(energy)
		if t.divergent {
			return false, nil
		}
		if w >= t.extension || rng.Float64()*t.extension < w {
			copy(k.beyond.x, z.x)
			copy(k.beyond.grad, z.grad)
			k.beyond.logp, t.energy = z.logp, energy
		}
		k.leaf(&k.nodes[at], z)
		for at > 1 && k.nodes[at-1].size == k.nodes[at].size {
			at--
			if k.merge(&k.nodes[at], &k.nodes[at+1]) {
				return false, nil
			}
		}
		at++
	}
	return true, nil
}

// leaf sets n to the one state z.
func (k *NUTS) leaf(n *node, z *phase) {
	last := len(k.free) - 1
	end := k.free[last]
	k.free = k.free[:last]
	copy(end.p, z.p)
	copy(end.sharp, z.sharp)
	copy(n.rho, z.p)
	n.size, n.beg, n.end = 1, end, end
}

// merge joins b to the end of a, and says whether the whole, or either part
// with the nearest state of the other, makes a U-turn: whether the velocity at
// either end points against the sum of the momenta between them.
func (k *NUTS) merge(a, b *node) (turned bool) {
	var w1, w2, l1, l2, r1, r2 float64 // of the whole, the left and the right part
	d := len(a.rho)                    // one length for all, so that the loop is free of checks
	rhoA, rhoB, first, last := a.rho[:d], b.rho[:d], a.beg.sharp[:d], b.end.sharp[:d]
	if a.size+b.size == 2 { // of two states the parts are the whole
		for i, rb := range rhoB {
			rhoA[i] += rb
			w1 += first[i] * rhoA[i]
			w2 += last[i] * rhoA[i]
		}
		a.end, a.size = b.end, 2
		return !(w1 > 0 && w2 > 0)
	}
	endP, endV, begP, begV := a.end.p[:d], a.end.sharp[:d], b.beg.p[:d], b.beg.sharp[:d]
	for i, ra := range rhoA {
		rb := rhoB[i]
		whole, left, right := ra+rb, ra+begP[i], rb+endP[i]
		w1 += first[i] * whole
		w2 += last[i] * whole
		l1 += first[i] * left
		l2 += begV[i] * left
		r1 += endV[i] * right
		r2 += last[i] * right
		rhoA[i] = whole
	}
	if a.end != a.beg {
		k.free = append(k.free, a.end)
	}
	if b.beg != b.end {
		k.free = append(k.free, b.beg)
	}
	a.end = b.end
	a.size += b.size
	return !(w1 > 0 && w2 > 0 && l1 > 0 && l2 > 0 && r1 > 0 && r2 > 0)
}
