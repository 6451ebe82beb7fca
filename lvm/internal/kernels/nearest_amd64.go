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

func moveRows(sums, x []float64, d, stride int, moves []Move, w []float64, cut *Cut) {
	if active == portable {
		moveRowsPortable(sums, x, d, stride, moves, w, cut)
		return
	}
	moveRowsAVX2(&sums[0], &x[0], d, stride, &moves[0].Row, len(moves), &w[0], &cut.Origin[0], &cut.Coarse[0], &cut.Fine[0])
}
