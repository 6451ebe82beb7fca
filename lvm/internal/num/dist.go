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
