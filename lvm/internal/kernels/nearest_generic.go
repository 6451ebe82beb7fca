//go:build !amd64

package kernels

func sqDistRow(dst, x, rows []float64) { sqDistRowPortable(dst, x, rows) }

func twoLeast(v []float64) (index int, least, second float64) { return twoLeastPortable(v) }

func addMoments(sums, squares, x []float64, d, stride int, rows, labels, origin []int32, w []float64) {
	addMomentsPortable(sums, squares, x, d, stride, rows, labels, origin, w)
}
