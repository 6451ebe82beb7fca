// Command nearest writes the assembly that finds the rows nearest to a row, the
// squared distances and the two least of them, and keeps the sums of groups of rows.
//
// Four lanes walk along the row, lane l over the columns l, l+4, l+8, …, and are
// added as (s0+s1) + (s2+s3) at the end. As many rows as the registers hold are
// measured at a time; that does not change the order of any sum. The columns
// past the last whole vector are loaded through a mask, as zeros, which leave
// their lanes as they are.
//
// The least values are kept lane by lane as well, with the first index at which
// the lane saw its least, and brought together at the end. No branch depends on
// the values: which of k centres is nearest cannot be predicted.
package main

import (
	"flag"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const lanes, width = 4, 32 // float64s and bytes of a vector

func main() {
	flag.Parse()
	ConstraintExpr("amd64")
	masks := writeMasks()

	sqDistRow(masks)
	twoLeast(masks)
	moveRows(masks)
	Generate()
}

// writeMasks writes four words of ones and four of zeros.
func writeMasks() Mem {
	m := GLOBL("rowMasks", RODATA|NOPTR)
	for i := range 2 * lanes {
		var ones U64
		if i < lanes {
			ones = 1<<64 - 1
		}
		DATA(8*i, ones)
	}
	return m
}

// splitOff turns n into the number of whole vectors, and returns how many
// float64s are left and their mask.
func splitOff(n Register, masks Mem) (rest Register, mask VecVirtual) {
	rest, mask = GP64(), YMM()
	MOVQ(n, rest)
	ANDQ(Imm(lanes-1), rest)
	start, table := GP64(), GP64()
	MOVQ(U64(lanes), start)
	SUBQ(rest, start)
	LEAQ(masks, table)
	VMOVUPD(Mem{Base: table, Index: start, Scale: 8}, mask)
	SHRQ(Imm(2), n)
	return rest, mask
}

func sqDistRow(masks Mem) {
	TEXT("sqDistRowAVX2", NOSPLIT, "func(dst, x, y *float64, d, m int)")
	Pragma("noescape")
	Doc("sqDistRowAVX2 writes the squared distances between x and the m rows of y, all of d columns.")
	r := rows{
		dst: Load(Param("dst"), GP64()),
		x:   Load(Param("x"), GP64()),
		y:   Load(Param("y"), GP64()),
		d:   Load(Param("d"), GP64()),
		m:   Load(Param("m"), GP64()),
	}
	r.stride, r.stride3 = GP64(), GP64()
	MOVQ(r.d, r.stride)
	SHLQ(Imm(3), r.stride)
	LEAQ(Mem{Base: r.stride, Index: r.stride, Scale: 2}, r.stride3)

	r.rest, r.mask = splitOff(r.d, masks)

	for _, tile := range []int{8, 4, 2, 1} {
		r.write(tile)
	}
	VZEROUPPER()
	RET()
}

// rows is the state of sqDistRow.
type rows struct {
	dst, x, y       Register
	d, rest         Register // whole vectors, columns past them
	m               Register // rows left
	stride, stride3 Register // of y in bytes, and three of them
	mask            VecVirtual
}

// write measures tile rows at a time as long as there are so many.
func (r rows) write(tile int) {
	name := map[int]string{8: "eight", 4: "four", 2: "two", 1: "one"}[tile]
	Label(name)
	CMPQ(r.m, Imm(uint64(tile)))
	JLT(LabelRef(name + "Done"))

	// at holds the address of every fourth row; the others are reached from it.
	at := make([]Register, (tile+3)/4)
	for i := range at {
		at[i] = GP64()
		if i == 0 {
			MOVQ(r.y, at[i])
		} else {
			LEAQ(Mem{Base: at[i-1], Index: r.stride, Scale: 4}, at[i])
		}
	}
	row := func(i int) Mem {
		switch i % 4 {
		case 0:
			return Mem{Base: at[i/4]}
		case 3:
			return Mem{Base: at[i/4], Index: r.stride3, Scale: 1}
		}
		return Mem{Base: at[i/4], Index: r.stride, Scale: uint8(i % 4)}
	}
	sums := make([]VecVirtual, tile)
	for i := range sums {
		sums[i] = YMM()
		VXORPD(sums[i], sums[i], sums[i])
	}

	px, left := GP64(), GP64()
	MOVQ(r.x, px)
	MOVQ(r.d, left)
	TESTQ(left, left)
	JZ(LabelRef(name + "Rest"))
	Label(name + "Loop")
	x := YMM()
	VMOVUPD(Mem{Base: px}, x)
	for i := range sums {
		t := YMM()
		VSUBPD(row(i), x, t)
		VFMADD231PD(t, t, sums[i])
	}
	ADDQ(Imm(width), px)
	for i := range at {
		ADDQ(Imm(width), at[i])
	}
	DECQ(left)
	JNZ(LabelRef(name + "Loop"))

	Label(name + "Rest")
	TESTQ(r.rest, r.rest)
	JZ(LabelRef(name + "Sum"))
	VMASKMOVPD(Mem{Base: px}, r.mask, x)
	for i := range sums {
		t := YMM()
		VMASKMOVPD(row(i), r.mask, t)
		VSUBPD(t, x, t)
		VFMADD231PD(t, t, sums[i])
	}

	Label(name + "Sum")
	if tile < 4 {
		s, high := sums[0], XMM()
		VHADDPD(sums[tile-1], s, s) // s0+s1 of both rows, then s2+s3
		VEXTRACTF128(Imm(1), s, high)
		VADDPD(high, s.AsX(), s.AsX())
		if tile == 2 {
			VMOVUPD(s.AsX(), Mem{Base: r.dst})
		} else {
			VMOVSD(s.AsX(), Mem{Base: r.dst})
		}
	}
	for i := 0; i+4 <= tile; i += 4 {
		a, b, c := sums[i], sums[i+2], YMM()
		VHADDPD(sums[i+1], a, a) // pairs of rows i, i+1: s0+s1 of both, s2+s3 of both
		VHADDPD(sums[i+3], b, b)
		VPERM2F128(Imm(0x21), b, a, c)
		VBLENDPD(Imm(0b1100), b, a, a)
		VADDPD(c, a, a)
		VMOVUPD(a, Mem{Base: r.dst, Disp: 8 * i})
	}
	ADDQ(Imm(uint64(8*tile)), r.dst)
	for range tile / 4 {
		LEAQ(Mem{Base: r.y, Index: r.stride, Scale: 4}, r.y)
	}
	for range tile % 4 {
		ADDQ(r.stride, r.y)
	}
	SUBQ(Imm(uint64(tile)), r.m)
	JMP(LabelRef(name))
	Label(name + "Done")
}

func twoLeast(masks Mem) {
	TEXT("twoLeastAVX2", NOSPLIT, "func(v *float64, n int) (index, least, second float64)")
	Pragma("noescape")
	Doc("twoLeastAVX2 returns the two least of n values and the first index of the least, +Inf if there is none.")
	v, n := Load(Param("v"), GP64()), Load(Param("n"), GP64())
	rest, mask := splitOff(n, masks)

	constants := GLOBL("leastConstants", RODATA|NOPTR)
	for i, c := range []float64{0, 1, 2, 3, 4, math.Inf(1)} {
		DATA(8*i, U64(math.Float64bits(c)))
	}
	table := GP64()
	LEAQ(constants, table)

	at, four, inf := YMM(), YMM(), YMM() // at: the indices of the vector in hand
	VMOVUPD(Mem{Base: table}, at)
	VBROADCASTSD(Mem{Base: table, Disp: 32}, four)
	VBROADCASTSD(Mem{Base: table, Disp: 40}, inf)
	index, least, second := YMM(), YMM(), YMM()
	for _, r := range []VecVirtual{index, least, second} {
		VMOVAPD(inf, r)
	}

	x, t := YMM(), YMM()
	// VMINPD and VMAXPD return their first operand here if either is NaN. So a
	// NaN leaves second and least as they are.
	take := func() {
		VMAXPD(x, least, t)
		VMINPD(second, t, second)
		VCMPPD(Imm(1), least, x, t) // x < least
		VBLENDVPD(t, at, index, index)
		VMINPD(least, x, least)
	}
	TESTQ(n, n)
	JZ(LabelRef("rest"))
	Label("loop")
	VMOVUPD(Mem{Base: v}, x)
	take()
	VADDPD(four, at, at)
	ADDQ(Imm(width), v)
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("rest")
	TESTQ(rest, rest)
	JZ(LabelRef("done"))
	VMASKMOVPD(Mem{Base: v}, mask, x)
	VBLENDVPD(mask, x, inf, x)
	take()
	Label("done")

	// least is brought to all lanes; the lanes that have it compare indices; the
	// lane that wins leaves the race for the second.
	top := YMM()
	VMOVAPD(least, top)
	minOfLanes(top)
	VCMPPD(Imm(0), top, least, t)
	winner := YMM()
	VBLENDVPD(t, index, inf, winner)
	minOfLanes(winner)
	VCMPPD(Imm(0), winner, index, t)
	VBLENDVPD(t, inf, least, least)
	VMINPD(least, second, second)
	minOfLanes(second)

	VZEROUPPER()
	Store(winner.AsX(), ReturnIndex(0))
	Store(top.AsX(), ReturnIndex(1))
	Store(second.AsX(), ReturnIndex(2))
	RET()
}

// minOfLanes puts the least of the four lanes of v into each of them.
func minOfLanes(v VecVirtual) {
	t := YMM()
	VPERM2F128(Imm(1), v, v, t)
	VMINPD(t, v, v)
	VPERMILPD(Imm(5), v, t)
	VMINPD(t, v, v)
}
