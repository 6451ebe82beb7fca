package clustering

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-lessons/latent/lvm/internal/kernels"
)

// restrictedScans is how often a split is refined before it is proposed, as in
// the examples of Jain and Neal.
const restrictedScans = 5

// splitMerge proposes to split a cluster in two or to merge two, and reports
// whether that was accepted.
//
// Two rows are drawn, the anchors. A launch state puts the other rows of their
// clusters with one anchor or the other, first at random and then by Gibbs scans
// among these two. From there one more scan makes the proposal of a split, with
// the probability q that the scan had; if the anchors were apart, the
// proposal is to merge, and q is the probability with which the scan would have led back:
//
//	split: accepted with min{1, p(z*, x)/(p(z, x) q)},   merge: with min{1, p(z*, x) q/p(z, x)}
//
// One such move does what takes a row-by-row sampler very many steps, through
// states that are much less probable.
//
// Source: Jain and Neal (2004), A split-merge Markov chain Monte Carlo procedure
// for the Dirichlet process mixture model, §3.2.
func (s *sweeps) splitMerge(rng *rand.Rand, alpha float64) bool {
	if s.N < 2 {
		return false
	}
	i, j := rng.IntN(s.N), rng.IntN(s.N-1)
	if j >= i {
		j++
	}
	from, other := s.z[i], s.z[j]
	p := s.launch(rng, i, j)
	for range restrictedScans {
		p.scan(rng, false)
	}
	split := from == other
	logQ := p.scan(rng, !split)

	na, nb := float64(s.sizes[p.a]), float64(s.sizes[p.b])
	whole := s.freeSlot(p.a, p.b)
	s.fit(whole, p.all)
	logRatio := math.Log(alpha) + lgamma(na) + lgamma(nb) - lgamma(na+nb) +
		s.marginal(p.a) + s.marginal(p.b) - s.marginal(whole) - logQ // of the split
	if !split {
		logRatio = -logRatio
	}
	accepted := math.Log(rng.Float64()) < logRatio // never if it is NaN
	s.sizes[p.a], s.sizes[p.b] = 0, 0
	switch {
	case accepted && split:
		s.join(p.a, p.side(true, -1)) // a is the first free label
		s.join(from, p.side(false, -1))
	case accepted:
		s.sizes[other] = 0
		s.active = slices.DeleteFunc(s.active, func(l int) bool { return l == other })
		s.join(from, p.all)
	}
	return accepted
}

// pair is a split of the rows of one or two clusters, in work in two free slots.
type pair struct {
	*sweeps
	a, b   int
	all    []int  // the rows, anchors last
	inB    []bool // of each of the rows
	before []bool // where it was in z, if there were two clusters
}

// launch puts row i in one slot, row j in another and every other row of their
// clusters in one of the two at random.
func (s *sweeps) launch(rng *rand.Rand, i, j int) *pair {
	p := &pair{sweeps: s, a: s.freeSlot(-1, -1)}
	p.b = s.freeSlot(p.a, -1)
	var rows [2][]int
	put := func(r int, b bool) {
		p.all, p.inB, p.before = append(p.all, r), append(p.inB, b), append(p.before, s.z[r] == s.z[j])
		if b {
			rows[1] = append(rows[1], r)
		} else {
			rows[0] = append(rows[0], r)
		}
	}
	for r, l := range s.z {
		if (l == s.z[i] || l == s.z[j]) && r != i && r != j {
			put(r, rng.Uint64()&1 == 1)
		}
	}
	put(i, false)
	put(j, true)
	s.fit(p.a, rows[0])
	s.fit(p.b, rows[1])
	s.sizes[p.a], s.sizes[p.b] = len(rows[0]), len(rows[1])
	s.valid[p.a], s.valid[p.b] = -1, -1
	return p
}

// scan redraws for every row but the anchors which of the two it is in, or puts
// it back to where it was, and returns the logarithm of the probability of
// what happened.
func (p *pair) scan(rng *rand.Rand, back bool) (logQ float64) {
	for c, r := range p.all[:len(p.all)-2] {
		own, other := p.a, p.b
		if p.inB[c] {
			own, other = p.b, p.a
		}
		stay, inside := p.predictOne(own, r, true)
		if !inside {
			p.fit(own, p.side(p.inB[c], c))
			p.valid[own] = -1
			stay, _ = p.predictOne(own, r, false)
		}
		leave, _ := p.predictOne(other, r, false)
		stay += math.Log(float64(p.sizes[own] - 1))
		leave += math.Log(float64(p.sizes[other]))
		moves := back && p.inB[c] != p.before[c]
		logMove := -math.Log1p(math.Exp(stay - leave))
		if !back {
			moves = rng.Float64() < math.Exp(logMove)
		}
		if moves {
			logQ += logMove
			p.sizes[own]--
			p.sizes[other]++
			p.inB[c] = !p.inB[c]
			if inside {
				p.remove(own, r)
			}
			p.add(other, r)
			p.valid[own], p.valid[other] = -1, -1
			continue
		}
		logQ -= math.Log1p(math.Exp(leave - stay))
		if !inside {
			p.add(own, r)
			p.valid[own] = -1
		}
	}
	return logQ
}

// predictOne returns what a slot predicts for one row, and with own for one of
// its rows given the others.
func (s *sweeps) predictOne(slot, r int, own bool) (logp float64, ok bool) {
	block, logps := r/kernels.RowLanes, s.logp[slot*kernels.RowLanes:][:kernels.RowLanes]
	if s.valid[slot] != block {
		s.predict(logps, slot, block)
		s.valid[slot] = block
	}
	if own {
		return s.predictOwn(slot, r)
	}
	return logps[r%kernels.RowLanes], true
}

// side returns the rows in b, or those in a, but for entry c.
func (p *pair) side(b bool, c int) []int {
	var rows []int
	for e, r := range p.all {
		if e != c && p.inB[e] == b {
			rows = append(rows, r)
		}
	}
	return rows
}

// join gives some rows a label and makes them its cluster.
func (s *sweeps) join(l int, rows []int) {
	for _, r := range rows {
		s.z[r] = l
	}
	if s.sizes[l] == 0 {
		s.active = append(s.active, l)
	}
	s.fit(l, rows)
	s.sizes[l], s.valid[l] = len(rows), -1
}

// freeSlot returns the first slot without rows that is neither of two.
func (s *sweeps) freeSlot(not, nor int) int {
	for l, n := range s.sizes {
		if n == 0 && l != not && l != nor {
			return l
		}
	}
	s.resize(len(s.sizes) + 1)
	return len(s.sizes) - 1
}
