// Command screen writes the assembly that screens rows against a panel of
// centres in single precision, by differences or by products.
//
// Four rows meet 16 centres at a time, or two rows 32: eight vectors of sums
// that stay in registers while j runs over the columns. Every step loads one
// coordinate of the centres and broadcasts one of each row.
//
// Sums are not negative, so that they are in the order of their bits. The
// lowest five bits give way to the index of the centre, and then the least and
// the second of a row come by minima and maxima of integers, without a branch:
// across the vectors of a row first, then eight rows side by side across the
// lanes.
package main

import (
	"flag"
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	lanes = 8
	batch = 8  // rows side by side
	sums  = 8  // vectors
	size  = 32 // bytes of a vector
)

func main() {
	flag.Parse()
	ConstraintExpr("amd64")
	t := writeTables()
	for _, product := range []bool{false, true} {
		write(16, product, t)
		write(32, product, t)
	}
	Generate()
}

// tables are constants.
type tables struct {
	index Mem // 0, 1, …, 31
	low   Mem // the bits of an index, eight times
	high  Mem // the other ones
	large Mem // 2¹²⁶, beyond which no sum counts
}

func writeTables() (t tables) {
	t.index = GLOBL("screenIndex", RODATA|NOPTR)
	for i := range 32 {
		DATA(4*i, U32(i))
	}
	t.low = GLOBL("screenLow", RODATA|NOPTR)
	for i := range lanes {
		DATA(4*i, U32(31))
	}
	t.high = GLOBL("screenHigh", RODATA|NOPTR)
	for i := range lanes {
		DATA(4*i, U32(1<<32-32))
	}
	t.large = GLOBL("screenLarge", RODATA|NOPTR)
	for i := range lanes {
		DATA(4*i, U32(math.Float32bits(0x1p126)))
	}
	return t
}

