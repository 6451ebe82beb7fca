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

// Screened is what Screen finds out about rows.
type Screened = kernels.Screened

// Panels returns how many numbers the panels of k centres have, for Screen.
func Panels(k, d int) int { return kernels.Panels(k, d) }

// Screen finds the two least distances of rows of x to the centres of panels in single
// precision: fast, with a relative error of (d+4)·2⁻²⁴ + 2⁻¹⁹ at most, and other bits
// on other processors. Row r of x is x[r·d : (r+1)·d]. There are 32 centres in a panel,
// or 16 in the last one; coordinate j of centre z is in place width·j + z mod 32 of
// panel z/32.
func Screen(found Screened, x []float32, d int, rows []int32, panels []float32) {
	kernels.Screen(found, x, d, rows, panels)
}
