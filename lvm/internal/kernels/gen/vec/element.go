package main

import (
	"math"

	"github.com/latent-lessons/latent/lvm/internal/kernels/coef"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// An instruction has a form that reads a whole vector from memory, and one that
// broadcasts a single number. 512-bit code uses the second for constants.
type instruction struct{ whole, broadcast func(...Op) }

// An element is a floating-point type with its constants and its instructions.
type element struct {
	coef.Constants[float64]
	name string
	size int // bytes
	nan  uint64

	add, sub, mul, div, max, min  instruction
	fmadd213, fmadd231, fnmadd231 instruction
	and, or, addInt, subInt       instruction
	compare, blendm               instruction
	shiftLeft, shiftRight         func(...Op)
	move, broadcast               func(...Op)
	maskMove, moveZ               func(_, _, _ Op)
	blendv                        func(_, _, _, _ Op)
}

var double = element{
	Constants: coef.Float64,
	name:      "float64", size: 8, nan: math.Float64bits(coef.Float64.NaN),

	add: instruction{VADDPD, VADDPD_BCST}, sub: instruction{VSUBPD, VSUBPD_BCST},
	mul: instruction{VMULPD, VMULPD_BCST}, div: instruction{VDIVPD, VDIVPD_BCST},
	max: instruction{VMAXPD, VMAXPD_BCST}, min: instruction{VMINPD, VMINPD_BCST},
	fmadd213:  instruction{VFMADD213PD, VFMADD213PD_BCST},
	fmadd231:  instruction{VFMADD231PD, VFMADD231PD_BCST},
	fnmadd231: instruction{VFNMADD231PD, VFNMADD231PD_BCST},
	and:       instruction{VANDPD, VANDPD_BCST}, or: instruction{VORPD, VORPD_BCST},
	addInt: instruction{VPADDQ, VPADDQ_BCST}, subInt: instruction{VPSUBQ, VPSUBQ_BCST},
	compare: instruction{VCMPPD, VCMPPD_BCST}, blendm: instruction{VBLENDMPD, VBLENDMPD_BCST},
	shiftLeft: VPSLLQ, shiftRight: VPSRLQ,
	move: VMOVUPD, broadcast: VBROADCASTSD, maskMove: VMASKMOVPD, moveZ: VMOVUPD_Z, blendv: VBLENDVPD,
}

var single = element{
	Constants: widen(coef.Float32),
	name:      "float32", size: 4, nan: uint64(math.Float32bits(coef.Float32.NaN)),

	add: instruction{VADDPS, VADDPS_BCST}, sub: instruction{VSUBPS, VSUBPS_BCST},
	mul: instruction{VMULPS, VMULPS_BCST}, div: instruction{VDIVPS, VDIVPS_BCST},
	max: instruction{VMAXPS, VMAXPS_BCST}, min: instruction{VMINPS, VMINPS_BCST},
	fmadd213:  instruction{VFMADD213PS, VFMADD213PS_BCST},
	fmadd231:  instruction{VFMADD231PS, VFMADD231PS_BCST},
	fnmadd231: instruction{VFNMADD231PS, VFNMADD231PS_BCST},
	and:       instruction{VANDPS, VANDPS_BCST}, or: instruction{VORPS, VORPS_BCST},
	addInt: instruction{VPADDD, VPADDD_BCST}, subInt: instruction{VPSUBD, VPSUBD_BCST},
	compare: instruction{VCMPPS, VCMPPS_BCST}, blendm: instruction{VBLENDMPS, VBLENDMPS_BCST},
	shiftLeft: VPSLLD, shiftRight: VPSRLD,
	move: VMOVUPS, broadcast: VBROADCASTSS, maskMove: VMASKMOVPS, moveZ: VMOVUPS_Z, blendv: VBLENDVPS,
}

// widen returns the same numbers in float64.
func widen(c coef.Constants[float32]) coef.Constants[float64] {
	all := func(x []float32) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = float64(v)
		}
		return y
	}
	return coef.Constants[float64]{
		Mantissa: c.Mantissa, Bias: c.Bias, Normalise: c.Normalise,
		SqrtHalf: float64(c.SqrtHalf),
		Ln2Hi:    float64(c.Ln2Hi), Ln2Lo: float64(c.Ln2Lo),
		ExpLow: float64(c.ExpLow), ExpHigh: float64(c.ExpHigh), TanhHigh: float64(c.TanhHigh),
		Exp: all(c.Exp), Expm1: all(c.Expm1), Log: all(c.Log), Log1p: all(c.Log1p),
	}
}

// bits returns the number x in the element's format.
func (e element) bits(x float64) uint64 {
	if e.size == 4 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}
