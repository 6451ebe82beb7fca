package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// reduction writes sum or dot. Element i goes to lane i mod 256/size of the sums,
// which are then folded in half until one is left.
func (s simd) reduction(base string, vectors int) {
	name := fmt.Sprintf("%s%d%s", base, 8*s.size, s.suffix)
	args := []string{"x", "x, y"}[vectors-1]
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, %s *%[2]s) %[2]s", args, s.name))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is %s over n elements.", name, base))
	n := Load(Param("n"), GP64())
	var from [2]Register
	for i := range vectors {
		from[i] = Load(Param("xy"[i:i+1]), GP64())
	}
	sums := make([]VecVirtual, 256/s.bytes)
	for i := range sums {
		sums[i] = s.load(s.number(0))
	}
	// advance adds a vector to sum; offset counts vectors.
	advance := func(sum VecVirtual, offset int) {
		x := s.vector()
		s.move(Mem{Base: from[0]}.Offset(offset*s.bytes), x)
		if vectors == 2 {
			s.do(s.fmadd231, Mem{Base: from[1]}.Offset(offset*s.bytes), x, sum)
		} else {
			s.do(s.add, x, sum, sum)
		}
	}
	move := func(vecs int) {
		for i := range vectors {
			ADDQ(I32(vecs*s.bytes), from[i])
		}
		SUBQ(Imm(uint64(vecs*s.lanes())), n)
	}

	Label("loop")
	CMPQ(n, Imm(uint64(256/s.size)))
	JLT(LabelRef("rest0"))
	for i, sum := range sums {
		advance(sum, i)
	}
	move(len(sums))
	JMP(LabelRef("loop"))

	for i, sum := range sums {
		Label(fmt.Sprintf("rest%d", i))
		CMPQ(n, Imm(uint64(s.lanes())))
		JLT(LabelRef(fmt.Sprintf("part%d", i)))
		if i == len(sums)-1 {
			break // fewer elements are left than all lanes together
		}
		advance(sum, 0)
		move(1)
	}
	for i, sum := range sums {
		Label(fmt.Sprintf("part%d", i))
		TESTQ(n, n)
		JEQ(LabelRef("fold"))
		mask := s.firstLanes(n)
		x := s.vector()
		s.loadMasked(mask, Mem{Base: from[0]}, x)
		if vectors == 2 {
			y := s.vector()
			s.loadMasked(mask, Mem{Base: from[1]}, y)
			s.do(s.fmadd231, y, x, sum)
		} else {
			s.do(s.add, x, sum, sum)
		}
		if i < len(sums)-1 {
			JMP(LabelRef("fold"))
		}
	}

	Label("fold")
	for w := len(sums) / 2; w > 0; w /= 2 {
		for i := range w {
			s.do(s.add, sums[i+w], sums[i], sums[i])
		}
	}
	total := sums[0]
	if s.wide() {
		high := YMM()
		VEXTRACTF64X4(Imm(1), total, high)
		s.add.whole(high, total.AsY(), high)
		total = high
	}
	x := XMM()
	VEXTRACTF128(Imm(1), total, x)
	s.add.whole(total.AsX(), x, x)
	y := XMM()
	if s.size == 4 {
		VMOVHLPS(x, x, y)
		VADDPS(y, x, x)
		VMOVSHDUP(x, y)
		VADDSS(y, x, x)
		Store(x, ReturnIndex(0))
	} else {
		VUNPCKHPD(x, x, y)
		VADDSD(y, x, x)
		Store(x, ReturnIndex(0))
	}
	VZEROUPPER()
	RET()
}
