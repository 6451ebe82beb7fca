package kernels

import (
	"math"

	"github.com/latent-lessons/latent/lvm/internal/kernels/coef"
)

func scalarLog[T Float](c *coef.Constants[T], x T) T {
	switch {
	case x == 0:
		return T(math.Inf(-1))
	case !(x > 0):
		return c.NaN
	case math.IsInf(float64(x), 1):
		return x
	case x < fromBits[T](1<<c.Mantissa): // subnormal
		power := fromBits[T](uint64(c.Bias+c.Normalise) << c.Mantissa)
		return logNormal(c, T(x*power), c.Bias+c.Normalise)
	}
	return logNormal(c, x, c.Bias)
}

// softplus is log(1 + e^x) = log(1 + e^(-|x|)) + max(x, 0).
func scalarSoftplus[T Float](c *coef.Constants[T], x T) T {
	if x != x {
		return c.NaN
	}
	t := expBounded(c, max(-abs(x), c.ExpLow))
	return log1p(c.Log1p, t, 0) + max(x, 0)
}

// logNormal returns log x - (bias - c.Bias) ln 2 for a normal number x. It splits
// x = 2^k m with √½ ≤ m < √2, so that near 1 all comes from log m.
func logNormal[T Float](c *coef.Constants[T], x T, bias int) T {
	one := toBits(T(1))
	bits := toBits(x)
	n := bits + (one - toBits(c.SqrtHalf))                        // its exponent is that of 2^k
	large := fromBits[T](uint64(c.Bias+c.Mantissa) << c.Mantissa) // its last bit is worth 1
	k := fromBits[T](n>>c.Mantissa|toBits(large)) - (large + T(bias))
	m := fromBits[T](bits - n>>c.Mantissa<<c.Mantissa + one)
	return fma(k, c.Ln2Hi, log1p(c.Log, m-1, T(k*c.Ln2Lo)))
}

// log1p returns log(1+f) + c = f - (f²/2 - (f²/2 + s² P(s²)) s - c) with s = f/(f+2).
// So f, which has no error, comes in last (Ng 1993, e_log.c of fdlibm).
func log1p[T Float](p []T, f, c T) T {
	s := f / (f + 2)
	z := T(s * s)
	h := T(T(f*0.5) * f)
	w := fma(polynomial(p, z, T(z*z)), z, h)
	return f - (h - fma(w, s, c))
}
