package kernels

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded copies a view's memory to pages whose neighbours cannot be touched: its end
// lies on the end of its pages if atEnd, its start on their start otherwise.
func guarded[T Float](t *testing.T, m Matrix[T], atEnd bool) Matrix[T] {
	t.Helper()
	const page = 4096
	size := len(m.Data) * int(unsafe.Sizeof(m.Data[0]))
	pages := (size + page - 1) / page * page
	memory, err := syscall.Mmap(-1, 0, pages+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(memory) })
	for _, guard := range [][]byte{memory[:page], memory[page+pages:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	from := page
	if atEnd {
		from = page + pages - size
	}
	data := unsafe.Slice((*T)(unsafe.Pointer(&memory[from])), len(m.Data))
	copy(data, m.Data)
	m.Data = data
	return m
}

// A read or write outside an operand is a segmentation fault here.
func testGemmStaysInside[T Float](t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 1))
		for _, m := range []int{1, 2, 3, 5, 6, 7, 13, 25} {
			for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 13, 17, 31, 33} {
				for trans := range 4 {
					k := pick(rng, []int{1, 2, 3, 9, 257})
					for _, atEnd := range []bool{true, false} {
						a := guarded(t, randomView[T](rng, normal, m, k, 0, trans&1 != 0), atEnd)
						b := guarded(t, randomView[T](rng, normal, k, n, 0, trans&2 != 0), atEnd)
						c := guarded(t, randomView[T](rng, normal, m, n, 0, false), atEnd)
						Gemm(1, a, b, T(rng.IntN(2)), c)
					}
				}
			}
		}
	})
}

func TestGemmStaysInside(t *testing.T) {
	t.Run("float64", testGemmStaysInside[float64])
	t.Run("float32", testGemmStaysInside[float32])
}

func testFactorsStayInside[T Float](t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 2))
		for _, n := range []int{1, 2, 3, 7, 31, 33, 70} {
			for _, atEnd := range []bool{true, false} {
				cov := randomCovariance[T](rng, n)
				a := randomView[T](rng, normal, n, n, 0, false)
				copyEach(cov, a)
				for _, part := range []Part{Upper, Lower} {
					f := guarded(t, a, atEnd)
					if i := Cholesky(part, f); i >= 0 {
						t.Fatalf("not positive definite at %d", i)
					}
					for _, rights := range []int{1, 5, 8, 37} {
						for _, transposed := range []bool{false, true} {
							Trsm(part, false, 2, f, guarded(t, randomView[T](rng, normal, n, rights, 0, transposed), atEnd))
						}
					}
				}
				x := guarded(t, randomView[T](rng, normal, 300, n, 0, n%2 == 0), atEnd)
				mean := guarded(t, randomView[T](rng, normal, 1, n, 0, false), atEnd)
				weights := guarded(t, randomView[T](rng, normal, 1, 300, 0, false), atEnd)
				Gram(1, x, mean.Data, weights.Data, 0, guarded(t, a, atEnd))
			}
		}
	})
}

func TestFactorsStayInside(t *testing.T) {
	t.Run("float64", testFactorsStayInside[float64])
	t.Run("float32", testFactorsStayInside[float32])
}

func TestEigenStaysInside(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 3))
		for _, n := range []int{1, 2, 5, 37} {
			for _, atEnd := range []bool{true, false} {
				Eigen(guarded(t, randomView[float64](rng, normal, n, n, 0, false), atEnd), n)
				a := guarded(t, randomView[float64](rng, normal, n, n, 0, false), atEnd)
				x, y := guarded(t, randomView[float64](rng, normal, 1, n, 0, false), atEnd), guarded(t, randomView[float64](rng, normal, 1, n, 0, false), atEnd)
				symmetricPart(a, n, x.Data, y.Data)
			}
		}
	})
}

func TestGemvStaysInside(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 4))
		for _, m := range []int{1, 2, 4, 7, 66} {
			for n := 1; n < 20; n++ {
				for _, atEnd := range []bool{true, false} {
					a := guarded(t, randomView[float64](rng, normal, m, n, 0, false), atEnd)
					x, y := guarded(t, randomView[float64](rng, normal, 1, n, 0, false), atEnd), guarded(t, randomView[float64](rng, normal, 1, m, 0, false), atEnd)
					Gemv(1, a, x.Data, float64(rng.IntN(2)), y.Data)
				}
			}
		}
	})
}
