//go:build !amd64

package kernels

func rowProducts(m, n int, a *float64, stride int, x, sums *float64) {
	rowProductsPortable(m, n, a, stride, x, sums)
}
