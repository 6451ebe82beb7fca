package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// logSumExpRows writes the function behind LogSumExpRows of a matrix stored by rows.
// It takes as many rows at a time as a vector has lanes, a row in each, and keeps
// column j of them as vector j of the scratch.
func (s simd) logSumExpRows() {
	name := fmt.Sprintf("logSumExpRows%d%s", 8*s.size, s.suffix)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(rows, k int, x *%[1]s, stride int, lse, scratch *%[1]s)", s.name))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s takes rows, a multiple of %d, and k columns; scratch holds %d k numbers.", name, s.lanes(), s.lanes()))
	rows, k := Load(Param("rows"), GP64()), Load(Param("k"), GP64())
	x, lse, scratch := Load(Param("x"), GP64()), Load(Param("lse"), GP64()), Load(Param("scratch"), GP64())
	lanes := s.lanesOf(x, s.inBytes(Load(Param("stride"), GP64())))

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

	Label("panel")
	TESTQ(rows, rows)
	JEQ(LabelRef("done"))

	top := s.load(s.number(math.Inf(-1)))
	lanes.start()
	eachColumn("maximum", func(column Mem) {
		v := s.gather(lanes)
		s.move(v, column)
		s.do(s.max, top, v, top) // v if it is larger
		lanes.next()
	})

	shift, sum := s.shift(top), s.load(s.number(0))
	eachColumn("exponential", func(column Mem) {
		v := s.vector()
		s.move(column, v)
		e := s.expBounded(s.bounded(s.minus(v, shift)))
		s.move(e, column)
		s.do(s.add, e, sum, sum)
	})

	l, r := s.finish(top, shift, sum)
	s.move(l, Mem{Base: lse})
	lanes.start()
	eachColumn("posterior", func(column Mem) {
		s.scatter(s.times(r, column), lanes)
		lanes.next()
	})

	ADDQ(Imm(uint64(s.bytes)), lse)
	for range s.lanes() / 4 {
		LEAQ(Mem{Base: x, Index: lanes.stride, Scale: 4}, x)
	}
	SUBQ(Imm(uint64(s.lanes())), rows)
	JMP(LabelRef("panel"))
	Label("done")
	VZEROUPPER()
	RET()
}

// logSumExpColumns writes the one for a matrix stored by columns. It passes over
// whole columns, and keeps a number per row in lse and two in the scratch.
func (s simd) logSumExpColumns() {
	name := fmt.Sprintf("logSumExpColumns%d%s", 8*s.size, s.suffix)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(rows, k int, x *%[1]s, stride int, lse, scratch *%[1]s)", s.name))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s takes rows, a multiple of %d, and k columns; scratch holds two numbers per row.", name, s.lanes()))
	length, k := s.inBytes(Load(Param("rows"), GP64())), Load(Param("k"), GP64())
	x, stride := Load(Param("x"), GP64()), s.inBytes(Load(Param("stride"), GP64()))
	shifts, tops := Load(Param("scratch"), GP64()), Load(Param("lse"), GP64())
	sums := GP64()
	LEAQ(Mem{Base: shifts, Index: length, Scale: 1}, sums)

	i, column, j := GP64(), GP64(), GP64()
	in := func(array Register) Mem { return Mem{Base: array, Index: i, Scale: 1} }
	eachRow := func(label string, do func()) {
		XORQ(i, i)
		Label(label)
		do()
		ADDQ(Imm(uint64(s.bytes)), i)
		CMPQ(i, length)
		JLT(LabelRef(label))
	}
	eachElement := func(label string, do func()) {
		MOVQ(k, j)
		MOVQ(x, column)
		Label(label + "Column")
		eachRow(label, do)
		ADDQ(stride, column)
		DECQ(j)
		JNZ(LabelRef(label + "Column"))
	}
	get := func(array Register) VecVirtual {
		v := s.vector()
		s.move(in(array), v)
		return v
	}

	low := s.load(s.number(math.Inf(-1)))
	eachRow("start", func() { s.move(low, in(tops)) })
	eachElement("maximum", func() {
		v := get(column)
		s.do(s.max, in(tops), v, v)
		s.move(v, in(tops))
	})
	zero := s.load(s.number(0))
	eachRow("shift", func() {
		s.move(s.shift(get(tops)), in(shifts))
		s.move(zero, in(sums))
	})
	eachElement("exponential", func() {
		e := s.expBounded(s.bounded(s.minus(get(column), in(shifts))))
		s.move(e, in(column))
		s.move(s.plus(e, in(sums)), in(sums))
	})
	eachRow("finish", func() {
		l, r := s.finish(get(tops), get(shifts), get(sums))
		s.move(l, in(tops))
		s.move(r, in(sums))
	})
	eachElement("posterior", func() {
		s.move(s.times(get(sums), in(column)), in(column))
	})
	VZEROUPPER()
	RET()
}

// inBytes turns a number of elements into one of bytes, in place.
func (s simd) inBytes(n Register) Register {
	SHLQ(Imm(uint64(s.size/4+1)), n)
	return n
}

// shift returns the maximum of rows if it is finite, else 0.
func (s simd) shift(top VecVirtual) VecVirtual {
	return s.choose(s.infinite(top), s.number(0), top)
}

func (s simd) infinite(top VecVirtual) Op {
	return s.where(s.bitAnd(top, s.magnitude()), equal, s.number(math.Inf(1)))
}

// finish returns the log-sums of rows and what turns exponentials into posteriors.
func (s simd) finish(top, shift, sum VecVirtual) (l, r VecVirtual) {
	nan := s.load(s.pattern(s.nan))
	l = s.plus(s.logNormal(sum, s.load(s.number(math.Ldexp(1, s.Mantissa)+float64(s.Bias)))), shift)
	r = s.over(s.load(s.number(1)), sum)
	infinite := s.infinite(top)
	l = s.choose(infinite, top, l)
	r = s.choose(infinite, nan, r)
	isNaN := s.where(sum, unordered, sum)
	return s.choose(isNaN, nan, l), s.choose(isNaN, nan, r)
}

// lanes are the places of one column in as many rows as a vector has lanes.
type lanes struct {
	simd
	x, stride, stride3 Register
	at                 []Register // rows 0, 4, 8 …
}

func (s simd) lanesOf(x, stride Register) lanes {
	l := lanes{simd: s, x: x, stride: stride, stride3: GP64()}
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, l.stride3)
	for range s.lanes() / 4 {
		l.at = append(l.at, GP64())
	}
	return l
}

// start goes to the first column.
func (l lanes) start() {
	MOVQ(l.x, l.at[0])
	for i := 1; i < len(l.at); i++ {
		LEAQ(Mem{Base: l.at[i-1], Index: l.stride, Scale: 4}, l.at[i])
	}
}

func (l lanes) next() {
	for _, a := range l.at {
		ADDQ(Imm(uint64(l.size)), a)
	}
}

// lane addresses row i.
func (l lanes) lane(i int) Mem {
	switch i % 4 {
	case 0:
		return Mem{Base: l.at[i/4]}
	case 3:
		return Mem{Base: l.at[i/4], Index: l.stride3, Scale: 1}
	default:
		return Mem{Base: l.at[i/4], Index: l.stride, Scale: uint8(i % 4)}
	}
}

// gather returns the column.
func (s simd) gather(from lanes) VecVirtual {
	at := from.lane
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

// scatter stores the column.
func (s simd) scatter(v VecVirtual, to lanes) {
	at := to.lane
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
