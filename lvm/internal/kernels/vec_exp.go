package kernels

import (
	"math"
	"unsafe"

	"github.com/latent-lessons/latent/lvm/internal/kernels/coef"
)

// The functions called scalar… define the vector functions, one number at a time. The
// assembly takes the same steps on whole vectors.

func scalarExp[T Float](c *coef.Constants[T], x T) T {
	if x != x {
		return c.NaN
	}
	return expBounded(c, min(max(x, c.ExpLow), c.ExpHigh))
}

func scalarSigmoid[T Float](c *coef.Constants[T], x T) T {
	if x != x {
		return c.NaN
	}
	t := expBounded(c, max(-abs(x), c.ExpLow))
	if x < 0 {
		return t / (t + 1)
	}
	return 1 / (t + 1)
}

// tanh |x| = -u / (u+2) with u = e^(-2|x|) - 1 = 2^k (e^r - 1) + (2^k - 1), which is
// good to the last bits near zero too: there k = 0.
func scalarTanh[T Float](c *coef.Constants[T], x T) T {
	if x != x {
		return c.NaN
	}
	y := max(-abs(x), -c.TanhHigh)
	r, n := reduce(c, y+y, c.Bias)
	power := fromBits[T](n << c.Mantissa)
	square := T(r * r)
	u := fma(polynomial(c.Expm1, r, square), square, r)
	u = fma(u, power, power-1)
	return copySign(u/(u+2), x)
}

// expBounded returns e^x = 2^k e^r for x NaN or within the bounds. The power of two
// goes in as two factors, since it may overflow or underflow where the result does
// not; so only the last product can round, to a subnormal number.
func expBounded[T Float](c *coef.Constants[T], x T) T {
	r, n := reduce(c, x, 2*c.Bias)
	half := n >> 1
	p := fma(fma(polynomial(c.Exp, r, T(r*r)), r, 1), r, 1)
	p *= fromBits[T](half << c.Mantissa)
	return T(p * fromBits[T]((n-half)<<c.Mantissa))
}

// reduce splits x = k ln 2 + r with |r| ≤ ln 2 / 2. The last bits of n are k + offset.
func reduce[T Float](c *coef.Constants[T], x T, offset int) (r T, n uint64) {
	// So large a number has no room for a fraction: adding it rounds to an integer.
	round := fromBits[T](uint64(c.Bias+c.Mantissa)<<c.Mantissa | 1<<(c.Mantissa-1) | uint64(offset))
	z := fma(math.Log2E, x, round)
	k := z - round
	r = fma(-k, c.Ln2Hi, x)
	return fma(-k, c.Ln2Lo, r), toBits(z)
}

// polynomial returns p at x. It sums even and odd powers apart, so that a processor
// works on both at once.
func polynomial[T Float](p []T, x, square T) T {
	a, b := p[0], p[1]
	i := 2
	for ; i+1 < len(p); i += 2 {
		a, b = fma(a, square, p[i]), fma(b, square, p[i+1])
	}
	if i < len(p) {
		a, b = b, fma(a, square, p[i])
	}
	return fma(a, x, b)
}

func abs[T Float](x T) T { return T(math.Abs(float64(x))) }

func copySign[T Float](x, sign T) T { return T(math.Copysign(float64(x), float64(sign))) }

func toBits[T Float](x T) uint64 {
	if unsafe.Sizeof(x) == 8 {
		return math.Float64bits(float64(x))
	}
	return uint64(math.Float32bits(float32(x)))
}

// fromBits returns the number of the last bits of b.
func fromBits[T Float](b uint64) T {
	if unsafe.Sizeof(T(0)) == 8 {
		return T(math.Float64frombits(b))
	}
	return T(math.Float32frombits(uint32(b)))
}
