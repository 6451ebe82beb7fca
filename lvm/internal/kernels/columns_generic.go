//go:build !amd64

package kernels

func whitenedSquares(q, x, mean, l, scratch []float64) {
	whitenedSquaresPortable(q, x, mean, l, scratch)
}

func scaledSquares(q, x, mean, scale []float64) { scaledSquaresPortable(q, x, mean, scale) }

func centre(y, wy, x, w []float64, mean float64) float64 {
	return centrePortable(y, wy, x, w, mean)
}

func products(dst *[8]float64, a0, a1, b0, b1, b2, b3 []float64, n int) {
	productsPortable(dst, a0, a1, b0, b1, b2, b3, n)
}
