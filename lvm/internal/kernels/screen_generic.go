//go:build !amd64

package kernels

func screen(found Screened, x []float32, d int, rows []int32, panel []float32, first int) {
	screenPortable(found, x, d, rows, panel, first)
}
