package kernels

import (
	"fmt"
	"unsafe"

	"github.com/latent-lessons/latent/lvm/internal/kernels/coef"
)

// The vector functions.
//
// Exp, Log, Sigmoid, Tanh and Softplus write f(src[i]) to dst[i]. dst may be src
// itself. They panic if the lengths differ or the slices overlap in any other way.
// They use one core and allocate nothing; callers split their rows.
//
// An element's result depends on that element alone, not on its place in the slice,
// so it has the same bits on every path. Every NaN written is the one of math.NaN.
// Errors are in units in the last place of the exact result; of the smallest number,
// where the result is subnormal. Those of float32 were measured on all 2³² arguments.

// Exp writes e^x, with an error below 1 ulp.
func Exp[T Float](dst, src []T) { apply(vectors[T]().exp, dst, src) }

// Log writes the natural logarithm, with an error below 1 ulp: -Inf at 0 and -0, NaN
// below.
func Log[T Float](dst, src []T) { apply(vectors[T]().log, dst, src) }

// Sigmoid writes 1 / (1 + e^(-x)), with an error below 3 ulp also where it goes to 0.
func Sigmoid[T Float](dst, src []T) { apply(vectors[T]().sigmoid, dst, src) }

// Tanh writes the hyperbolic tangent, with an error below 3 ulp also near 0; that of
// -0 is -0.
func Tanh[T Float](dst, src []T) { apply(vectors[T]().tanh, dst, src) }

// Softplus writes log(1 + e^x), with an error below 3 ulp also where it goes to 0.
func Softplus[T Float](dst, src []T) { apply(vectors[T]().softplus, dst, src) }

// vectorKernels are the vector functions of one path.
type vectorKernels[T Float] struct {
	exp, log, sigmoid, tanh, softplus func(n int, dst, src *T)

	sum func(n int, x *T) T
	dot func(n int, x, y *T) T

	// LogSumExpRows of a matrix by rows and by columns, for a multiple of lanes rows.
	rows, columns func(rows, k int, x *T, stride int, lse, scratch *T)
	lanes         int
}

// vectors returns the vector functions of the active path.
func vectors[T Float]() *vectorKernels[T] {
	if v, ok := any(vectors64[active]).(*vectorKernels[T]); ok {
		return v
	}
	return any(vectors32[active]).(*vectorKernels[T])
}

func constants[T Float]() *coef.Constants[T] {
	if c, ok := any(&coef.Float64).(*coef.Constants[T]); ok {
		return c
	}
	return any(&coef.Float32).(*coef.Constants[T])
}

func apply[T Float](f func(n int, dst, src *T), dst, src []T) {
	if len(dst) != len(src) {
		panic(fmt.Sprintf("kernels: dst has %d elements, src has %d", len(dst), len(src)))
	}
	to, from := unsafe.SliceData(dst), unsafe.SliceData(src)
	d, s := uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(from))
	if size := uintptr(len(dst)) * unsafe.Sizeof(T(0)); d != s && d < s+size && s < d+size {
		panic("kernels: dst overlaps src without being src")
	}
	f(len(dst), to, from)
}

func portableVectors[T Float]() *vectorKernels[T] {
	return &vectorKernels[T]{
		exp:      each(scalarExp[T]),
		log:      each(scalarLog[T]),
		sigmoid:  each(scalarSigmoid[T]),
		tanh:     each(scalarTanh[T]),
		softplus: each(scalarSoftplus[T]),
		sum:      sumPortable[T],
		dot:      dotPortable[T],
		rows:     logSumExpRowsPortable[T],
		columns:  logSumExpColumnsPortable[T],
		lanes:    1,
	}
}

// each makes a vector function of a scalar one.
func each[T Float](f func(c *coef.Constants[T], x T) T) func(n int, dst, src *T) {
	c := constants[T]()
	return func(n int, dst, src *T) {
		to := unsafe.Slice(dst, n)
		for i, x := range unsafe.Slice(src, n) {
			to[i] = f(c, x)
		}
	}
}
