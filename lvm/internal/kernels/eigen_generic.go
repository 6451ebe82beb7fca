//go:build !amd64

package kernels

func fourRows(n int, a *float64, stride int, head, x, y, sums *float64) {
	fourRowsPortable(n, a, stride, head, x, y, sums)
}
