package clustering

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Hungarian solves the assignment problem: it returns the column of each row,
// no column twice, such that the sum of the costs is as small as possible. The
// cost matrix may be rectangular; with more rows than columns, the rows that
// are left over get −1. It panics on a cost that is NaN or beyond ±1e300.
//
// Cost: O(r²·c) for r ≤ c, by shortest augmenting paths.
//
// Source: Kuhn (1955), The Hungarian method for the assignment problem; Jonker
// and Volgenant (1987), A shortest augmenting path algorithm.
func Hungarian(cost mat.Matrix) []int {
	r, c := cost.Dims()
	if r > c {
		rowOf := Hungarian(cost.T())
		colOf := make([]int, r)
		for i := range colOf {
			colOf[i] = -1
		}
		for j, i := range rowOf {
			colOf[i] = j
		}
		return colOf
	}
	for i := range r {
		for j := range c {
			if v := cost.At(i, j); !(math.Abs(v) <= 1e300) {
				panic(fmt.Sprintf("clustering: Hungarian with the cost %v in row %d, column %d", v, i, j))
			}
		}
	}

	// u and v are prices with cost(i, j) ≥ u_i + v_j, and equal where row i has
	// column j. Column c stands for the row that looks for a column.
	u, v := make([]float64, r), make([]float64, c+1)
	rowOf := make([]int, c+1)
	for j := range rowOf {
		rowOf[j] = -1
	}
	slack := make([]float64, c) // the least cost(i, j) − u_i − v_j over the tree
	from := make([]int, c)      // the column before j on the path to it
	inTree := make([]bool, c+1)
	for i := range r {
		rowOf[c] = i
		for j := range slack {
			slack[j] = math.Inf(1)
		}
		clear(inTree)
		end := c
		for rowOf[end] >= 0 {
			inTree[end] = true
			row, near, step := rowOf[end], -1, math.Inf(1)
			for j := range c {
				if inTree[j] {
					continue
				}
				if s := cost.At(row, j) - u[row] - v[j]; s < slack[j] {
					slack[j], from[j] = s, end
				}
				if slack[j] < step {
					near, step = j, slack[j]
				}
			}
			for j := range inTree {
				if inTree[j] {
					u[rowOf[j]] += step
					v[j] -= step
				} else {
					slack[j] -= step
				}
			}
			end = near
		}
		for end != c {
			rowOf[end] = rowOf[from[end]]
			end = from[end]
		}
	}

	colOf := make([]int, r)
	for j, i := range rowOf[:c] {
		if i >= 0 {
			colOf[i] = j
		}
	}
	return colOf
}
