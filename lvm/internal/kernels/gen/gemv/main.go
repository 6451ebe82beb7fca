// Command gemv writes the assembly that multiplies rows of a matrix by a vector. Four lanes
// are part of the order of additions, so all amd64 paths share it.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	TEXT("rowProductsAVX2", NOSPLIT, "func(m, n int, a *float64, stride int, x, sums *float64)")
	Pragma("noescape")
	Doc("rowProductsAVX2 is rowProductsPortable.")
	g := &gemv{
		m: Load(Param("m"), GP64()), a: Load(Param("a"), GP64()), stride: Load(Param("stride"), GP64()),
		x: Load(Param("x"), GP64()), out: Load(Param("sums"), GP64()), whole: GP64(), stride3: GP64(), mask: YMM(),
	}
	n := Load(Param("n"), GP64())
	SHLQ(Imm(3), g.stride)
	LEAQ(Mem{Base: g.stride, Index: g.stride, Scale: 2}, g.stride3)

	// whole is the bytes of a row in full vectors; mask is true for the columns left.
	masks := GLOBL("gemvColumns", RODATA|NOPTR)
	for i := range 8 {
		var ones U64
		if i < 4 {
			ones = 1<<64 - 1
		}
		DATA(8*i, ones)
	}
	MOVQ(n, g.whole)
	ANDQ(I32(-4), g.whole)
	SUBQ(g.whole, n)
	table, at := GP64(), GP64()
	LEAQ(masks, table)
	MOVQ(U64(4), at)
	SUBQ(n, at)
	VMOVUPD(Mem{Base: table, Index: at, Scale: 8}, g.mask)
	SHLQ(Imm(3), g.whole)

	g.rows(4)
	g.rows(1)
	VZEROUPPER()
	RET()
	Generate()
}

type gemv struct {
	m, a, stride, stride3, x, out, whole Register
	mask                                 VecVirtual
}

// rows multiplies so many rows at a time, at most four, until fewer are left.
func (g *gemv) rows(count int) {
	label := func(s string) string { return fmt.Sprintf("%s%d", s, count) }
	Label(label("rows"))
	CMPQ(g.m, Imm(uint64(count)))
	JLT(LabelRef(label("done")))
	row, x, end := GP64(), GP64(), GP64()
	MOVQ(g.a, row)
	MOVQ(g.x, x)
	LEAQ(Mem{Base: g.x, Index: g.whole, Scale: 1}, end)
	at := []Mem{{Base: row}, {Base: row, Index: g.stride, Scale: 1}, {Base: row, Index: g.stride, Scale: 2}, {Base: row, Index: g.stride3, Scale: 1}}[:count]
	sum := make([]VecVirtual, count)
	for r := range at {
		sum[r] = YMM()
		VXORPD(sum[r], sum[r], sum[r])
	}

	Label(label("vector"))
	CMPQ(x, end)
	JEQ(LabelRef(label("rest")))
	vx := YMM()
	VMOVUPD(Mem{Base: x}, vx)
	for r := range at {
		VFMADD231PD(at[r], vx, sum[r])
	}
	ADDQ(Imm(32), row)
	ADDQ(Imm(32), x)
	JMP(LabelRef(label("vector")))

	// The last columns are loaded as zeros where there is none.
	Label(label("rest"))
	VMASKMOVPD(Mem{Base: x}, g.mask, vx)
	for r := range at {
		v := YMM()
		VMASKMOVPD(at[r], g.mask, v)
		VFMADD231PD(v, vx, sum[r])
	}
	for r := range at { // (s0 + s2) + (s1 + s3)
		high, low := XMM(), sum[r].AsX()
		VEXTRACTF128(Imm(1), sum[r], high)
		VADDPD(high, low, low)
		VHADDPD(low, low, low)
		VMOVSD(low, Mem{Base: g.out}.Offset(8*r))
	}
	ADDQ(Imm(uint64(8*count)), g.out)
	LEAQ(Mem{Base: g.a, Index: g.stride, Scale: uint8(count)}, g.a)
	SUBQ(Imm(uint64(count)), g.m)
	JMP(LabelRef(label("rows")))
	Label(label("done"))
}
