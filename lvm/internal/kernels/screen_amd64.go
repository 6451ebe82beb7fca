package kernels

import "math"

//go:generate go run ./gen/screen -out screen_amd64.s -stubs screen_stubs_amd64.go -pkg kernels

func screen(found Screened, x []float32, d int, rows []int32, panel []float32, first int) {
	if active == portable {
		screenPortable(found, x, d, rows, panel, first)
		return
	}
	kernel := screen16AVX2
	if len(panel) == 32*d {
		kernel = screen32AVX2
	}
	n := len(rows)
	whole := n &^ 7
	if whole > 0 {
		kernel(&found.Index[0], &found.Least[0], &found.Second[0], &x[0], d, &rows[0], whole, &panel[0], first)
	}
	if whole < n {
		var list, index [8]int32
		var least, second [8]float32
		for i := range list {
			list[i] = rows[min(whole+i, n-1)]
			least[i], second[i] = float32(math.Inf(1)), float32(math.Inf(1))
		}
		copy(index[:], found.Index[whole:])
		copy(least[:], found.Least[whole:])
		copy(second[:], found.Second[whole:])
		kernel(&index[0], &least[0], &second[0], &x[0], d, &list[0], len(list), &panel[0], first)
		copy(found.Index[whole:], index[:])
		copy(found.Least[whole:], least[:])
		copy(found.Second[whole:], second[:])
	}
}
