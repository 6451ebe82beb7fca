package kernels

import (
	"fmt"
	"unsafe"
)

// sumLanes is the number of sums that Sum and Dot keep: element i goes to sum
// i mod sumLanes, the second half of the sums is added to the first until one is left.
func sumLanes[T Float]() int { return 256 / int(unsafe.Sizeof(T(0))) }

// Sum returns Σ x_i, of 32 interleaved sums (64 for float32) that are added in a tree.
// A sum of zero is +0.
func Sum[T Float](x []T) T {
	return tidy(vectors[T]().sum(len(x), unsafe.SliceData(x)))
}

// Dot returns Σ x_i y_i in the order of Sum, with fused multiply-adds. It panics if
// the lengths differ.
func Dot[T Float](x, y []T) T {
	if len(x) != len(y) {
		panic(fmt.Sprintf("kernels: product of %d and %d elements", len(x), len(y)))
	}
	return tidy(vectors[T]().dot(len(x), unsafe.SliceData(x), unsafe.SliceData(y)))
}

// tidy gives NaN and zero, on whose signs the paths need not agree, one form.
func tidy[T Float](s T) T {
	switch {
	case s != s:
		return constants[T]().NaN
	case s == 0:
		return 0
	}
	return s
}

func sumPortable[T Float](n int, x *T) T {
	var sums [64]T
	lanes := sumLanes[T]()
	for i, v := range unsafe.Slice(x, n) {
		sums[i%lanes] += v
	}
	return fold(sums[:lanes])
}

func dotPortable[T Float](n int, x, y *T) T {
	var sums [64]T
	lanes := sumLanes[T]()
	b := unsafe.Slice(y, n)
	for i, v := range unsafe.Slice(x, n) {
		sums[i%lanes] = fma(v, b[i], sums[i%lanes])
	}
	return fold(sums[:lanes])
}

func fold[T Float](sums []T) T {
	for half := len(sums) / 2; half > 0; half /= 2 {
		for i := range half {
			sums[i] += sums[i+half]
		}
	}
	return sums[0]
}
