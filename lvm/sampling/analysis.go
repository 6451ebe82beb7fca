package sampling

import (
	"fmt"
	"math"
	"slices"
)

// analysis holds the draws of one quantity from m chains of n draws, with
// what several diagnostics need of them. Its scratch is used again by reset.
type analysis struct {
	m, n   int
	x      []float64 // m·n, chain by chain
	order  []int32   // indices of x, ascending; set by sort
	sorted []float64 // x in that order
	z      []float64 // scratch the size of x
	folded []float64
	scores scores // table for the split chains
	radix  radixSort
	lags   autocovariance
}

func newAnalysis(draws [][]float64) *analysis {
	a := &analysis{}
	a.reset(draws)
	return a
}

// reset takes draws, chains × draws, all of one length.
func (a *analysis) reset(draws [][]float64) {
	a.m, a.n = len(draws), 0
	if a.m > 0 {
		a.n = len(draws[0])
	}
	a.x, a.order, a.sorted = a.x[:0], a.order[:0], a.sorted[:0]
	for c, chain := range draws {
		if len(chain) != a.n {
			panic(fmt.Sprintf("sampling: chain %d has %d draws, chain 0 has %d; cut them to one length, as Extract does", c, len(chain), a.n))
		}
		a.x = append(a.x, chain...)
	}
}

func (a *analysis) hasNaN() bool {
	return slices.ContainsFunc(a.x, math.IsNaN)
}

// sort fills order and sorted, once. x must hold no NaN.
func (a *analysis) sort() {
	if len(a.order) == len(a.x) {
		return
	}
	a.order, a.sorted = grow(a.order, len(a.x)), grow(a.sorted, len(a.x))
	a.radix.sort(a.x, a.sorted, a.order)
}

// split returns v, laid out as x, as 2m half chains; the middle draw of an
// odd number is left out. A single draw cannot be split.
func (a *analysis) split(v []float64) [][]float64 {
	halves := make([][]float64, 0, 2*a.m)
	h := a.n / 2
	for c := range a.m {
		chain := v[c*a.n : (c+1)*a.n]
		if a.n < 2 {
			halves = append(halves, chain)
			continue
		}
		halves = append(halves, chain[:h], chain[a.n-h:])
	}
	return halves
}

// middle says whether split leaves out index i of x.
func (a *analysis) middle(i int) bool {
	return a.n > 1 && a.n%2 == 1 && i%a.n == a.n/2
}

// bulkScores returns the normal scores of the ranks of the split draws.
func (a *analysis) bulkScores() []float64 {
	a.sort()
	a.z = grow(a.z, len(a.x))
	normalScores(a.z, a.sorted, a.order, a.middle, a.table())
	return a.z
}

// tailScores does the same for the draws folded about their median,
// |x − median|, whose ranks tell the scale of the chains.
func (a *analysis) tailScores() []float64 {
	a.sort()
	folded, order := a.fold()
	a.z = grow(a.z, len(a.x))
	normalScores(a.z, folded, order, a.middle, a.table())
	return a.z
}

// fold returns |x − median| in ascending order with the indices. Both sides
// of the median are in order already, so they are merged.
func (a *analysis) fold() ([]float64, []int32) {
	median := quantile(a.sorted, 0.5)
	a.folded, a.radix.order2 = grow(a.folded, len(a.x)), grow(a.radix.order2, len(a.x))
	folded, order := a.folded, a.radix.order2
	hi, _ := slices.BinarySearch(a.sorted, median)
	lo := hi - 1
	for at := range folded {
		if lo < 0 || hi < len(a.sorted) && a.sorted[hi]-median < median-a.sorted[lo] {
			folded[at], order[at] = a.sorted[hi]-median, a.order[hi]
			hi++
		} else {
			folded[at], order[at] = median-a.sorted[lo], a.order[lo]
			lo--
		}
	}
	return folded, order
}

func (a *analysis) table() scores {
	size := len(a.x)
	if a.n > 1 {
		size -= a.m * (a.n % 2)
	}
	if len(a.scores) != 2*size+1 {
		a.scores = newScores(size)
	}
	return a.scores
}

// undefined says that diagnostics of v have no value: there is nothing in
// it, it is not finite, or it is constant.
func undefined(v []float64) bool {
	if len(v) == 0 {
		return true
	}
	lo, hi := v[0], v[0]
	for _, x := range v {
		if x-x != 0 {
			return true
		}
		lo, hi = min(lo, x), max(hi, x)
	}
	return hi-lo < epsilon
}

const epsilon = 0x1p-52

// quantile returns the p-quantile of sorted values, linear between the order
// statistics (Hyndman & Fan 1996, definition 7).
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := float64(len(sorted)-1) * p
	i := int(at)
	h := at - float64(i)
	if h == 0 || sorted[i] == sorted[i+1] {
		return sorted[i]
	}
	return (1-h)*sorted[i] + h*sorted[i+1]
}
