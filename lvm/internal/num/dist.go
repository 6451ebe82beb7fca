package num

// SqDist returns ‖a − b‖² for slices of the same length. The order of the
// additions depends on that length alone.
func SqDist(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		t0, t1, t2, t3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
		s0 += t0 * t0
		s1 += t1 * t1
		s2 += t2 * t2
		s3 += t3 * t3
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		t := v - b[i]
		s0 += t * t
	}
	return (s0 + s1) + (s2 + s3)
}
