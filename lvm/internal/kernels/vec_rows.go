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
// usable.
//
// x may be stored by rows or by columns, Of(k, n, data, stride).T(), which is faster;
// the bits are the same. A few hundred rows at a time stay in the cache. It panics if
// lse has not one element per row, if x has no columns or is stored in another way,
// or if the two overlap.
func LogSumExpRows[T Float](lse []T, x Matrix[T]) {
	switch {
	case len(lse) != x.Rows:
		panic(fmt.Sprintf("kernels: %d log-sums for %d rows", len(lse), x.Rows))
	case x.Rows == 0:
		return
	case x.Cols == 0:
		panic("kernels: log-sum of rows without columns")
	case x.ColStride != 1 && x.RowStride != 1:
		panic("kernels: log-sum of a matrix that has neither its rows nor its columns in one piece")
	}
	refuseOverlap("the log-sum", Of(x.Rows, 1, lse, 1), x)
	v := vectors[T]()
	whole := x.Rows / v.lanes * v.lanes
	scratch := borrow[T](max(v.lanes*x.Cols, 2*columnRows))
	defer giveBack(scratch)
	switch {
	case whole == 0:
	case x.ColStride == 1:
		v.rows(whole, x.Cols, x.at(0, 0), x.RowStride, &lse[0], &(*scratch)[0])
	default:
		for i := 0; i < whole; i += columnRows {
			v.columns(min(whole-i, columnRows), x.Cols, x.at(i, 0), x.ColStride, &lse[i], &(*scratch)[0])
		}
	}
	if whole == x.Rows {
		return
	}

	// The rows that do not fill a vector, in a copy by columns that does.
	buffer := borrow[T](v.lanes * (x.Cols + 1))
	defer giveBack(buffer)
	pad, last := Of(x.Cols, v.lanes, *buffer, v.lanes).T(), (*buffer)[v.lanes*x.Cols:]
	x = x.Slice(whole, x.Rows, 0, x.Cols)
	copyTo(pad, x)
	v.columns(v.lanes, x.Cols, pad.at(0, 0), v.lanes, &last[0], &(*scratch)[0])
	copyTo(x, pad.Slice(0, x.Rows, 0, x.Cols))
	copy(lse[whole:], last)
}

// columnRows is the number of rows that are done at a time of a matrix stored by
// columns, so that they stay in the cache. Every vector's lanes divide it.
const columnRows = 128

// copyTo copies x into the corner of dst.
func copyTo[T Float](dst, x Matrix[T]) {
	for i := range x.Rows {
		for j := range x.Cols {
			*dst.at(i, j) = *x.at(i, j)
		}
	}
}

// logSumExp is LogSumExpRows for one row of k elements, a step apart.
func logSumExp[T Float](c *coef.Constants[T], k int, row *T, step int) T {
	top := T(math.Inf(-1))
	for j := range k {
		if x := *offset(row, j*step); x > top {
			top = x
		}
	}
	shift := top
	if math.IsInf(float64(top), 0) {
		shift = 0
	}
	var sum T
	for j := range k {
		x := offset(row, j*step)
		*x = expBounded(c, min(max(*x-shift, c.ExpLow), c.ExpHigh))
		sum += *x
	}
	lse, r := logNormal(c, sum, c.Bias)+shift, 1/sum
	switch {
	case sum != sum:
		lse, r = c.NaN, c.NaN
	case math.IsInf(float64(top), 0):
		lse, r = top, c.NaN
	}
	for j := range k {
		x := offset(row, j*step)
		if *x *= r; r != r {
			*x = c.NaN
		}
	}
	return lse
}

func logSumExpRowsPortable[T Float](rows, k int, x *T, stride int, lse, _ *T) {
	c := constants[T]()
	for i := range rows {
		*offset(lse, i) = logSumExp(c, k, offset(x, i*stride), 1)
	}
}

func logSumExpColumnsPortable[T Float](rows, k int, x *T, stride int, lse, _ *T) {
	c := constants[T]()
	for i := range rows {
		*offset(lse, i) = logSumExp(c, k, offset(x, i), stride)
	}
}