func write(width int, product bool, tables tables) {
	vectors := width / lanes
	rows := sums / vectors
	name := fmt.Sprintf("differences%dAVX2", width)
	if product {
		name = fmt.Sprintf("products%dAVX2", width)
	}
	TEXT(name, NOSPLIT, "func(index *int32, least, second, gap, x, norms *float32, d int, rows *int32, n int, panel *float32, first int, bound *float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s shows n rows, a multiple of %d, a panel of %d centres, of which first is the first one.", name, batch, width))
	x, d := Load(Param("x"), GP64()), Load(Param("d"), GP64())
	list, panel, n := Load(Param("rows"), GP64()), Load(Param("panel"), GP64()), Load(Param("n"), GP64())
	done := GP64()
	XORQ(done, done)
	room := AllocLocal(2 * size * batch) // the leasts and the seconds of each row
	leastOf := func(r int) Mem { return room.Offset(2 * size * r) }
	secondOf := func(r int) Mem { return room.Offset(2*size*r + size) }

	Label("batch")
	// Rows on a list can be far apart in memory: ask for the next batch.
	next, ahead := GP64(), GP64()
	LEAQ(Mem{Base: done, Disp: batch}, next)
	CMPQ(next, n)
	CMOVQEQ(done, next)
	for r := range batch {
		MOVLQSX(Mem{Base: list, Index: next, Scale: 4, Disp: 4 * r}, ahead)
		IMULQ(d, ahead)
		PREFETCHT0(Mem{Base: x, Index: ahead, Scale: 4})
	}
	for tile := 0; tile < batch; tile += rows {
		label := fmt.Sprintf("columns%d", tile)
		at := make([]Register, rows)
		sum := make([][]VecVirtual, rows)
		for r := range at {
			at[r] = GP64()
			MOVLQSX(Mem{Base: list, Index: done, Scale: 4, Disp: 4 * (tile + r)}, at[r])
			norm := YMM()
			if product {
				norms := Load(Param("norms"), GP64())
				VBROADCASTSS(Mem{Base: norms, Index: at[r], Scale: 4}, norm)
			}
			for v := range vectors {
				s, base := YMM(), Mem{Base: panel, Disp: size * v}
				if product {
					VADDPS(base, norm, s)
				} else {
					VMOVUPS(base, s)
				}
				sum[r] = append(sum[r], s)
			}
			INCQ(at[r])
			IMULQ(d, at[r])
			LEAQ(Mem{Base: x, Index: at[r], Scale: 4}, at[r]) // the end of the row
		}
		c, j := GP64(), GP64()
		LEAQ(Mem{Base: panel, Disp: 4 * width}, c)
		MOVQ(d, j)
		NEGQ(j)
		Label(label)
		coordinate := make([]VecVirtual, rows)
		for r := range at {
			coordinate[r] = YMM()
			VBROADCASTSS(Mem{Base: at[r], Index: j, Scale: 4}, coordinate[r])
		}
		for v := range vectors {
			centers := YMM()
			VMOVUPS(Mem{Base: c, Disp: size * v}, centers)
			for r := range at {
				if product {
					VFMADD231PS(centers, coordinate[r], sum[r][v])
					continue
				}
				t := YMM()
				VSUBPS(centers, coordinate[r], t)
				VFMADD231PS(t, t, sum[r][v])
			}
		}
		ADDQ(Imm(uint64(4*width)), c)
		INCQ(j)
		JNZ(LabelRef(label))

		high := YMM()
		VMOVDQU(tables.high, high)
		for r, s := range sum {
			for v := range s {
				VPAND(high, s[v], s[v])
				VPOR(tables.index.Offset(size*v), s[v], s[v])
			}
			least, second, t := YMM(), YMM(), YMM()
			VPMINSD(s[1], s[0], least)
			VPMAXSD(s[1], s[0], second)
			for _, w := range s[2:] {
				VPMAXSD(w, least, t)
				VPMINSD(w, least, least)
				VPMINSD(t, second, second)
			}
			VMOVDQU(least, leastOf(tile+r))
			VMOVDQU(second, secondOf(tile+r))
		}
	}

	// Halves of rows r and r+4 share a vector, then quarters of four rows, then
	// eight rows.
	var two [4]pair
	for r := range two {
		a := pair{read(leastOf(r)), read(secondOf(r))}
		half := func(which uint64) pair {
			h := pair{YMM(), YMM()}
			VPERM2I128(Imm(which), leastOf(r+4), a.least, h.least)
			VPERM2I128(Imm(which), secondOf(r+4), a.second, h.second)
			return h
		}
		two[r] = merge(half(0x20), half(0x31))
	}
	var four [2]pair
	for i := range four {
		a, b := two[2*i], two[2*i+1]
		four[i] = merge(
			a.with(b, func(a, b, to VecVirtual) { VPUNPCKLQDQ(b, a, to) }),
			a.with(b, func(a, b, to VecVirtual) { VPUNPCKHQDQ(b, a, to) }))
	}
	found := merge(
		four[0].with(four[1], func(a, b, to VecVirtual) { VSHUFPS(Imm(0b10_00_10_00), b, a, to) }),
		four[0].with(four[1], func(a, b, to VecVirtual) { VSHUFPS(Imm(0b11_01_11_01), b, a, to) }))

	index, high := YMM(), YMM()
	VPBROADCASTD(NewParamAddr("first", 80), high)
	VPAND(tables.low, found.least, index)
	VPADDD(high, index, index)
	VMOVDQU(tables.high, high)
	VPAND(high, found.least, found.least)
	VPAND(high, found.second, found.second)

	// Together with what other panels have shown.
	out := func(name string) Mem {
		return Mem{Base: Load(Param(name), GP64()), Index: done, Scale: 4}
	}
	indexAt, leastAt, secondAt := out("index"), out("least"), out("second")
	old, other := read(leastAt), YMM()
	VPCMPGTD(found.least, old, other)
	VBLENDVPS(other, index, read(indexAt), index)
	VMOVDQU(index, indexAt)
	VPMAXSD(old, found.least, other)
	VPMINSD(old, found.least, found.least)
	VPMINSD(secondAt, found.second, found.second)
	VPMINSD(other, found.second, found.second)
	VMOVDQU(found.least, leastAt)
	VMOVDQU(found.second, secondAt)

	bound := Load(Param("bound"), GP64())
	constant := func(i int) VecVirtual {
		c := YMM()
		VBROADCASTSS(Mem{Base: bound, Disp: 4 * i}, c)
		return c
	}
	least, second := found.least, found.second
	VPMINSD(tables.large, second, second)
	VSUBPS(constant(1), second, second)
	if product {
		norm, all := YMM(), YMM()
		VPCMPEQD(all, all, all)
		VMOVDQU(Mem{Base: list, Index: done, Scale: 4}, index)
		norms := Load(Param("norms"), GP64())
		VXORPS(norm, norm, norm)
		VGATHERDPS(all, Mem{Base: norms, Index: index, Scale: 4}, norm)
		VFNMADD231PS(constant(0), norm, second)
	}
	zero := YMM()
	VXORPS(zero, zero, zero)
	VMAXPS(second, zero, second) // the first operand if that is NaN
	VSQRTPS(second, second)
	VSQRTPS(least, least)
	VMULPS(constant(2), second, second)
	VFNMADD231PS(constant(3), least, second)
	VSUBPS(constant(4), second, second)
	VMOVUPS(second, out("gap"))

	ADDQ(Imm(batch), done)
	CMPQ(done, n)
	JNE(LabelRef("batch"))
	VZEROUPPER()
	RET()
}

// pair holds the leasts and the seconds of lanes.
type pair struct{ least, second VecVirtual }

// with combines the leasts of two pairs, and the seconds.
func (p pair) with(q pair, f func(a, b, to VecVirtual)) pair {
	to := pair{YMM(), YMM()}
	f(p.least, q.least, to.least)
	f(p.second, q.second, to.second)
	return to
}

// merge returns the least and the second of two lanes each: the least is the lesser
// of the leasts, the second the lesser of the other one and the seconds.
func merge(p, q pair) pair {
	greater := YMM()
	VPMAXSD(q.least, p.least, greater)
	VPMINSD(q.least, p.least, p.least)
	VPMINSD(q.second, p.second, p.second)
	VPMINSD(greater, p.second, p.second)
	return p
}

func read(at Mem) VecVirtual {
	v := YMM()
	VMOVUPS(at, v)
	return v
}
