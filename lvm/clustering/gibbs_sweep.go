package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/kernels"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// sweeps redraws labels given all others, with the parameters of the clusters
// integrated out:
//
//	p(z_i = k | z_−i, x) ∝ (N_k + a) p(x_i | the other rows of k)   of those that have rows
//	p(z_i new | z_−i, x) ∝ b p(x_i)                                 the others together
//
// a = α/K and b = (α/K)·(clusters without rows) for K clusters; a = 0 and b = α
// for infinitely many.
type sweeps struct {
	gibbsData
	clusters
	k int // 0: infinitely many

	fresh []float64 // ln p(x_i) in a cluster of its own

	z      []int
	sizes  []int
	active []int // the slots with rows

	// What the slots predict for the rows of a block is kept until the cluster
	// changes. Most rows stay where they are, so that most predictions are
	// made for a whole block at once.
	logp    []float64 // slots × RowLanes
	valid   []int     // the block that logp is for, −1 for none
	weights []float64 // of the choices for one row

	buffers [2][]int
	order   []int // rows by cluster, and where each cluster begins
	begin   []int
}

func newSweeps(op string, x mat.Matrix, prior ClusterPrior, k int) (*sweeps, error) {
	if x == nil || prior == nil {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "X or Prior is nil", Try: "giving both"}
	}
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return nil, err
	}
	if err := prior.Check(data.D); err != nil {
		return nil, err
	}
	s := &sweeps{gibbsData: newGibbsData(data.Rows), k: k, fresh: make([]float64, padded(data.N))}
	s.clusters = prior.collapse(s.gibbsData)
	s.resize(max(1, k))
	s.fit(0, nil)
	for i := 0; i < data.N; i += kernels.RowLanes {
		s.predict(s.fresh[i:][:kernels.RowLanes], 0, i/kernels.RowLanes)
	}
	s.order = make([]int, data.N)
	s.buffers = [2][]int{make([]int, data.N), make([]int, data.N)}
	return s, nil
}

func (s *sweeps) resize(slots int) {
	if old := len(s.sizes); slots > old {
		s.clusters.grow(slots)
		s.sizes = append(s.sizes, make([]int, slots-old)...)
		s.logp = append(s.logp, make([]float64, (slots-old)*kernels.RowLanes)...)
		s.valid = append(s.valid, make([]int, slots-old)...)
		s.weights = append(s.weights, make([]float64, slots+1-len(s.weights))...)
	}
}

// start takes up a state: it copies the labels and fits the clusters.
func (s *sweeps) start(op string, z []int) error {
	limit := s.k
	if limit == 0 {
		limit = s.N
	}
	most, err := checkLabels(op, z, s.N, limit)
	if err != nil {
		return err
	}
	s.resize(most + 1)
	s.z = s.buffers[0]
	if &s.z[0] == &z[0] {
		s.z = s.buffers[1]
	}
	copy(s.z, z)

	clear(s.sizes)
	for _, l := range z {
		s.sizes[l]++
	}
	s.begin = append(s.begin[:0], make([]int, len(s.sizes)+1)...)
	for l, n := range s.sizes {
		s.begin[l+1] = s.begin[l] + n
	}
	next := s.begin
	for i, l := range z {
		s.order[next[l]] = i
		next[l]++
	}
	s.active = s.active[:0]
	for l, n := range s.sizes {
		s.valid[l] = -1
		if n > 0 {
			s.active = append(s.active, l)
			s.fit(l, s.order[next[l]-n:next[l]])
		}
	}
	return nil
}

// checkLabels returns the largest of n labels, each from 0 to limit−1.
func checkLabels(op string, z []int, n, limit int) (most int, err error) {
	if len(z) != n {
		return 0, &lvm.ShapeError{Op: op, What: "labels in the state", Got: len(z), Want: n}
	}
	for i, l := range z {
		if l < 0 || l >= limit {
			return 0, &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the label is %d", l), Try: fmt.Sprintf("labels from 0 to %d", limit-1)}
		}
		most = max(most, l)
	}
	return most, nil
}

