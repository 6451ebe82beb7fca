package num

import "github.com/latent-lessons/latent/lvm/internal/kernels"

// SqDist returns ‖a − b‖² for slices of the same length. Its bits depend on
// the values alone, not on the processor.
func SqDist(a, b []float64) float64 { return kernels.SqDist(a, b) }

// SqDists sets dst to ‖x − r‖² for the rows r from lo on, one for each place of
// dst, with the bits of SqDist.
func (r Rows) SqDists(dst, x []float64, lo int) {
	if r.stride == r.D {
		kernels.SqDistRow(dst, x, r.data[lo*r.D:(lo+len(dst))*r.D])
		return
	}
	for i := range dst {
		dst[i] = kernels.SqDist(x, r.Row(lo+i))
	}
}

// TwoLeast returns the least value of v, the first index that has it, and the
// least of the others. NaN values are passed over; what is missing is +Inf, and
// the index is −1 if no value is less than +Inf.
func TwoLeast(v []float64) (index int, least, second float64) { return kernels.TwoLeast(v) }

// A Move takes a row from one group to another.
type Move = kernels.Move

// Cut says where the numbers of a row are cut in two, so that sums are exact.
type Cut = kernels.Cut

// Places returns how many places there are for the parts of a row of one size: d for
// the columns, up to three zeros, one for the square, one for the weight, two zeros.
func Places(d int) int { return kernels.Places(d) }

// Move keeps the sums of groups of rows with weights w when rows move: group z has
// 2·Places(d) places of sums, for the coarse parts of Σ w (x_j − o_j), Σ w ‖x − o‖²
// and Σ w, and then for the fine parts.
func (r Rows) Move(sums []float64, moves []Move, w []float64, cut *Cut) {
	kernels.MoveRows(sums, r.data, r.D, r.stride, moves, w, cut)
}

// Panels are centres that rows are screened against in single precision: see Screen.
type Panels = kernels.Panels

// Differences returns panels of centres, k×d, that measure by Σ (x_j − c_j)². Blur is
// how far off the difference of two distances already is.
func Differences(centers []float32, d int, blur float64) *Panels {
	return kernels.Differences(centers, d, blur)
}

// Products returns panels that measure by ‖x‖² + ‖c‖² − 2 Σ x_j c_j: faster, but not so
// well when clusters are small next to the way between them.
func Products(centers []float32, d int, blur float64) *Panels {
	return kernels.Products(centers, d, blur)
}
