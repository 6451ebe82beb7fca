package kernels

import "testing"

// A read or write outside an operand is a segmentation fault here.
func TestVectorFunctionsStayInside(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		t.Run("float64", vectorsStayInside[float64])
		t.Run("float32", vectorsStayInside[float32])
	})
}

func vectorsStayInside[T Float](t *testing.T) {
	most := 40
	if !testing.Short() {
		most = 150
	}
	for _, atEnd := range []bool{true, false} {
		for n := 1; n < most; n++ {
			src := guarded(t, Of(1, n, make([]T, n), n), atEnd).Data
			dst := guarded(t, Of(1, n, make([]T, n), n), atEnd).Data
			for _, f := range elementwiseFunctions[T]() {
				f.vector(dst, src)
				f.vector(src, src)
			}
			Sum(src)
			Dot(dst, src)
		}
		for n := 1; n < 40; n++ {
			for _, k := range []int{1, 2, 3, 5, 8} {
				for stride := k; stride < k+3; stride++ {
					x := guarded(t, Of(n, k, make([]T, (n-1)*stride+k), stride), atEnd)
					lse := guarded(t, Of(1, n, make([]T, n), n), atEnd).Data
					LogSumExpRows(lse, x)
					stride := n + stride - k
					x = guarded(t, Of(k, n, make([]T, (k-1)*stride+n), stride), atEnd).T()
					LogSumExpRows(lse, x)
				}
			}
		}
	}
}
