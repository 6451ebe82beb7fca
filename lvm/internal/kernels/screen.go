package kernels

import "math"

// Screened is what Screen finds out about a row.
type Screened struct {
	Index         int32   // of the centre that seems nearest, in the panel
	Least, Second float32 // the two least distances
}

// Screen measures rows against a panel of 16 or 32 centres in single precision.
// Row r of x is x[r·d : (r+1)·d], and panel[j·width+l] is coordinate j of centre
// l. It sets dst[i] for row rows[i].
//
// The distances have a relative error of (d+4)·2⁻²⁴ at most, unless their
// squares underflow. Their bits and the choice between equals depend on the
// processor, so a caller must allow for the error.
func Screen(dst []Screened, x []float32, d int, rows []int32, panel []float32) {
	if len(dst) != len(rows) || len(panel) != 16*d && len(panel) != 32*d {
		panic("kernels: Screen with slices that do not fit")
	}
	for _, r := range rows {
		_ = x[int(r)*d : (int(r)+1)*d] // the assembly does not check
	}
	if d > 0 && len(rows) > 0 {
		screen(dst, x, d, rows, panel)
	}
}

func screenPortable(dst []Screened, x []float32, d int, rows []int32, panel []float32) {
	width := len(panel) / d
	var room [32]float32
	for i, r := range rows {
		sums := room[:width]
		clear(sums)
		for j, v := range x[int(r)*d : (int(r)+1)*d] {
			for l, c := range panel[width*j : width*(j+1)] {
				t := v - c
				sums[l] += t * t
			}
		}
		s := Screened{-1, float32(math.Inf(1)), float32(math.Inf(1))}
		for l, v := range sums {
			if v < s.Least || l == 0 {
				s = Screened{int32(l), v, s.Least}
			} else if v < s.Second {
				s.Second = v
			}
		}
		s.Least = float32(math.Sqrt(float64(s.Least)))
		s.Second = float32(math.Sqrt(float64(s.Second)))
		dst[i] = s
	}
}
