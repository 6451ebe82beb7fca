package kernels

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// fenced returns a copy of v that ends where the memory of the process does.
func fenced[T float64 | float32 | int32](t *testing.T, v []T) []T {
	t.Helper()
	const page = 4096
	bytes := len(v) * int(unsafe.Sizeof(v[0]))
	size := (bytes + page - 1) / page * page
	memory, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(memory) })
	if err := syscall.Mprotect(memory[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	c := unsafe.Slice((*T)(unsafe.Pointer(&memory[size-bytes])), len(v))
	copy(c, v)
	return c
}

// A read or write past an operand is a segmentation fault here.
func TestNearestStaysInside(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 4))
		for d := 1; d <= 9; d++ {
			for m := 1; m <= 13; m++ {
				dst := fenced(t, make([]float64, m))
				SqDistRow(dst, fenced(t, awkward(rng, d, false)), fenced(t, awkward(rng, d*m, false)))
				TwoLeast(dst)
				places := fenced(t, make([]float64, Places(d)))
				cut := &Cut{fenced(t, make([]float64, d)), places, places}
				MoveRows(fenced(t, make([]float64, 4*Places(d))), fenced(t, awkward(rng, d, false)), d, d, []Move{{0, 0, 1}, {0, 1, 0}}, []float64{2}, cut)
			}
		}
	})
}

func TestScreenStaysInside(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		for d := 1; d <= 5; d++ {
			for _, k := range []int{1, 16, 17, 32, 33, 60} {
				for n := 1; n <= 17; n++ {
					for _, form := range forms {
						panels := form(make([]float32, k*d), d, 0)
						panels.c = fenced(t, panels.c)
						panels.Screen(fenced(t, make([]int32, n)), fenced(t, make([]float32, n)), fenced(t, make([]float32, d)), fenced(t, make([]float32, 1)), fenced(t, make([]int32, n)))
					}
				}
			}
		}
	})
}
