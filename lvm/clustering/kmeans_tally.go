package clustering

import (
	"math"
	"slices"

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
	rows []int // how many have a weight
}

// newTally returns the tally of k clusters without rows.
func newTally(data weighted, cut *num.Cut, k int) tally {
	return tally{cut, make([]float64, 2*num.Places(data.D)*k), make([]int, k)}
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
	for _, m := range moves {
		if data.w[m.Row] > 0 {
			t.rows[m.From]--
			t.rows[m.To]++
		}
	}
}

// drain adds another tally and empties it.
func (t tally) drain(other tally) {
	for i, s := range other.sums {
		t.sums[i] += s
	}
	clear(other.sums)
	for z, n := range other.rows {
		t.rows[z] += n
	}
	clear(other.rows)
}

// lost returns what rounding may have taken from the numbers of a row: the squared
// length of the error of w (x − o), and the error of w.
func (t tally) lost(d int) (square, weight float64) {
	for j := range d {
		e := lastPlace(t.cut.Fine[j]) / 2
		square += e * e
	}
	return square, lastPlace(t.cut.Fine[num.Places(d)-3]) / 2
}

func lastPlace(v float64) float64 { return math.Nextafter(v, math.Inf(1)) - v }

// isRough says whether some column spans so many orders of magnitude, as with a value
// that stands for "missing", that a tally may lose the digits in which most rows differ.
func isRough(data weighted, cut *num.Cut) bool {
	mean := data.total / float64(data.N) // of the weights
	some := make([]float64, min(data.N, 64))
	var gaps []float64
	for j := range data.D {
		for s := range some {
			some[s] = mean * data.Row(s * data.N / len(some))[j]
		}
		slices.Sort(some)
		gaps = gaps[:0]
		for s, v := range some[1:] {
			if v > some[s] {
				gaps = append(gaps, v-some[s])
			}
		}
		slices.Sort(gaps)
		if len(gaps) > 0 && lastPlace(cut.Fine[j]) > 0x1p-30*gaps[len(gaps)/2] {
			return true
		}
	}
	return false
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
