package clustering

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Between 1/largest and largest a product of a squared distance and a weight
// keeps its digits.
const largest = 1e140

// weighted is checked data with its row weights.
type weighted struct {
	num.Rows
	w      []float64
	total  float64   // of w
	origin []float64 // amid the rows
	reach  []float64 // the largest difference from it in each column
	spread float64   // and in any
}

// newWeighted checks that the values and weights are finite and within the
// range in which distances can be squared and summed.
func newWeighted(op string, x mat.Matrix, w []float64) (weighted, error) {
	if n, d := x.Dims(); n == 0 || d == 0 {
		_, err := num.CheckData(op, x)
		return weighted{}, err
	}
	rows := num.RowsOf(x)
	w, err := num.CheckWeights(op, w, rows.N)
	if err != nil {
		return weighted{}, err
	}
	var total float64
	for _, v := range w {
		total += v
	}
	if total > largest || total < 1/largest {
		return weighted{}, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the row weights sum to %.3g", total), Try: "weights around 1"}
	}

	low, high, ok := extent(rows)
	if !ok {
		return weighted{}, outOfRange(op, rows, x)
	}
	origin, reach := middle(rows), make([]float64, rows.D)
	for j, o := range origin {
		reach[j] = max(high[j]-o, o-low[j])
	}
	spread := slices.Max(reach)
	if spread > 0 && spread < 1/largest {
		return weighted{}, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the rows differ by about %.3g, and its square underflows", spread), Try: "multiplying the data by a power of ten"}
	}
	return weighted{rows, w, total, origin, reach, spread}, nil
}

// extent returns the smallest and the largest value of every column, or false if one is
// not finite or too large.
func extent(rows num.Rows) (low, high []float64, ok bool) {
	low, high = slices.Clone(rows.Row(0)), slices.Clone(rows.Row(0))
	blocks := num.BlocksOf(rows.N)
	lows, highs := make([]float64, blocks.Count()*rows.D), make([]float64, blocks.Count()*rows.D)
	good := make([]bool, blocks.Count())
	blocks.Each(func(_, b, lo, hi int) {
		low, high := lows[b*rows.D:(b+1)*rows.D], highs[b*rows.D:(b+1)*rows.D]
		copy(low, rows.Row(0))
		copy(high, rows.Row(0))
		for i := lo; i < hi; i++ {
			row := rows.Row(i)
			low, high := low[:len(row)], high[:len(row)]
			for j, v := range row {
				if !(low[j] <= v && v <= high[j]) { // rare
					low[j], high[j] = min(low[j], v), max(high[j], v) // NaN if v is
				}
			}
		}
		good[b] = true
		for j := range low {
			if !(-largest <= low[j] && high[j] <= largest) {
				good[b] = false
			}
		}
	})
	for i := range lows {
		low[i%rows.D] = min(low[i%rows.D], lows[i])
		high[i%rows.D] = max(high[i%rows.D], highs[i])
	}
	return low, high, !slices.Contains(good, false)
}

// middle returns about the mean of rows from all over the data. It has few digits,
// so that differences from it are exact as a rule.
func middle(rows num.Rows) []float64 {
	some := min(rows.N, 256)
	first := rows.Row(0)
	mean, reach := make([]float64, rows.D), make([]float64, rows.D)
	for s := range some {
		for j, v := range rows.Row(s * rows.N / some) {
			mean[j] += (v - first[j]) / float64(some)
			reach[j] = max(reach[j], math.Abs(v-first[j]))
		}
	}
	for j, m := range mean {
		_, exp := math.Frexp(reach[j])
		mean[j] = first[j] + m
		if digits := math.Ldexp(mean[j], 4-exp); reach[j] > 0 && math.Abs(digits) < 0x1p53 {
			mean[j] = math.Ldexp(math.Round(digits), exp-4)
		}
	}
	return mean
}

// outOfRange returns the error for the first value that is not finite, or else
// for the first that is too large.
func outOfRange(op string, rows num.Rows, x mat.Matrix) error {
	if _, err := num.CheckData(op, x); err != nil {
		return err
	}
	for i := range rows.N {
		for j, v := range rows.Row(i) {
			if math.Abs(v) > largest {
				return &lvm.DataError{Op: op, Row: i, Col: j, Problem: fmt.Sprintf("the square of %.3g overflows", v), Try: "dividing the data by a power of ten"}
			}
		}
	}
	return nil
}

// checkComponents returns a *lvm.DataError if k < 1.
func checkComponents(op string, k int) error {
	if k < 1 {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("k is %d", k), Try: "at least 1"}
	}
	return nil
}

// checkDistinct returns a *lvm.DataError if fewer than k rows of positive
// weight differ from each other.
func (d weighted) checkDistinct(op string, k int) error {
	seen := make(map[string]bool)
	key := make([]byte, 8*d.D)
	rows := 0
	for i := range d.N {
		if d.w[i] == 0 {
			continue
		}
		rows++
		for j, v := range d.Row(i) {
			binary.LittleEndian.PutUint64(key[8*j:], math.Float64bits(v+0)) // +0 makes −0 equal to 0
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			if len(seen) == k {
				return nil
			}
		}
	}
	problem := fmt.Sprintf("fewer rows, %d, than clusters, %d", rows, k)
	if rows >= k {
		problem = fmt.Sprintf("fewer distinct rows, %d of %d, than clusters, %d", len(seen), rows, k)
	}
	return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: problem, Try: fmt.Sprintf("k ≤ %d", len(seen))}
}
