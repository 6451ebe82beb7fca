// Command screen writes the assembly that screens rows against a panel of
// centres in single precision.
//
// Four rows meet 16 centres at a time, or two rows 32: eight vectors of sums
// that stay in registers while j runs over the columns. Every step loads one
// coordinate of the centres and broadcasts one of each row. At the end the least
// and the second distance of a row are found without a branch.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	lanes   = 8
	sums    = 8  // vectors
	results = 12 // bytes of a Screened: index, least, second
)

func main() {
	flag.Parse()
	ConstraintExpr("amd64")
	write(16)
	write(32)
	Generate()
}

func write(width int) {
	vectors := width / lanes
	rows := sums / vectors
	name := fmt.Sprintf("screen%dAVX2", width)
	TEXT(name, NOSPLIT, "func(dst *int32, x *float32, d int, rows *int32, n int, panel *float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is Screen for %d centres and n rows, a multiple of %d, with dst at the first Index.", name, width, rows))
	dst, x, d := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("d"), GP64())
	list, n, panel := Load(Param("rows"), GP64()), Load(Param("n"), GP64()), Load(Param("panel"), GP64())
	stride := GP64()
	MOVQ(d, stride)
	SHLQ(Imm(2), stride)

	Label("rows")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	at := make([]Register, rows)
	sum := make([][]VecVirtual, rows)
	for r := range at {
		at[r] = GP64()
		MOVLQSX(Mem{Base: list, Disp: 4 * r}, at[r])
		IMULQ(stride, at[r])
		ADDQ(x, at[r])
		for range vectors {
			s := YMM()
			VXORPS(s, s, s)
			sum[r] = append(sum[r], s)
		}
	}
	c, j := GP64(), GP64()
	MOVQ(panel, c)
	XORQ(j, j)
	Label("column")
	for v := range vectors {
		centers := YMM()
		VMOVUPS(Mem{Base: c, Disp: 4 * lanes * v}, centers)
		for r := range at {
			t := YMM()
			VBROADCASTSS(Mem{Base: at[r], Index: j, Scale: 4}, t)
			VSUBPS(centers, t, t)
			VFMADD231PS(t, t, sum[r][v])
		}
	}
	ADDQ(Imm(uint64(4*width)), c)
	INCQ(j)
	CMPQ(j, d)
	JNE(LabelRef("column"))

	for r := range sum {
		twoLeast(sum[r], Mem{Base: dst, Disp: results * r})
	}
	ADDQ(Imm(uint64(results*rows)), dst)
	ADDQ(Imm(uint64(4*rows)), list)
	SUBQ(Imm(uint64(rows)), n)
	JMP(LabelRef("rows"))
	Label("done")
	VZEROUPPER()
	RET()
}

// twoLeast writes the index of the least value in v, the root of the least and
// that of the second. Of two lanes (least, second) the least is the lesser of
// the leasts, and the second the lesser of the other one and the seconds.
func twoLeast(v []VecVirtual, dst Mem) {
	least, second, a, b := YMM(), YMM(), YMM(), YMM()
	VMINPS(v[1], v[0], least)
	VMAXPS(v[1], v[0], second)
	for _, w := range v[2:] {
		VMAXPS(w, least, a)
		VMINPS(w, least, least)
		VMINPS(a, second, second)
	}
	for _, move := range []func(from, to VecVirtual){
		func(from, to VecVirtual) { VPERM2F128(Imm(1), from, from, to) },
		func(from, to VecVirtual) { VPERMILPS(Imm(0b01_00_11_10), from, to) },
		func(from, to VecVirtual) { VPERMILPS(Imm(0b10_11_00_01), from, to) },
	} {
		move(least, a)
		move(second, b)
		VMINPS(b, second, second)
		VMAXPS(a, least, b)
		VMINPS(a, least, least)
		VMINPS(b, second, second)
	}

	index := GP32()
	XORL(index, index)
	for i := len(v) - 1; i >= 0; i-- {
		hits := GP32()
		VCMPPS(Imm(0), least, v[i], a)
		VMOVMSKPS(a, hits)
		SHLL(Imm(lanes), index)
		ORL(hits, index)
	}
	BSFL(index, index)
	MOVL(index, dst)
	VUNPCKLPS(second.AsX(), least.AsX(), a.AsX())
	VSQRTPS(a.AsX(), a.AsX())
	VMOVLPS(a.AsX(), dst.Offset(4))
}
