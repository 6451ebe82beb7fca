package kernels

import "math"

// Screened is what Screen finds out about rows.
type Screened struct {
	Index         []int32   // of the centre that seems nearest
	Least, Second []float32 // the two least distances
}

// Panels returns how many numbers the centres take up that Screen wants: k of them,
// with d coordinates each, come in panels of 32, but the last one has 16 if that is
// enough. Panel p begins at 32·d·p, and coordinate j of its centre l is at width·j + l.
// Centres that are missing must be far from all rows.
func Panels(k, d int) int { return (k + 15) / 16 * 16 * d }

// Screen measures rows against panels of centres in single precision. Row r of x is
// x[r·d : (r+1)·d]. Place i of found is for row rows[i].
//
// The distances have a relative error of (d+4)·2⁻²⁴ + 2⁻¹⁹ at most, unless their
// squares underflow. Their bits and the choice between equals depend on the
// processor, so a caller must allow for the error.
func Screen(found Screened, x []float32, d int, rows []int32, panels []float32) {
	n := len(rows)
	if len(found.Index) != n || len(found.Least) != n || len(found.Second) != n || d < 1 || len(panels)%(16*d) != 0 {
		panic("kernels: Screen with slices that do not fit")
	}
	for _, r := range rows {
		_ = x[int(r)*d : (int(r)+1)*d] // the assembly does not check
	}
	// Few enough rows at a time to be in the cache for all panels.
	const some = 256
	for lo := 0; lo < n; lo += some {
		hi := min(lo+some, n)
		part := Screened{found.Index[lo:hi], found.Least[lo:hi], found.Second[lo:hi]}
		for i := range part.Least {
			part.Least[i], part.Second[i] = float32(math.Inf(1)), float32(math.Inf(1))
		}
		clear(part.Index)
		for p := 0; p < len(panels); p += 32 * d {
			screen(part, x, d, rows[lo:hi], panels[p:min(p+32*d, len(panels))], p/d)
		}
	}
}

// screenPortable takes a panel, whose first centre is first, into account.
func screenPortable(found Screened, x []float32, d int, rows []int32, panel []float32, first int) {
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
		for l, v := range sums {
			dist := float32(math.Sqrt(float64(v)))
			if dist < found.Least[i] {
				found.Index[i], found.Least[i], found.Second[i] = int32(first+l), dist, found.Least[i]
			} else if dist < found.Second[i] {
				found.Second[i] = dist
			}
		}
	}
}
