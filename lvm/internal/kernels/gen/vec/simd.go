package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A simd is an element type in vectors of one width. Its methods append
// instructions; unless they say otherwise, the result is a new register.
type simd struct {
	element
	suffix string
	bytes  int // per vector
	vector func() VecVirtual
}

func (s simd) lanes() int { return s.bytes / s.size }
func (s simd) wide() bool { return s.bytes == 64 }

// A constant is a number in memory. It may stand where the instruction takes its
// second argument, the last one of a fused multiply-add.
type constant struct{ Mem }

var constants = map[string]Mem{}

// number returns x as a constant.
func (s simd) number(x float64) constant { return s.pattern(s.element.bits(x)) }

// pattern returns the constant whose bits are given: one 256-bit vector of it.
func (s simd) pattern(bits uint64) constant {
	name := fmt.Sprintf("vec%d_%0*x", 8*s.size, 2*s.size, bits)
	if _, ok := constants[name]; !ok {
		constants[name] = GLOBL(name, RODATA|NOPTR)
		for at := 0; at < 32; at += s.size {
			if s.size == 4 {
				DATA(at, U32(bits))
			} else {
				DATA(at, U64(bits))
			}
		}
	}
	return constant{constants[name]}
}

// do appends an instruction, in Intel's order of arguments reversed as Go's
// assembler has it: the constant, if any, comes first or after an immediate.
func (s simd) do(i instruction, ops ...Op) {
	form := i.whole
	for n, op := range ops {
		if c, ok := op.(constant); ok {
			ops[n] = c.Mem
			if s.wide() {
				form = i.broadcast
			}
		}
	}
	form(ops...)
}

// load returns a register full of c.
func (s simd) load(c constant) VecVirtual {
	v := s.vector()
	s.broadcast(c.Mem, v)
	return v
}

func (s simd) binary(i instruction, x VecVirtual, y Op) VecVirtual {
	v := s.vector()
	s.do(i, y, x, v)
	return v
}

func (s simd) plus(x VecVirtual, y Op) VecVirtual   { return s.binary(s.add, x, y) }
func (s simd) minus(x VecVirtual, y Op) VecVirtual  { return s.binary(s.sub, x, y) }
func (s simd) times(x VecVirtual, y Op) VecVirtual  { return s.binary(s.mul, x, y) }
func (s simd) over(x VecVirtual, y Op) VecVirtual   { return s.binary(s.div, x, y) }
func (s simd) bitAnd(x VecVirtual, y Op) VecVirtual { return s.binary(s.and, x, y) }
func (s simd) bitOr(x VecVirtual, y Op) VecVirtual  { return s.binary(s.or, x, y) }
func (s simd) plusInt(x VecVirtual, y Op) VecVirtual {
	return s.binary(s.addInt, x, y)
}
func (s simd) minusInt(x VecVirtual, y Op) VecVirtual {
	return s.binary(s.subInt, x, y)
}

// atLeast returns max(x, c), atMost min(x, c). A NaN stays: both instructions
// return their second argument, here x, if either is NaN.
func (s simd) atLeast(x VecVirtual, c constant) VecVirtual { return s.binary(s.max, s.load(c), x) }
func (s simd) atMost(x VecVirtual, c constant) VecVirtual  { return s.binary(s.min, s.load(c), x) }

func (s simd) left(x VecVirtual, bits int) VecVirtual {
	v := s.vector()
	s.shiftLeft(Imm(uint64(bits)), x, v)
	return v
}

func (s simd) right(x VecVirtual, bits int) VecVirtual {
	v := s.vector()
	s.shiftRight(Imm(uint64(bits)), x, v)
	return v
}

// polynomial returns p at x, even and odd powers apart.
func (s simd) polynomial(p []float64, x, square VecVirtual) VecVirtual {
	a, b := s.load(s.number(p[0])), s.load(s.number(p[1]))
	for i, c := range p[2:] {
		if i%2 == 0 {
			s.do(s.fmadd213, s.number(c), square, a)
		} else {
			s.do(s.fmadd213, s.number(c), square, b)
		}
	}
	if len(p)%2 == 1 {
		a, b = b, a
	}
	s.do(s.fmadd213, b, x, a)
	return a
}

// Predicates of comparisons that do not signal.
const (
	equal           = 0x00
	unordered       = 0x03
	less            = 0x11
	notGreaterEqual = 0x19
)

// where returns the lanes for which x stands in the relation to y.
func (s simd) where(x VecVirtual, relation int, y Op) Op {
	var mask Op = K()
	if !s.wide() {
		mask = s.vector()
	}
	s.do(s.compare, Imm(uint64(relation)), y, x, mask)
	return mask
}

// choose returns yes in the masked lanes and no in the others.
func (s simd) choose(mask Op, yes Op, no VecVirtual) VecVirtual {
	v := s.vector()
	if s.wide() {
		s.do(s.blendm, yes, no, mask, v)
	} else {
		if c, ok := yes.(constant); ok {
			yes = c.Mem
		}
		s.blendv(mask, yes, no, v)
	}
	return v
}

// firstLanes returns the mask of the first n lanes, 0 < n < lanes.
func (s simd) firstLanes(n Register) Op {
	if s.wide() {
		ones, mask := GP64(), K()
		MOVQ(I64(-1), ones)
		BZHIQ(n, ones, ones)
		KMOVW(ones.As32(), mask)
		return mask
	}
	// A window on a row of ones and zeros, which starts at the last n ones.
	name := fmt.Sprintf("vecMask%d", 8*s.size)
	if _, ok := constants[name]; !ok {
		constants[name] = GLOBL(name, RODATA|NOPTR)
		for at := 0; at < 64; at += 8 {
			DATA(at, U64(uint64(int64(at-32)>>63)))
		}
	}
	table, at, mask := GP64(), GP64(), s.vector()
	LEAQ(constants[name], table)
	MOVQ(I64(s.lanes()), at)
	SUBQ(n, at)
	s.move(Mem{Base: table, Index: at, Scale: uint8(s.size)}, mask)
	return mask
}

// loadMasked and storeMasked touch no memory outside the mask.
func (s simd) loadMasked(mask Op, from Mem, x VecVirtual) {
	if s.wide() {
		s.moveZ(from, mask, x)
	} else {
		s.maskMove(from, mask, x)
	}
}

func (s simd) storeMasked(mask Op, x VecVirtual, to Mem) {
	if s.wide() {
		s.move(x, mask, to)
	} else {
		s.maskMove(x, mask, to)
	}
}
