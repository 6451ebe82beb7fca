package clustering

import (
	"fmt"
	"iter"

	"gonum.org/v1/gonum/mat"
)

// Draws from the posterior of a clustering are partitions: what matters is
// which rows share a label, not the label. Labels are switched from draw to
// draw, so anything that is averaged per label means nothing. What follows
// does not depend on the labels.

// Canonical returns the same partition with its labels numbered 0, 1, … in the
// order in which they first appear. Two labellings are the same partition
// if and only if their canonical forms are equal.
func Canonical(z []int) []int {
	name := make(map[int]int)
	c := make([]int, len(z))
	for i, l := range z {
		k, ok := name[l]
		if !ok {
			k = len(name)
			name[l] = k
		}
		c[i] = k
	}
	return c
}

// NumClusters returns the number of different labels.
func NumClusters(z []int) int {
	seen := make(map[int]struct{})
	for _, l := range z {
		seen[l] = struct{}{}
	}
	return len(seen)
}

// NumClustersProb returns the posterior of the number of clusters as draws
// show it: element K is the share of them with K different labels.
func NumClustersProb(draws [][]int) []float64 {
	var p []float64
	for _, z := range draws {
		k := NumClusters(z)
		if k >= len(p) {
			p = append(p, make([]float64, k+1-len(p))...)
		}
		p[k] += 1 / float64(len(draws))
	}
	return p
}

// CoClustering returns the similarity matrix, n×n: element (i, j) is the share of
// the draws in which rows i and j have the same label, an estimate of the
// posterior probability that they belong together. It panics if there are no
// draws or if their lengths differ.
//
// Cost: O(S·n²) for S draws.
func CoClustering(draws [][]int) *mat.SymDense {
	n := checkDraws("CoClustering", draws)
	if n == 0 {
		return &mat.SymDense{}
	}
	s := mat.NewSymDense(n, nil)
	raw := s.RawSymmetric()
	for i := range n {
		row := raw.Data[i*raw.Stride:][:n]
		for _, z := range draws {
			label := z[i]
			for j := i; j < n; j++ {
				if z[j] == label {
					row[j]++
				}
			}
		}
		for j := i; j < n; j++ {
			row[j] /= float64(len(draws))
		}
	}
	return s
}

// checkDraws returns the number of rows that the draws label.
func checkDraws(name string, draws [][]int) int {
	if len(draws) == 0 {
		panic("clustering: " + name + " of no draws")
	}
	for s, z := range draws {
		if len(z) != len(draws[0]) {
			panic(fmt.Sprintf("clustering: %s of %d labels in draw %d and %d in draw 0", name, len(z), s, len(draws[0])))
		}
	}
	return len(draws[0])
}

// Partitions goes through all partitions of n rows, each once, in canonical
// form and lexicographic order. There are as many as the Bell number says: 15
// for n = 4, 21,147 for n = 9, 10,480,142,147 for n = 15. The slice is
// overwritten by the next one. It panics if n is negative.
func Partitions(n int) iter.Seq[[]int] {
	if n < 0 {
		panic(fmt.Sprintf("clustering: Partitions with n = %d", n))
	}
	return func(yield func([]int) bool) {
		z, most := make([]int, n), make([]int, n+1) // most[i] labels are used before row i
		for i := range n {
			most[i+1] = 1
		}
		for yield(z) {
			i := n - 1
			for i > 0 && z[i] == most[i] {
				i--
			}
			if i <= 0 {
				return
			}
			z[i]++
			most[i+1] = max(most[i], z[i]+1)
			for j := i + 1; j < n; j++ {
				z[j], most[j+1] = 0, most[j]
			}
		}
	}
}

// sizesOf returns the sizes of the clusters, in canonical order.
func sizesOf(z []int) []int {
	var sizes []int
	for _, k := range Canonical(z) {
		if k == len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[k]++
	}
	return sizes
}
