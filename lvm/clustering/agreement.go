package clustering

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// Contingency returns how often each pair of labels occurs: counts[r][c] is
// the number of positions at which a has the label rows[r] and b the label
// cols[c]. The labels that occur come in increasing order, and negative ones
// are labels like any other. It panics if a and b differ in length.
func Contingency(a, b []int) (counts [][]int, rows, cols []int) {
	checkLengths(a, b)
	rows, rowOf := distinct(a)
	cols, colOf := distinct(b)
	counts = make([][]int, len(rows))
	for r := range counts {
		counts[r] = make([]int, len(cols))
	}
	for i := range a {
		counts[rowOf[a[i]]][colOf[b[i]]]++
	}
	return counts, rows, cols
}

// distinct returns the labels that occur, sorted, and the place of each.
func distinct(labels []int) (sorted []int, place map[int]int) {
	place = make(map[int]int)
	for _, l := range labels {
		if _, ok := place[l]; !ok {
			place[l] = 0
			sorted = append(sorted, l)
		}
	}
	sort.Ints(sorted)
	for i, l := range sorted {
		place[l] = i
	}
	return sorted, place
}

func checkLengths(a, b []int) {
	if len(a) != len(b) {
		panic(fmt.Sprintf("clustering: %d labels against %d", len(a), len(b)))
	}
}

// Match finds the renaming of the labels of a that makes them agree with those
// of b at the most positions, by the Hungarian method on their contingency
// table. Label l of a becomes perm[l], each label of b is used at most once,
// and perm[l] is −1 if a has more labels than b and l is left over. accuracy
// is the share of positions at which perm[a_i] = b_i, 1 if there are none.
//
// Labels are 0 … k−1. A negative label, such as Assign gives to a row that it
// cannot place, matches nothing and counts as a disagreement. Match panics if
// a and b differ in length.
//
// Cost: O(n + k³), k being the larger of the two largest labels.
func Match(a, b []int) (perm []int, accuracy float64) {
	checkLengths(a, b)
	ka, kb := 0, 0
	for i := range a {
		ka, kb = max(ka, a[i]+1), max(kb, b[i]+1)
	}
	perm = make([]int, ka)
	if ka == 0 || kb == 0 {
		for l := range perm {
			perm[l] = -1
		}
	} else {
		cost := mat.NewDense(ka, kb, nil)
		for i := range a {
			if a[i] >= 0 && b[i] >= 0 {
				cost.Set(a[i], b[i], cost.At(a[i], b[i])-1)
			}
		}
		perm = Hungarian(cost)
	}
	if len(a) == 0 {
		return perm, 1
	}
	agree := 0
	for i, l := range a {
		if l >= 0 && b[i] >= 0 && perm[l] == b[i] {
			agree++
		}
	}
	return perm, float64(agree) / float64(len(a))
}

// AdjustedRand returns the adjusted Rand index of two labellings of the same
// rows: the share of pairs of rows that both put together or both keep apart,
// corrected for chance,
//
//	ARI = (S − E) / ((A + B)/2 − E),   E = A·B / C(n, 2),
//
// with S the pairs that are together in both, A those together in a and B in b.
// It is 1 for equal groupings, whatever the labels are called, and 0 on average
// for unrelated ones; it can be negative. Two groupings that are both a single
// group, or both nothing but single rows, give 1. A negative label is a label
// like any other. It panics if a and b differ in length.
//
// Source: Hubert and Arabie (1985), Comparing partitions.
func AdjustedRand(a, b []int) float64 {
	counts, rows, cols := Contingency(a, b)
	var both, inA, inB float64
	for _, row := range counts {
		for _, c := range row {
			both += pairs(c)
		}
	}
	sumA, sumB := margins(counts, len(rows), len(cols))
	for _, c := range sumA {
		inA += pairs(c)
	}
	for _, c := range sumB {
		inB += pairs(c)
	}
	all := pairs(len(a))
	if inA == inB && (inA == 0 || inA == all) {
		return 1
	}
	chance := inA * inB / all
	return (both - chance) / ((inA+inB)/2 - chance)
}

func pairs(n int) float64 { return float64(n) * float64(n-1) / 2 }

func margins(counts [][]int, rows, cols int) (sumA, sumB []int) {
	sumA, sumB = make([]int, rows), make([]int, cols)
	for r, row := range counts {
		for c, n := range row {
			sumA[r] += n
			sumB[c] += n
		}
	}
	return sumA, sumB
}

// NormalizedMutualInfo returns the mutual information of two labellings of the
// same rows, divided by the arithmetic mean of their entropies:
//
//	NMI = 2 I(a; b) / (H(a) + H(b)),   0 ≤ NMI ≤ 1.
//
// It is 1 for equal groupings and is not corrected for chance: it grows with
// the number of groups. Two groupings that are both a single group give 1. A
// negative label is a label like any other. It panics if a and b differ in
// length.
//
// Source: Vinh, Epps and Bailey (2010), Information theoretic measures for
// clusterings comparison.
func NormalizedMutualInfo(a, b []int) float64 {
	counts, rows, cols := Contingency(a, b)
	if len(rows) <= 1 && len(cols) <= 1 {
		return 1
	}
	n := float64(len(a))
	sumA, sumB := margins(counts, len(rows), len(cols))
	var info float64
	for r, row := range counts {
		for c, m := range row {
			if m > 0 {
				info += float64(m) / n * math.Log(float64(m)*n/(float64(sumA[r])*float64(sumB[c])))
			}
		}
	}
	return min(1, max(0, 2*info/(entropy(sumA, n)+entropy(sumB, n))))
}

func entropy(counts []int, n float64) float64 {
	var h float64
	for _, c := range counts {
		h -= float64(c) / n * math.Log(float64(c)/n)
	}
	return h
}
