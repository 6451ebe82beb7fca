// Command vec writes the assembly of the vector functions.
//
// Each function follows, lane by lane, its scalar definition in the Go files of
// package kernels, step for step: the same products, sums and fused multiply-adds
// in the same order, so that every lane gets the bits that the Go code gives.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	for _, e := range []element{double, single} {
		for _, s := range []simd{
			{element: e, suffix: "AVX2", bytes: 32, vector: YMM},
			{element: e, suffix: "AVX512", bytes: 64, vector: ZMM},
		} {
			s.elementwise("exp", s.exp)
			s.elementwise("log", s.log)
			s.elementwise("sigmoid", s.sigmoid)
			s.elementwise("tanh", s.tanh)
			s.elementwise("softplus", s.softplus)
			s.logSumExpRows()
			s.logSumExpColumns()
			s.reduction("sum", 1)
			s.reduction("dot", 2)
		}
	}
	Generate()
}

// elementwise writes the function dst[i] ← f(src[i]).
func (s simd) elementwise(name string, f func(x VecVirtual) VecVirtual) {
	name = fmt.Sprintf("%s%d%s", name, 8*s.size, s.suffix)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, dst, src *%s)", s.name))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is %s over n elements.", name, name[:len(name)-len(s.suffix)]))
	n, dst, src := Load(Param("n"), GP64()), Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	x := s.vector()

	Label("loop")
	CMPQ(n, Imm(uint64(s.lanes())))
	JLT(LabelRef("loadRest"))
	s.move(Mem{Base: src}, x)

	Label("loaded")
	y := f(x)
	CMPQ(n, Imm(uint64(s.lanes())))
	JLT(LabelRef("storeRest"))
	s.move(y, Mem{Base: dst})
	ADDQ(Imm(uint64(s.bytes)), src)
	ADDQ(Imm(uint64(s.bytes)), dst)
	SUBQ(Imm(uint64(s.lanes())), n)
	JMP(LabelRef("loop"))

	Label("loadRest") // fewer elements than lanes
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	s.loadMasked(s.firstLanes(n), Mem{Base: src}, x)
	JMP(LabelRef("loaded"))

	Label("storeRest")
	s.storeMasked(s.firstLanes(n), y, Mem{Base: dst})
	Label("done")
	VZEROUPPER()
	RET()
}
