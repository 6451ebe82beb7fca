package kernels

//go:generate go run ./gen/columns -out columns_amd64.s -stubs columns_stubs_amd64.go -pkg kernels

func whitenedSquares(q, x, mean, l, scratch []float64) {
	if active == portable {
		whitenedSquaresPortable(q, x, mean, l, scratch)
		return
	}
	whitenedSquaresAVX2(&q[0], &x[0], &mean[0], &l[0], &scratch[0], len(mean), len(q))
}

func scaledSquares(q, x, mean, scale []float64) {
	if active == portable {
		scaledSquaresPortable(q, x, mean, scale)
		return
	}
	scaledSquaresAVX2(&q[0], &x[0], &mean[0], &scale[0], len(mean), len(q))
}

func centre(y, wy, x, w []float64, mean float64) float64 {
	if active == portable {
		return centrePortable(y, wy, x, w, mean)
	}
	return centreAVX2(&y[0], &wy[0], &x[0], &w[0], mean, len(x))
}

func products(dst *[8]float64, a0, a1, b0, b1, b2, b3 []float64, n int) {
	if active == portable {
		productsPortable(dst, a0, a1, b0, b1, b2, b3, n)
		return
	}
	productsAVX2(&dst[0], &a0[0], &a1[0], &b0[0], &b1[0], &b2[0], &b3[0], n)
}
