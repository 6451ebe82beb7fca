package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// logSumExpRows writes the function behind LogSumExpRows. It takes as many rows at a
// time as a vector has lanes, and holds column j of them as vector j of the scratch.
func (s simd) logSumExpRows() {
	name := fmt.Sprintf("logSumExpRows%d%s", 8*s.size, s.suffix)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(rows, k int, x *%[1]s, stride int, lse, scratch *%[1]s)", s.name))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s works on rows, a multiple of %d; scratch holds %d k numbers.", name, s.lanes(), s.lanes()))
	rows, k := Load(Param("rows"), GP64()), Load(Param("k"), GP64())
	x, lse, scratch := Load(Param("x"), GP64()), Load(Param("lse"), GP64()), Load(Param("scratch"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(Imm(uint64(s.size/4+1)), stride)
	stride3 := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)

	// corner returns the addresses of rows 0, 4, 8 … of the first column.
	corner := func() []Register {
		at := make([]Register, s.lanes()/4)
		for i := range at {
			at[i] = GP64()
			if i == 0 {
				MOVQ(x, at[i])
			} else {
				LEAQ(Mem{Base: at[i-1], Index: stride, Scale: 4}, at[i])
			}
		}
		return at
	}
	// entry addresses the current column of row i.
	entry := func(at []Register, i int) Mem {
		switch i % 4 {
		case 0:
			return Mem{Base: at[i/4]}
		case 3:
			return Mem{Base: at[i/4], Index: stride3, Scale: 1}
		default:
			return Mem{Base: at[i/4], Index: stride, Scale: uint8(i % 4)}
		}
	}
	// eachColumn repeats do for all columns, with the address of the scratch's vector.
	eachColumn := func(label string, do func(column Mem)) {
		j, column := GP64(), GP64()
		MOVQ(k, j)
		MOVQ(scratch, column)
		Label(label)
		do(Mem{Base: column})
		ADDQ(Imm(uint64(s.bytes)), column)
		DECQ(j)
		JNZ(LabelRef(label))
	}
	next := func(at []Register) {
		for _, a := range at {
			ADDQ(Imm(uint64(s.size)), a)
		}
	}

	Label("panel")
	TESTQ(rows, rows)
	JEQ(LabelRef("done"))

	top := s.load(s.number(math.Inf(-1)))
	from := corner()
	eachColumn("maximum", func(column Mem) {
		v := s.gather(func(i int) Mem { return entry(from, i) })
		s.move(v, column)
		s.do(s.max, top, v, top) // v if it is larger
		next(from)
	})

	infinite := s.where(s.bitAnd(top, s.magnitude()), equal, s.number(math.Inf(1)))
	shift := s.choose(infinite, s.number(0), top)
	sum := s.load(s.number(0))
	eachColumn("exponential", func(column Mem) {
		v := s.vector()
		s.move(column, v)
		e := s.expBounded(s.bounded(s.minus(v, shift)))
		s.move(e, column)
		s.do(s.add, e, sum, sum)
	})

	nan := s.load(s.pattern(s.nan))
	l := s.plus(s.logNormal(sum, s.load(s.number(math.Ldexp(1, s.Mantissa)+float64(s.Bias)))), shift)
	r := s.over(s.load(s.number(1)), sum)
	l = s.choose(infinite, top, l)
	r = s.choose(infinite, nan, r)
	isNaN := s.where(sum, unordered, sum)
	l = s.choose(isNaN, nan, l)
	r = s.choose(isNaN, nan, r)
	s.move(l, Mem{Base: lse})

	to := corner()
	eachColumn("posterior", func(column Mem) {
		s.scatter(s.times(r, column), func(i int) Mem { return entry(to, i) })
		next(to)
	})

	ADDQ(Imm(uint64(s.bytes)), lse)
	LEAQ(Mem{Base: x, Index: stride, Scale: 4}, x)
	for range s.lanes()/4 - 1 {
		LEAQ(Mem{Base: x, Index: stride, Scale: 4}, x)
	}
	SUBQ(Imm(uint64(s.lanes())), rows)
	JMP(LabelRef("panel"))
	Label("done")
	VZEROUPPER()
	RET()
}

// gather returns a vector whose lane i comes from at(i).
func (s simd) gather(at func(i int) Mem) VecVirtual {
	n := 16 / s.size // lanes of a quarter
	quarter := func(q int) VecVirtual {
		v := XMM()
		if s.size == 8 {
			VMOVSD(at(n*q), v)
			VMOVHPD(at(n*q+1), v, v)
			return v
		}
		VMOVSS(at(n*q), v)
		for i := 1; i < n; i++ {
			VINSERTPS(Imm(uint64(i)<<4), at(n*q+i), v, v)
		}
		return v
	}
	half := func(h int) VecVirtual {
		low, high, v := quarter(2*h), quarter(2*h+1), YMM()
		VINSERTF128(Imm(1), high, low.AsY(), v)
		return v
	}
	if !s.wide() {
		return half(0)
	}
	low, high, v := half(0), half(1), ZMM()
	VINSERTF64X4(Imm(1), high, low.AsZ(), v)
	return v
}

// scatter stores lane i of v to at(i).
func (s simd) scatter(v VecVirtual, at func(i int) Mem) {
	n := 16 / s.size
	quarter := func(q int, x Register) {
		if s.size == 8 {
			VMOVLPD(x, at(n*q))
			VMOVHPD(x, at(n*q+1))
			return
		}
		VMOVSS(x, at(n*q))
		for i := 1; i < n; i++ {
			VEXTRACTPS(Imm(uint64(i)), x, at(n*q+i))
		}
	}
	half := func(h int, y VecVirtual) {
		high := XMM()
		quarter(2*h, y.AsX())
		VEXTRACTF128(Imm(1), y, high)
		quarter(2*h+1, high)
	}
	if !s.wide() {
		half(0, v)
		return
	}
	high := YMM()
	half(0, v.AsY().(VecVirtual))
	VEXTRACTF64X4(Imm(1), v, high)
	half(1, high)
}
