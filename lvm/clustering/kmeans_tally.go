package clustering

import (
	"math"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// tally holds Σ w (x − o), Σ w ‖x − o‖² and Σ w over the rows of each cluster, o
// being the origin of the data.
//
// The sums are exact. Every number is first rounded to a multiple of a power of two
// so large that 53 bits are enough for any sum, and what that leaves is rounded
// again in the same way; for n rows that keeps about 100 − 2 log₂ n bits. Numbers
// that are added without rounding can be added in any order and taken away again. So
// only the rows that have moved are looked at, and a tally depends neither on the
// way the clusters came about nor on who added what.
//
// Source: Demmel and Nguyen (2013), Fast reproducible floating-point summation.
type tally struct {
	cut  *num.Cut
	sums []float64
}

// newTally returns the tally of k clusters without rows.
func newTally(data weighted, cut *num.Cut, k int) tally {
	return tally{cut, make([]float64, 2*num.Places(data.D)*k)}
}

// cut returns how the numbers of the rows are cut.
func (data weighted) cut() *num.Cut {
	places := num.Places(data.D)
	c := &num.Cut{Origin: data.origin, Coarse: make([]float64, places), Fine: make([]float64, places)}
	var square float64
	// Sums are below 2^e, and 2^(e−50) is the last place of what is added to the
	// numbers that they consist of: that leaves three bits for the carry.
	set := func(place int, most float64) {
		_, e := math.Frexp(1.01 * most * data.total)
		_, n := math.Frexp(float64(data.N))
		c.Coarse[place] = math.Ldexp(1.5, e+2)
		c.Fine[place] = math.Ldexp(1.5, e-51+n+2)
	}
	for j, r := range data.reach {
		set(j, r)
		square += r * r
	}
	set(places-4, square)
	set(places-3, 1)
	if math.IsInf(1.01*square*data.total, 1) {
		c.Coarse[places-4] = math.NaN() // so that nobody uses the sums of squares
	}
	return c
}

// move takes rows from one cluster to another.
func (t tally) move(data weighted, moves []num.Move) {
	data.Move(t.sums, moves, data.w, t.cut)
}

// drain adds another tally and empties it.
func (t tally) drain(other tally) {
	for i, s := range other.sums {
		t.sums[i] += s
	}
	clear(other.sums)
}

// of returns Σ w, Σ w (x − o) and Σ w ‖x − o‖² over the rows of cluster z. The
// second one is written to sum.
func (t tally) of(z int, sum []float64) (weight, square float64) {
	p := num.Places(len(sum))
	coarse, fine := t.sums[2*p*z:][:p], t.sums[2*p*z+p:][:p]
	for j := range sum {
		sum[j] = coarse[j] + fine[j]
	}
	return coarse[p-3] + fine[p-3], coarse[p-4] + fine[p-4]
}
