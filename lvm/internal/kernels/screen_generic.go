//go:build !amd64

package kernels

func screen(dst []Screened, x []float32, d int, rows []int32, panel []float32) {
	screenPortable(dst, x, d, rows, panel)
}
