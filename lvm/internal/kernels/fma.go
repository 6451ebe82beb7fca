package kernels

import (
	"math"
	"unsafe"
)

// A Float is the type of the numbers that a kernel works on.
type Float interface{ float32 | float64 }

// fma returns x*y + z, rounded once. Scalar code writes either fma(x, y, z) or
// T(x*y) + z; a bare x*y + z leaves it to the compiler and the processor whether
// the product is rounded.
func fma[T Float](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	return T(fma32(float32(x), float32(y), float32(z)))
}

// fma32 returns x*y + z, rounded once to float32, which is what the processor's
// single-precision instruction gives.
//
// The product of two float32 is exact in float64. The sum is not, and rounding it
// again to float32 goes wrong when the first rounding lands on the middle between
// two float32. So the sum is rounded to odd instead (Boldo and Melquiond 2008),
// which no second rounding can mistake for a tie.
func fma32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	bits := math.Float64bits(s)
	const dropped, half = 1<<29 - 1, 1 << 28
	if bits&dropped != half && math.Abs(s) >= 0x1p-126 {
		return float32(s) // neither a tie nor a subnormal float32
	}
	// TwoSum: p + c = s + e exactly (Knuth).
	t := s - p
	e := (p - (s - t)) + (c - t)
	if e == 0 || math.IsNaN(e) || bits&1 == 1 {
		return float32(s)
	}
	if (e > 0) == (s > 0) {
		bits++
	} else {
		bits--
	}
	return float32(math.Float64frombits(bits))
}
