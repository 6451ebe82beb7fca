package clustering

import (
	"encoding/binary"
	"fmt"
	"math"
)

// PartitionLoss says what it costs to report partition a when b is true.
type PartitionLoss int

const (
	// Binder counts the pairs of rows that one puts together and the other apart.
	Binder PartitionLoss = iota
	// VariationOfInformation is H(a) + H(b) − 2 I(a; b), in nats.
	VariationOfInformation
)

// String returns the name of the loss.
func (l PartitionLoss) String() string {
	switch l {
	case Binder:
		return "Binder"
	case VariationOfInformation:
		return "variation of information"
	}
	return fmt.Sprintf("PartitionLoss(%d)", int(l))
}

// Between returns the loss between two labellings of the same rows, zero if they
// are the same partition. Both losses are metrics. It panics if the lengths
// differ.
//
// With n_a, n_b and n_ab the numbers of rows with a label of a, of b and with
// both, each loss is Σ f(n_a) + Σ f(n_b) − 2 Σ f(n_ab): f(m) = m²/2 for Binder,
// f(m) = (m/n) ln m for the variation of information.
//
// Source: Binder (1978), Bayesian cluster analysis; Meilă (2007), Comparing
// clusterings: an information based distance.
func (l PartitionLoss) Between(a, b []int) float64 {
	counts, rows, cols := Contingency(a, b)
	f := l.table(len(a))
	var both, apart float64
	for _, row := range counts {
		for _, m := range row {
			both += f[m]
		}
	}
	sumA, sumB := margins(counts, len(rows), len(cols))
	for _, m := range sumA {
		apart += f[m]
	}
	for _, m := range sumB {
		apart += f[m]
	}
	return max(0, apart-2*both)
}

// table returns f(m) for m = 0 … n.
func (l PartitionLoss) table(n int) []float64 {
	f := make([]float64, n+1)
	for m := 1; m <= n; m++ {
		v := float64(m)
		switch l {
		case Binder:
			f[m] = v * v / 2
		case VariationOfInformation:
			f[m] = v / float64(n) * math.Log(v)
		default:
			panic(fmt.Sprintf("clustering: %v", l))
		}
	}
	return f
}

// PointEstimate returns the one partition that stands for draws from a
// posterior best: it looks for the least mean loss against all of them, which
// comes with it. It takes the best of the draws, and then moves single rows to
// another or a new cluster as long as that lowers the loss. The labels are
// canonical. It panics if there are no draws or if their lengths differ.
//
// Binder's loss tends to leave single rows in clusters of their own, the
// variation of information less so.
//
// Cost: O(D²·n) for D different draws, and then O(n·K·D) per round of moves.
//
// Source: Wade and Ghahramani (2018), Bayesian cluster analysis: point
// estimation and credible balls; the moves are those of Rastelli and Friel
// (2018), Optimal Bayesian estimators for latent variable cluster models.
func PointEstimate(draws [][]int, loss PartitionLoss) (z []int, mean float64) {
	n := checkDraws("PointEstimate", draws)
	if n == 0 {
		return nil, 0
	}
	p := newPointSearch(draws, loss)
	best, least := 0, math.Inf(1)
	for s := range p.draws {
		p.start(p.draws[s])
		if l := p.loss(); l < least {
			best, least = s, l
		}
	}
	p.start(p.draws[best])
	p.descend()
	return Canonical(p.z), p.loss()
}

// pointSearch holds a partition z with its contingency tables against the draws,
// which are different and carry the share of all draws that they stand for.
type pointSearch struct {
	f      []float64
	draws  [][]int
	share  []float64
	fixed  float64 // Σ_s share_s Σ f(n_b)
	z      []int
	sizes  []int   // of the clusters of z
	counts [][]int // of each draw s: how many rows have label a in z and b in s, at a·wide[s]+b
	wide   []int   // labels of each draw
}

func newPointSearch(draws [][]int, loss PartitionLoss) *pointSearch {
	n := len(draws[0])
	p := &pointSearch{f: loss.table(n), z: make([]int, n)}
	place := make(map[string]int)
	var key []byte
	for _, z := range draws {
		c := Canonical(z)
		key = key[:0]
		for _, k := range c {
			key = binary.AppendUvarint(key, uint64(k))
		}
		s, ok := place[string(key)]
		if !ok {
			s = len(p.draws)
			place[string(key)] = s
			p.draws, p.share = append(p.draws, c), append(p.share, 0)
			p.wide, p.counts = append(p.wide, len(sizesOf(c))), append(p.counts, nil)
		}
		p.share[s] += 1 / float64(len(draws))
	}
	for s, z := range p.draws {
		for _, m := range sizesOf(z) {
			p.fixed += p.share[s] * p.f[m]
		}
	}
	return p
}

// start takes up a canonical partition. There is one empty cluster at the end,
// for a row to move to.
func (p *pointSearch) start(z []int) {
	copy(p.z, z)
	p.sizes = append(sizesOf(z), 0)
	for s, draw := range p.draws {
		size := len(p.sizes) * p.wide[s]
		if cap(p.counts[s]) < size {
			p.counts[s] = make([]int, size)
		}
		p.counts[s] = p.counts[s][:size]
		clear(p.counts[s])
		for i, a := range z {
			p.counts[s][a*p.wide[s]+draw[i]]++
		}
	}
}

// loss returns the mean loss of z.
func (p *pointSearch) loss() float64 {
	l := p.fixed
	for _, m := range p.sizes {
		l += p.f[m]
	}
	for s, counts := range p.counts {
		var both float64
		for _, m := range counts {
			both += p.f[m]
		}
		l -= 2 * p.share[s] * both
	}
	return max(0, l)
}

// descend moves rows, one at a time and in order, until no move of one lowers
// the loss. A fall of no more than rounding does not count, so it ends.
func (p *pointSearch) descend() {
	n := len(p.z)
	rounding := 1e-12 * (p.f[n] - p.f[n-1])
	for moved := true; moved; {
		moved = false
		for i, from := range p.z {
			p.shift(i, from, -1)
			best, least := from, p.rise(i, from)
			for a := range p.sizes {
				if r := p.rise(i, a); r < least-rounding {
					best, least = a, r
				}
			}
			p.shift(i, best, +1)
			p.z[i] = best
			moved = moved || best != from
			if best == len(p.sizes)-1 {
				p.sizes = append(p.sizes, 0)
				for s := range p.counts {
					p.counts[s] = append(p.counts[s], make([]int, p.wide[s])...)
				}
			}
		}
	}
}

// rise returns what it adds to the loss that row i, which is in no cluster, joins a.
func (p *pointSearch) rise(i, a int) float64 {
	r := p.f[p.sizes[a]+1] - p.f[p.sizes[a]]
	for s, counts := range p.counts {
		m := counts[a*p.wide[s]+p.draws[s][i]]
		r -= 2 * p.share[s] * (p.f[m+1] - p.f[m])
	}
	return r
}

// shift adds row i to cluster a, or takes it away.
func (p *pointSearch) shift(i, a, by int) {
	p.sizes[a] += by
	for s := range p.counts {
		p.counts[s][a*p.wide[s]+p.draws[s][i]] += by
	}
}
