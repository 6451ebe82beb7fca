package main

import (
	"math"

	. "github.com/mmcloughlin/avo/reg"
)

// reduce splits x = k ln 2 + r with |r| ≤ ln 2 / 2. The last bits of n are k + offset.
func (s simd) reduce(x VecVirtual, offset int) (r, n VecVirtual) {
	round := s.number(1.5*math.Ldexp(1, s.Mantissa) + float64(offset))
	n = s.load(s.number(math.Log2E))
	s.do(s.fmadd213, round, x, n)
	k := s.minus(n, round)
	r = x
	s.do(s.fnmadd231, s.number(s.Ln2Hi), k, r)
	s.do(s.fnmadd231, s.number(s.Ln2Lo), k, r)
	return r, n
}

// expBounded overwrites x, which is NaN or within the bounds of exp.
func (s simd) expBounded(x VecVirtual) VecVirtual {
	r, n := s.reduce(x, 2*s.Bias)
	p := s.polynomial(s.Exp, r, s.times(r, r))
	s.do(s.fmadd213, s.number(1), r, p)
	s.do(s.fmadd213, s.number(1), r, p)
	half := s.right(n, 1)
	p = s.times(p, s.left(half, s.Mantissa))
	return s.times(p, s.left(s.minusInt(n, half), s.Mantissa))
}

func (s simd) bounded(x VecVirtual) VecVirtual {
	return s.atMost(s.atLeast(x, s.number(s.ExpLow)), s.number(s.ExpHigh))
}

// expNegative returns exp(-|x|).
func (s simd) expNegative(x VecVirtual) VecVirtual {
	return s.expBounded(s.atLeast(s.bitOr(x, s.sign()), s.number(s.ExpLow)))
}

func (s simd) sign() constant { return s.number(math.Copysign(0, -1)) }

// nanFrom returns y with the one NaN in the lanes where x is NaN.
func (s simd) nanFrom(x, y VecVirtual) VecVirtual {
	return s.choose(s.where(x, unordered, x), s.pattern(s.nan), y)
}

func (s simd) exp(x VecVirtual) VecVirtual {
	return s.nanFrom(x, s.expBounded(s.bounded(x)))
}

func (s simd) sigmoid(x VecVirtual) VecVirtual {
	t := s.expNegative(x)
	one := s.number(1)
	top := s.choose(s.where(x, less, s.number(0)), t, s.load(one))
	return s.nanFrom(x, s.over(top, s.plus(t, one)))
}

func (s simd) tanh(x VecVirtual) VecVirtual {
	y := s.atLeast(s.bitOr(x, s.sign()), s.number(-s.TanhHigh))
	r, n := s.reduce(s.plus(y, y), s.Bias)
	power := s.left(n, s.Mantissa)
	square := s.times(r, r)
	h := s.polynomial(s.Expm1, r, square)
	s.do(s.fmadd213, r, square, h)
	s.do(s.fmadd213, s.minus(power, s.number(1)), power, h)
	t := s.over(h, s.plus(h, s.number(2)))
	t = s.bitAnd(t, s.magnitude())
	return s.nanFrom(x, s.bitOr(t, s.bitAnd(x, s.sign())))
}

func (s simd) magnitude() constant { return s.pattern(s.bits(math.Copysign(0, -1)) - 1) }

func (s simd) softplus(x VecVirtual) VecVirtual {
	l := s.log1p(s.expNegative(x), nil, s.Log1p)
	return s.nanFrom(x, s.plus(l, s.binary(s.max, x, s.number(0))))
}

// log1p returns log(1+f) + c; without c if it is nil.
func (s simd) log1p(f VecVirtual, c *VecVirtual, p []float64) VecVirtual {
	t := s.over(f, s.plus(f, s.number(2)))
	z := s.times(t, t)
	h := s.times(s.times(f, s.number(0.5)), f)
	w := s.polynomial(p, z, s.times(z, z))
	s.do(s.fmadd213, h, z, w)
	if c == nil {
		w = s.times(w, t)
	} else {
		s.do(s.fmadd213, *c, t, w)
	}
	return s.minus(f, s.minus(h, w))
}

func (s simd) log(x VecVirtual) VecVirtual {
	small := s.where(x, less, s.number(math.Ldexp(1, 1-s.Bias)))
	y := s.choose(small, s.times(x, s.number(math.Ldexp(1, s.Normalise))), x)
	offset := math.Ldexp(1, s.Mantissa) + float64(s.Bias)
	shift := s.choose(small, s.number(offset+float64(s.Normalise)), s.load(s.number(offset)))
	y = s.logNormal(y, shift)
	y = s.choose(s.where(x, equal, s.number(0)), s.number(math.Inf(-1)), y)
	y = s.choose(s.where(x, notGreaterEqual, s.number(0)), s.pattern(s.nan), y)
	return s.choose(s.where(x, equal, s.number(math.Inf(1))), x, y)
}

// logNormal is the logarithm of x = 2^k m, √½ ≤ m < √2, times 2^(bias - (shift - 2^mantissa)).
func (s simd) logNormal(x VecVirtual, shift VecVirtual) VecVirtual {
	one := s.bits(1)
	n := s.plusInt(x, s.pattern(one-s.bits(s.SqrtHalf)))
	k := s.bitOr(s.right(n, s.Mantissa), s.number(math.Ldexp(1, s.Mantissa)))
	k = s.minus(k, shift)
	exponent := s.bitAnd(n, s.pattern(-(uint64(1)<<s.Mantissa)&(1<<(8*s.size)-1)))
	m := s.plusInt(s.minusInt(x, exponent), s.pattern(one))
	c := s.times(k, s.number(s.Ln2Lo))
	y := s.log1p(s.minus(m, s.number(1)), &c, s.Log)
	s.do(s.fmadd231, s.number(s.Ln2Hi), k, y)
	return y
}
