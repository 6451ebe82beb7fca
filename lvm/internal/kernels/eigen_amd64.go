package kernels

//go:generate go run ./gen/eigen -out eigen_amd64.s -stubs eigen_stubs_amd64.go

func fourRows(n int, a *float64, stride int, head, x, y, sums *float64) {
	if active == portable {
		fourRowsPortable(n, a, stride, head, x, y, sums)
	} else {
		fourRowsAVX2(n, a, stride, head, x, y, sums)
	}
}