// sweep redraws every label, in order.
func (s *sweeps) sweep(rng *rand.Rand, alpha float64) error {
	for i := range s.z {
		if err := s.redraw(rng, alpha, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *sweeps) redraw(rng *rand.Rand, alpha float64, i int) error {
	own := s.z[i]
	s.sizes[own]--
	inside := s.sizes[own] > 0 // the cluster still holds the row
	if !inside {
		s.active = slices.DeleteFunc(s.active, func(l int) bool { return l == own })
	}
	a, b := 0.0, alpha
	if s.k > 0 {
		a = alpha / float64(s.k)
		b = a * float64(s.k-len(s.active))
	}

	const lanes = kernels.RowLanes
	block, lane := i/lanes, i%lanes
	choices := s.weights[:len(s.active)+1]
	top := math.Inf(-1)
	if b > 0 {
		choices[len(s.active)] = s.fresh[i]
		top = s.fresh[i]
	}
	for c, l := range s.active {
		if s.valid[l] != block {
			s.predict(s.logp[l*lanes:][:lanes], l, block)
			s.valid[l] = block
		}
		choices[c] = s.logp[l*lanes+lane]
		if l == own {
			var ok bool
			if choices[c], ok = s.predictOwn(l, i); !ok {
				s.refit(l, i)
				inside = false
				s.predict(s.logp[l*lanes:][:lanes], l, block)
				choices[c] = s.logp[l*lanes+lane]
			}
		}
		top = max(top, choices[c])
	}
	if !(top > math.Inf(-1)) { // or NaN
		return &lvm.DataError{Op: "clustering: collapsed Gibbs", Row: i, Col: -1, Problem: "its density is zero in every cluster", Try: "a prior with a wider Scale, or dividing the data by a power of ten"}
	}
	for c := range choices {
		choices[c] -= top
	}
	kernels.Exp(choices, choices)
	var total float64
	for c, l := range s.active {
		choices[c] *= float64(s.sizes[l]) + a
		total += choices[c]
	}
	choices[len(s.active)] *= b
	total += choices[len(s.active)]

	to := s.choose(rng, choices, total, own)
	if s.sizes[to] == 0 {
		s.active = append(s.active, to)
		s.fit(to, nil)
	}
	s.sizes[to]++
	s.z[i] = to
	if to != own || !inside {
		if inside {
			s.remove(own, i)
		}
		s.add(to, i)
		s.valid[own], s.valid[to] = -1, -1
	}
	return nil
}

// choose draws a slot. A new cluster among K gets one of the free slots at random,
// as the labels mean something there; among infinitely many the one that the
// row had for itself, or the first.
func (s *sweeps) choose(rng *rand.Rand, choices []float64, total float64, own int) int {
	c := categorical(rng, choices, total)
	if c < len(s.active) {
		return s.active[c]
	}
	if s.k == 0 {
		if s.sizes[own] == 0 {
			return own
		}
		if free := slices.Index(s.sizes, 0); free >= 0 {
			return free
		}
		s.resize(len(s.sizes) + 1)
		return len(s.sizes) - 1
	}
	r := rng.IntN(s.k - len(s.active))
	for l := 0; ; l++ {
		if s.sizes[l] > 0 {
			continue
		}
		if r == 0 {
			return l
		}
		r--
	}
}

// refit fits a cluster without row i, which counts as one of its rows in z.
func (s *sweeps) refit(l, i int) {
	rows := s.order[:0]
	for r, label := range s.z {
		if label == l && r != i {
			rows = append(rows, r)
		}
	}
	s.fit(l, rows)
	s.valid[l] = -1
}

// logMarginals returns ln p(x | z).
func (s *sweeps) logMarginals() float64 {
	var sum float64
	for _, l := range s.active {
		sum += s.marginal(l)
	}
	return sum
}

// logMarginal is logMarginals from scratch, for labels from anywhere.
func logMarginal(x mat.Matrix, z []int, prior ClusterPrior) float64 {
	var sum float64
	for _, rows := range clustersOf(x, z) {
		sum += prior.LogMarginal(rows)
	}
	return sum
}

// clustersOf returns the rows of each cluster, in canonical order.
func clustersOf(x mat.Matrix, z []int) []*mat.Dense {
	rows := num.RowsOf(x)
	if rows.N != len(z) {
		panic(fmt.Sprintf("clustering: %d labels for %d rows", len(z), rows.N))
	}
	var all []*mat.Dense
	sizes := sizesOf(z)
	for _, n := range sizes {
		all = append(all, mat.NewDense(n, rows.D, nil))
	}
	clear(sizes)
	for i, k := range Canonical(z) {
		all[k].SetRow(sizes[k], rows.Row(i))
		sizes[k]++
	}
	return all
}

// predictiveOf returns the mixture of the next row's densities in each cluster,
// weighted by N_k + a, and in a new one, weighted by b.
func predictiveOf(x mat.Matrix, z []int, prior ClusterPrior, alpha float64, k int) *StudentMixture {
	all := clustersOf(x, z)
	a, b := 0.0, alpha
	if k > 0 {
		a = alpha / float64(k)
		b = a * float64(k-len(all))
	}
	if b > 0 {
		all = append(all, &mat.Dense{})
	}
	_, d := x.Dims()
	m := &StudentMixture{Means: mat.NewDense(len(all), d, nil)}
	for c, rows := range all {
		weight := b
		if !rows.IsEmpty() {
			n, _ := rows.Dims()
			weight = float64(n) + a
		}
		part := prior.nextRow(rows)
		m.Weights = append(m.Weights, weight/(float64(len(z))+alpha))
		m.Means.SetRow(c, part.Means.RawRowView(0))
		m.Scales, m.DF = append(m.Scales, part.Scales...), append(m.DF, part.DF...)
	}
	return m
}
