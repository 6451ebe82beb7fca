package kernels

import "math"

// SqDist returns Σ_j (x_j − y_j)².
//
// Lane l = j mod 4 adds its terms in the order of j by fused multiply-add, and
// the result is (s0+s1) + (s2+s3). It panics if x and y differ in length.
func SqDist(x, y []float64) float64 {
	var d [1]float64
	SqDistRow(d[:], x, y)
	return d[0]
}

// SqDistRow sets dst to the squared distances between x and as many rows as
// dst has places, which lie one after the other in rows. Each has the bits of
// SqDist. It panics unless len(rows) = len(dst)·len(x).
func SqDistRow(dst, x, rows []float64) {
	if len(rows) != len(dst)*len(x) {
		panic("kernels: SqDistRow with slices that do not fit")
	}
	if len(x) == 0 {
		clear(dst)
		return
	}
	if len(dst) > 0 {
		sqDistRow(dst, x, rows)
	}
}

// TwoLeast returns the least value of v, the first index that has it, and the
// least of the others. NaN values are passed over; what is missing is +Inf, and
// the index is −1 if no value is less than +Inf.
func TwoLeast(v []float64) (index int, least, second float64) {
	if len(v) == 0 {
		return -1, math.Inf(1), math.Inf(1)
	}
	return twoLeast(v)
}

func sqDistRowPortable(dst, x, rows []float64) {
	d := len(x)
	for i := range dst {
		y := rows[i*d : (i+1)*d]
		var s0, s1, s2, s3 float64
		j := 0
		for ; j+4 <= d; j += 4 {
			a, b := x[j:j+4:j+4], y[j:j+4:j+4]
			t0, t1, t2, t3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
			s0, s1, s2, s3 = math.FMA(t0, t0, s0), math.FMA(t1, t1, s1), math.FMA(t2, t2, s2), math.FMA(t3, t3, s3)
		}
		for ; j < d; j++ {
			t := x[j] - y[j]
			switch j % 4 {
			case 0:
				s0 = math.FMA(t, t, s0)
			case 1:
				s1 = math.FMA(t, t, s1)
			case 2:
				s2 = math.FMA(t, t, s2)
			}
		}
		dst[i] = (s0 + s1) + (s2 + s3)
	}
}

func twoLeastPortable(v []float64) (index int, least, second float64) {
	index, least, second = -1, math.Inf(1), math.Inf(1)
	for i, x := range v {
		if x < least {
			index, least, second = i, x, least
		} else if x < second {
			second = x
		}
	}
	return index, least, second
}
