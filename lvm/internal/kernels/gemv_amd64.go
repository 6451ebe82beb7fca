package kernels

//go:generate go run ./gen/gemv -out gemv_amd64.s -stubs gemv_stubs_amd64.go

func rowProducts(m, n int, a *float64, stride int, x, sums *float64) {
	if active == portable {
		rowProductsPortable(m, n, a, stride, x, sums)
	} else {
		rowProductsAVX2(m, n, a, stride, x, sums)
	}
}
