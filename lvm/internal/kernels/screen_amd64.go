package kernels

//go:generate go run ./gen/screen -out screen_amd64.s -stubs screen_stubs_amd64.go -pkg kernels

func screen(dst []Screened, x []float32, d int, rows []int32, panel []float32) {
	if active == portable {
		screenPortable(dst, x, d, rows, panel)
		return
	}
	kernel := screen16AVX2
	if len(panel) == 32*d {
		kernel = screen32AVX2
	}
	whole := len(rows) &^ 3
	if whole > 0 {
		kernel(&dst[0].Index, &x[0], d, &rows[0], whole, &panel[0])
	}
	if whole < len(rows) {
		var last [4]int32
		var found [4]Screened
		for i := range last {
			last[i] = rows[min(whole+i, len(rows)-1)]
		}
		kernel(&found[0].Index, &x[0], d, &last[0], len(last), &panel[0])
		copy(dst[whole:], found[:])
	}
}
