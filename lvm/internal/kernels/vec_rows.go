package kernels

import (
	"fmt"
	"math"

	"github.com/latent-lessons/latent/lvm/internal/kernels/coef"
)

// LogSumExpRows sets lse[i] = log Σ_j e^x[i,j] and replaces x[i,j] by the posterior
// e^(x[i,j] - lse[i]): with x the logarithm of p(x_i, z_i=j), lse is that of p(x_i)
// and the row becomes p(z_i=j | x_i). Neither overflows nor underflows on the way.
//
// The largest element m of the row is taken out first; the sum goes from left to right.
// With u = 2⁻⁵³ (2⁻²⁴ for float32) and k columns, a posterior has a relative error
// below (m - x[i,j] + k + 10) u, lse[i] an error below (|lse[i]| + k + 3 log k + 4) u.
//
// A row that holds NaN gets NaN, for lse too; a row that holds +Inf, or -Inf alone,
// gets that for lse and NaN for the posterior. So lse alone tells whether a row is
// usable. It panics if lse has not one element per row, if x has no columns or its
// rows are not in one piece, or if the two overlap.
func LogSumExpRows[T Float](lse []T, x Matrix[T]) {
	switch {
	case len(lse) != x.Rows:
		panic(fmt.Sprintf("kernels: %d log-sums for %d rows", len(lse), x.Rows))
	case x.Rows == 0:
		return
	case x.Cols == 0:
		panic("kernels: log-sum of rows without columns")
	case x.ColStride != 1:
		panic("kernels: log-sum of rows that are not in one piece")
	}
	refuseOverlap("the log-sum", Of(x.Rows, 1, lse, 1), x)
	v := vectors[T]()
	if v.rows == nil {
		c := constants[T]()
		for i := range x.Rows {
			lse[i] = logSumExp(c, x.row(i))
		}
		return
	}

	// The assembly does as many rows at a time as a vector has lanes. The rest goes
	// through a copy, padded with whatever the buffer holds.
	buffer := borrow[T](2 * v.lanes * x.Cols)
	defer giveBack(buffer)
	scratch, pad := &(*buffer)[0], (*buffer)[v.lanes*x.Cols:]
	whole := x.Rows / v.lanes * v.lanes
	if whole > 0 {
		v.rows(whole, x.Cols, x.at(0, 0), x.RowStride, &lse[0], scratch)
	}
	if whole == x.Rows {
		return
	}
	var last [16]T
	for i := whole; i < x.Rows; i++ {
		copy(pad[(i-whole)*x.Cols:], x.row(i))
	}
	v.rows(v.lanes, x.Cols, &pad[0], x.Cols, &last[0], scratch)
	for i := whole; i < x.Rows; i++ {
		copy(x.row(i), pad[(i-whole)*x.Cols:])
	}
	copy(lse[whole:], last[:])
}

// logSumExp is LogSumExpRows for one row.
func logSumExp[T Float](c *coef.Constants[T], row []T) T {
	top := T(math.Inf(-1))
	for _, x := range row {
		if x > top {
			top = x
		}
	}
	shift := top
	if math.IsInf(float64(top), 0) {
		shift = 0
	}
	var sum T
	for j, x := range row {
		row[j] = expBounded(c, min(max(x-shift, c.ExpLow), c.ExpHigh))
		sum += row[j]
	}
	lse, r := logNormal(c, sum, c.Bias)+shift, 1/sum
	switch {
	case sum != sum:
		lse, r = c.NaN, c.NaN
	case math.IsInf(float64(top), 0):
		lse, r = top, c.NaN
	}
	for j := range row {
		if row[j] *= r; r != r {
			row[j] = c.NaN
		}
	}
	return lse
}
