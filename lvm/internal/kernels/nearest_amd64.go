package kernels

import "math"

//go:generate go run ./gen/nearest -out nearest_amd64.s -stubs nearest_stubs_amd64.go -pkg kernels

func sqDistRow(dst, x, rows []float64) {
	if active == portable {
		sqDistRowPortable(dst, x, rows)
		return
	}
	sqDistRowAVX2(&dst[0], &x[0], &rows[0], len(x), len(dst))
}

func twoLeast(v []float64) (index int, least, second float64) {
	if active == portable {
		return twoLeastPortable(v)
	}
	at, least, second := twoLeastAVX2(&v[0], len(v))
	if math.IsInf(at, 1) {
		return -1, least, second
	}
	return int(at), least, second
}

func addMoments(sums, squares, x []float64, d, stride int, rows, labels, origin []int32, w []float64) {
	if active == portable {
		addMomentsPortable(sums, squares, x, d, stride, rows, labels, origin, w)
		return
	}
	addMomentsAVX2(&sums[0], &squares[0], &x[0], d, stride, &rows[0], len(rows), &labels[0], &origin[0], &w[0])
}
