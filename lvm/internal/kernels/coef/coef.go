// Package coef holds the constants of the vector functions, for the Go code that
// defines them and for the generator of their assembly.
package coef

import "math"

// Constants belong to one floating-point type.
type Constants[T float32 | float64] struct {
	Mantissa, Bias int // stored bits of the mantissa, bias of the exponent
	Normalise      int // a subnormal number times 2^Normalise is normal
	SqrtHalf       T   // √½
	NaN            T   // the one NaN that vector functions write

	// ln 2 in two parts. The first has so few bits that its product with an exponent is exact.
	Ln2Hi, Ln2Lo T

	// Below ExpLow e^x rounds to 0, above ExpHigh to +Inf; above TanhHigh tanh x rounds to 1.
	ExpLow, ExpHigh, TanhHigh T

	// Polynomials from the highest power down, as Horner's rule reads them: minimax
	// fits with machine numbers for coefficients (Brisebarre and Chevillard 2007), which
	// coef.sollya computes.
	//
	//	e^r      = 1 + r + r² P(r)     |r| ≤ ln 2 / 2
	//	e^r - 1  = r + r² P(r)         |r| ≤ ln 2 / 2, relative to r
	//	log(1+f) = 2s + s·s² P(s²)     s = f/(f+2), √½ ≤ 1+f ≤ √2 for Log, 0 ≤ f ≤ 1 for Log1p
	Exp, Expm1, Log, Log1p []T
}

// Float64 holds the constants of float64. Errors of the polynomials, relative to the
// left-hand sides above: 3.8e-18, 3.0e-19, 4.5e-18 and 5.1e-18.
var Float64 = Constants[float64]{
	Mantissa: 52, Bias: 1023, Normalise: 54,
	SqrtHalf: math.Sqrt2 / 2, NaN: math.NaN(),
	Ln2Hi: 0x1.62e42fefa38p-1, Ln2Lo: 0x1.ef35793c7673p-45,
	ExpLow: -746, ExpHigh: 710, TanhHigh: 20,
	Exp: []float64{
		0x1.ad92c80429e2fp-26, 0x1.28adf7a81b565p-22, 0x1.71df18fbbbbb6p-19,
		0x1.a0199963c5234p-16, 0x1.a01a012fec30cp-13, 0x1.6c16c18475a25p-10,
		0x1.1111111126b37p-7, 0x1.55555555506cp-5, 0x1.55555555554fep-3,
		0x1.000000000000ap-1,
	},
	Expm1: []float64{
		0x1.1f1a6d9746b6fp-29, 0x1.af5f5df40c136p-26, 0x1.27e51326cf6ebp-22,
		0x1.71ddf7f82aab3p-19, 0x1.a01a018e11cdp-16, 0x1.a01a01b00a51ep-13,
		0x1.6c16c16c1abp-10, 0x1.111111110f64bp-7, 0x1.555555555554dp-5,
		0x1.5555555555559p-3, 0x1p-1,
	},
	Log: []float64{
		0x1.2b58aead60507p-3, 0x1.39fe5b11753d6p-3, 0x1.7462b4ad8fa9fp-3,
		0x1.c71c62e67cc61p-3, 0x1.2492492deeca3p-2, 0x1.9999999995323p-2,
		0x1.5555555555558p-1,
	},
	Log1p: []float64{
		0x1.4ab208c5bce8ep-3, 0x1.68d9b450e8fbp-4, 0x1.eb7aa27d3061bp-4,
		0x1.10add1d463a6fp-3, 0x1.3b1898a3921fbp-3, 0x1.745cf1dd29d61p-3,
		0x1.c71c726941047p-3, 0x1.24924923e32dep-2, 0x1.999999999a248p-2,
		0x1.5555555555555p-1,
	},
}

// Float32 holds the constants of float32. Errors of the polynomials: 3.2e-9, 5.2e-10,
// 2.7e-9 and 3.6e-10.
var Float32 = Constants[float32]{
	Mantissa: 23, Bias: 127, Normalise: 25,
	SqrtHalf: math.Sqrt2 / 2, NaN: float32(math.NaN()),
	Ln2Hi: 0x1.62e4p-1, Ln2Lo: 0x1.7f7d1cp-20,
	ExpLow: -104, ExpHigh: 89, TanhHigh: 10,
	Exp:   []float32{0x1.6a6034p-10, 0x1.123ac6p-7, 0x1.5558ap-5, 0x1.55549p-3, 0x1.fffffcp-2},
	Expm1: []float32{0x1.9e0c94p-13, 0x1.6d4386p-10, 0x1.111306p-7, 0x1.5554fp-5, 0x1.555554p-3, 0x1p-1},
	Log:   []float32{0x1.2ef58p-2, 0x1.997ba2p-2, 0x1.55555cp-1},
	Log1p: []float32{0x1.e0fedep-3, 0x1.bb3862p-3, 0x1.24d734p-2, 0x1.999868p-2, 0x1.555556p-1},
}
