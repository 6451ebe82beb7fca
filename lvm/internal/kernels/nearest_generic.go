//go:build !amd64

package kernels

func sqDistRow(dst, x, rows []float64) { sqDistRowPortable(dst, x, rows) }

func twoLeast(v []float64) (index int, least, second float64) { return twoLeastPortable(v) }

func moveRows(sums, x []float64, d, stride int, moves []Move, w []float64, cut *Cut) {
	moveRowsPortable(sums, x, d, stride, moves, w, cut)
}
