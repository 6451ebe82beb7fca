package sampling

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Ranks returns the rank of every draw among the draws of all chains, from 1,
// with the average rank for ties. draws is chains × draws. If all chains
// have the same distribution, a histogram of the ranks of each is flat
// (Vehtari et al. 2021, §4.1). A NaN makes every rank NaN.
//
// Cost: O(S) for S draws in all.
func Ranks(draws [][]float64) [][]float64 {
	a := newAnalysis(draws)
	ranks := make([]float64, len(a.x))
	if a.hasNaN() {
		for i := range ranks {
			ranks[i] = math.NaN()
		}
	} else {
		a.sort()
		eachTie(a.sorted, func(lo, hi int) {
			for _, i := range a.order[lo:hi] {
				ranks[i] = float64(lo+hi+1) / 2
			}
		})
	}
	out := make([][]float64, a.m)
	for c := range out {
		out[c] = ranks[c*a.n : (c+1)*a.n : (c+1)*a.n]
	}
	return out
}

// eachTie calls f for every maximal run sorted[lo:hi] of equal values.
func eachTie(sorted []float64, f func(lo, hi int)) {
	for lo := 0; lo < len(sorted); {
		hi := lo + 1
		for hi < len(sorted) && sorted[hi] == sorted[lo] {
			hi++
		}
		f(lo, hi)
		lo = hi
	}
}

// scores maps ranks among S to normal scores Φ⁻¹((r − 3/8)/(S + 1/4)) (Blom
// 1958). Average ranks are multiples of ½, so a table of 2S holds them all.
type scores []float64

func newScores(size int) scores {
	z := make(scores, 2*size+1)
	for k := 2; k <= size+1; k++ { // twice the rank
		z[k] = distuv.UnitNormal.Quantile((float64(k)/2 - 3.0/8) / (float64(size) + 1.0/4))
		z[2*size+2-k] = -z[k]
	}
	return z
}

// normalScores sets z[i] to the normal score of value i. sorted are the
// values in ascending order and order their indices; those for which skip is
// true take no part.
func normalScores(z []float64, sorted []float64, order []int32, skip func(i int) bool, table scores) {
	rank := 0 // values ranked so far
	eachTie(sorted, func(lo, hi int) {
		n := 0
		for _, i := range order[lo:hi] {
			if !skip(int(i)) {
				n++
			}
		}
		if n == 0 {
			return
		}
		score := table[2*rank+n+1] // the average of ranks rank+1 … rank+n, twice
		for _, i := range order[lo:hi] {
			z[i] = score
		}
		rank += n
	})
}

const (
	digitBits = 11
	digits    = 6 // 6·11 ≥ 64 bits
)

// radixSort sorts pairs of a float64 and an index, least digit first. It is
// about five times as fast as a comparison sort, and diagnostics sort a lot.
// Values must not be NaN.
type radixSort struct {
	keys, keys2 []uint64
	order2      []int32
	count       [digits][1 << digitBits]int32
}

// sort sets order to the indices of x in ascending order of x, and sorted to
// the values in that order.
func (r *radixSort) sort(x, sorted []float64, order []int32) {
	n := len(x)
	r.keys, r.keys2, r.order2 = grow(r.keys, n), grow(r.keys2, n), grow(r.order2, n)
	clear(r.count[:])
	for i, v := range x {
		k := math.Float64bits(v)
		k ^= uint64(int64(k)>>63) | 1<<63 // order of the bits is order of the floats
		r.keys[i], order[i] = k, int32(i)
		for d := range digits {
			r.count[d][digit(k, d)]++
		}
	}
	keys, keys2, ord, ord2 := r.keys, r.keys2, order, r.order2
	for d := range digits {
		count := &r.count[d]
		if n > 0 && count[digit(keys[0], d)] == int32(n) {
			continue // the same digit everywhere
		}
		var sum int32
		for i, c := range count {
			count[i] = sum
			sum += c
		}
		for i, k := range keys {
			b := digit(k, d)
			at := count[b]
			count[b]++
			keys2[at], ord2[at] = k, ord[i]
		}
		keys, keys2, ord, ord2 = keys2, keys, ord2, ord
	}
	copy(order, ord)
	for at, i := range order {
		sorted[at] = x[i]
	}
}

func digit(k uint64, d int) uint64 { return k >> (d * digitBits) & (1<<digitBits - 1) }

// grow returns a slice of length n that shares the storage of s if it can.
func grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
