package clustering

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Silhouette says how well every row lies in its own group, by Euclidean
// distances alone:
//
//	a_i = mean distance to the other rows of its group
//	b_i = the least, over the other groups, of the mean distance to their rows
//	s_i = (b_i − a_i) / max(a_i, b_i)
//
// near 1 for a row amid its group, about 0 between two groups, negative for a
// row that is nearer to another group. A row that is alone in its group has
// s_i = 0, and so has one with a_i = b_i = 0. The mean over the rows is the one
// number by which groupings into different numbers of groups are compared.
//
// labels are any numbers, equal within a group. A row with a negative label,
// such as Assign gives to a row that it cannot place, is in no group: it gets
// NaN and does not count.
//
// It panics if there is not one label per row. Fewer than two groups, and a
// value in a row with a label that is a NaN, an infinity or beyond ±1e140, are a
// *lvm.DataError.
//
// Cost: O(n²·d) time, O(n·d) memory.
//
// Source: Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation
// and validation of cluster analysis.
func Silhouette(x mat.Matrix, labels []int) (rows []float64, mean float64, err error) {
	const op = "clustering.Silhouette"
	n, _ := x.Dims()
	if len(labels) != n {
		panic(fmt.Sprintf("clustering: Silhouette of %d rows with %d labels", n, len(labels)))
	}
	g := groupRows(x, labels)
	if k := len(g.start) - 1; k < 2 {
		return nil, math.NaN(), &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the labels make %d groups", k), Try: "two groups or more"}
	}
	for r, i := range g.row {
		for j, v := range g.Row(r) {
			if !(math.Abs(v) <= largest) {
				return nil, math.NaN(), &lvm.DataError{Op: op, Row: i, Col: j, Problem: fmt.Sprintf("the value is %v", v), Try: "the label −1 for that row, or scaling the data"}
			}
		}
	}
	rows = make([]float64, n)
	for i := range rows {
		rows[i] = math.NaN()
	}
	num.BlocksOf(g.N).Each(func(_, _, lo, hi int) {
		distance := make([]float64, g.N)
		for r := lo; r < hi; r++ {
			g.SqDists(distance, g.Row(r), 0)
			rows[g.row[r]] = g.silhouette(g.group[r], distance)
		}
	})
	for _, i := range g.row {
		mean += rows[i] / float64(g.N)
	}
	return rows, mean, nil
}

// grouped holds the rows that are in a group, group after group.
type grouped struct {
	num.Rows
	row   []int // where each was in x
	group []int // its group, from 0
	start []int // first row of each group, and the number of rows
}

func groupRows(x mat.Matrix, labels []int) grouped {
	var g grouped
	sorted, place := distinct(labels)
	members := make([][]int, len(sorted))
	for i, l := range labels {
		members[place[l]] = append(members[place[l]], i)
	}
	for c, l := range sorted {
		if l < 0 {
			continue
		}
		g.start = append(g.start, len(g.row))
		for _, i := range members[c] {
			g.row, g.group = append(g.row, i), append(g.group, len(g.start)-1)
		}
	}
	g.start = append(g.start, len(g.row))
	if len(g.row) > 0 {
		rows := num.RowsOf(x)
		own := mat.NewDense(len(g.row), rows.D, nil)
		for r, i := range g.row {
			own.SetRow(r, rows.Row(i))
		}
		g.Rows = num.RowsOf(own)
	}
	return g
}

// silhouette returns s_i of a row of the group own, from its squared distances
// to all rows.
func (g grouped) silhouette(own int, d2 []float64) float64 {
	a, b := 0.0, math.Inf(1)
	for c, lo := range g.start[:len(g.start)-1] {
		hi := g.start[c+1]
		var sum float64
		for _, v := range d2[lo:hi] {
			sum += math.Sqrt(v)
		}
		switch {
		case c != own:
			b = min(b, sum/float64(hi-lo))
		case hi-lo == 1:
			return 0
		default:
			a = sum / float64(hi-lo-1)
		}
	}
	if a == b {
		return 0
	}
	return (b - a) / max(a, b)
}
