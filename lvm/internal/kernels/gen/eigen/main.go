// Command eigen writes the assembly that multiplies four rows of a symmetric matrix by a
// vector, from the left and from the right at once. Four lanes are part of the order of
// additions, so all amd64 paths share it.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	TEXT("fourRowsAVX2", NOSPLIT, "func(n int, a *float64, stride int, head, x, y, sums *float64)")
	Pragma("noescape")
	Doc("fourRowsAVX2 is fourRowsPortable.")
	n, a, x, y := Load(Param("n"), GP64()), Load(Param("a"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64())
	head, out := Load(Param("head"), GP64()), Load(Param("sums"), GP64())
	stride, stride3 := Load(Param("stride"), GP64()), GP64()
	SHLQ(Imm(3), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	rows := [4]Mem{
		{Base: a},
		{Base: a, Index: stride, Scale: 1},
		{Base: a, Index: stride, Scale: 2},
		{Base: a, Index: stride3, Scale: 1},
	}
	var factor, sum [4]VecVirtual
	for r := range rows {
		factor[r], sum[r] = YMM(), YMM()
		VBROADCASTSD(Mem{Base: head}.Offset(8*r), factor[r])
		VXORPD(sum[r], sum[r], sum[r])
	}

	Label("vector")
	CMPQ(n, Imm(4))
	JLT(LabelRef("rest"))
	vx, vy := YMM(), YMM()
	VMOVUPD(Mem{Base: x}, vx)
	VMOVUPD(Mem{Base: y}, vy)
	for r := range rows {
		v := YMM()
		VMOVUPD(rows[r], v)
		VFMADD231PD(factor[r], v, vy)
		VFMADD231PD(vx, v, sum[r])
	}
	VMOVUPD(vy, Mem{Base: y})
	ADDQ(Imm(32), a)
	ADDQ(Imm(32), x)
	ADDQ(Imm(32), y)
	SUBQ(Imm(4), n)
	JMP(LabelRef("vector"))

	// The last columns, fewer than a vector, are loaded as zeros where there is none.
	Label("rest")
	TESTQ(n, n)
	JEQ(LabelRef("fold"))
	masks := GLOBL("lastColumns", RODATA|NOPTR)
	for i := range 8 {
		var ones U64
		if i < 4 {
			ones = 1<<64 - 1
		}
		DATA(8*i, ones)
	}
	table, at, mask := GP64(), GP64(), YMM()
	LEAQ(masks, table)
	MOVQ(U64(4), at)
	SUBQ(n, at)
	VMOVUPD(Mem{Base: table, Index: at, Scale: 8}, mask)
	VMASKMOVPD(Mem{Base: x}, mask, vx)
	VMASKMOVPD(Mem{Base: y}, mask, vy)
	for r := range rows {
		v := YMM()
		VMASKMOVPD(rows[r], mask, v)
		VFMADD231PD(factor[r], v, vy)
		VFMADD231PD(vx, v, sum[r])
	}
	VMASKMOVPD(vy, mask, Mem{Base: y})

	Label("fold")
	for r := range rows { // (s0 + s2) + (s1 + s3)
		high := XMM()
		VEXTRACTF128(Imm(1), sum[r], high)
		low := sum[r].AsX()
		VADDPD(high, low, low)
		VHADDPD(low, low, low)
		VMOVSD(low, Mem{Base: out}.Offset(8*r))
	}
	VZEROUPPER()
	RET()
	Generate()
}
