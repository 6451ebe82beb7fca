// Command pack writes the assembly that copies matrices into strips. It moves numbers
// and, on the way, takes off a mean and multiplies by a weight; and it adds rows. Each
// element is on its own, so the width of the vectors leaves no trace, and all amd64
// paths share the code.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A piece is a run of columns that one register holds.
type piece struct {
	cols           int
	view           func(VecVirtual) Register // the register's share of a 256-bit one
	move, sub, mul func(...Op)
}

func main() {
	ConstraintExpr("amd64")
	x, y := func(v VecVirtual) Register { return v.AsX() }, func(v VecVirtual) Register { return v.AsY() }
	packRows("float64", 8, VBROADCASTSD, []piece{
		{4, y, VMOVUPD, VSUBPD, VMULPD},
		{2, x, VMOVUPD, VSUBPD, VMULPD},
		{1, x, VMOVSD, VSUBPD, VMULPD},
	})
	packRows("float32", 4, VBROADCASTSS, []piece{
		{8, y, VMOVUPS, VSUBPS, VMULPS},
		{4, x, VMOVUPS, VSUBPS, VMULPS},
		{2, x, VMOVSD, VSUBPS, VMULPS},
		{1, x, VMOVSS, VSUBPS, VMULPS},
	})
	packColumns("float64", 8, 4, VMOVUPD, transpose4)
	packColumns("float32", 4, 8, VMOVUPS, transpose8)
	addRow("float64", 8, VBROADCASTSD, VMOVUPD, VFMADD213PD, VMULPD, VMOVSD)
	addRow("float32", 4, VBROADCASTSS, VMOVUPS, VFMADD213PS, VMULPS, VMOVSS)
	Generate()
}

// packRows writes the copy of n columns, one piece of columns after the other, all
// rows of a piece before the next.
func packRows(typ string, size int, broadcast func(...Op), pieces []piece) {
	TEXT(fmt.Sprintf("packRows%d", 8*size), NOSPLIT, fmt.Sprintf(
		"func(rows, n int, src *%[1]s, srs int, mean, weights *%[1]s, ws int, dst *%[1]s, drs int)", typ))
	Pragma("noescape")
	Doc("dst[l·drs+j] = weights[l·ws]·(src[l·srs+j] - mean[j]) for l < rows, j < n; a nil mean is zero.")
	n := Load(Param("n"), GP64())
	src, dst, mean := Load(Param("src"), GP64()), Load(Param("dst"), GP64()), Load(Param("mean"), GP64())
	srs, drs, ws := stride("srs", size), stride("drs", size), stride("ws", size)
	for i, p := range pieces {
		top, bottom := fmt.Sprintf("piece%d", p.cols), fmt.Sprintf("below%d", p.cols)
		Label(top)
		CMPQ(n, Imm(uint64(p.cols)))
		JLT(LabelRef(bottom))
		m, wide := YMM(), YMM()
		VXORPD(m, m, m)
		TESTQ(mean, mean)
		JEQ(LabelRef(top + "NoMean"))
		p.move(Mem{Base: mean}, p.view(m))
		ADDQ(Imm(uint64(p.cols*size)), mean)
		Label(top + "NoMean")
		from, to, w, rows := GP64(), GP64(), Load(Param("weights"), GP64()), Load(Param("rows"), GP64())
		MOVQ(src, from)
		MOVQ(dst, to)
		Label(top + "Row")
		v := p.view(wide)
		p.move(Mem{Base: from}, v)
		weight := YMM()
		broadcast(Mem{Base: w}, weight)
		p.sub(p.view(m), v, v)
		p.mul(p.view(weight), v, v)
		p.move(v, Mem{Base: to})
		ADDQ(srs, from)
		ADDQ(drs, to)
		ADDQ(ws, w)
		DECQ(rows)
		JNZ(LabelRef(top + "Row"))
		ADDQ(Imm(uint64(p.cols*size)), src)
		ADDQ(Imm(uint64(p.cols*size)), dst)
		SUBQ(Imm(uint64(p.cols)), n)
		if i == 0 {
			JMP(LabelRef(top))
		}
		Label(bottom)
	}
	VZEROUPPER()
	RET()
}

// packColumns writes the copy of columns that lie in one piece each, as many at a
// time as a vector has lanes, by transposing squares.
func packColumns(typ string, size, lanes int, move func(...Op), transpose func([]VecVirtual) []VecVirtual) {
	TEXT(fmt.Sprintf("packColumns%d", 8*size), NOSPLIT, fmt.Sprintf(
		"func(rows, n int, src *%[1]s, scs int, dst *%[1]s, drs int)", typ))
	Pragma("noescape")
	Doc(fmt.Sprintf("dst[l·drs+j] = src[l+j·scs] for l < rows, j < n; n is a multiple of %d.", lanes))
	n := Load(Param("n"), GP64())
	src, dst := Load(Param("src"), GP64()), Load(Param("dst"), GP64())
	scs, drs := stride("scs", size), stride("drs", size)
	scs3, drs3 := GP64(), GP64()
	LEAQ(Mem{Base: scs, Index: scs, Scale: 2}, scs3)
	LEAQ(Mem{Base: drs, Index: drs, Scale: 2}, drs3)
	// Line i of a square at p: i·stride beyond it.
	line := func(p, p4, stride, stride3 Register, i int) Mem {
		if i >= 4 {
			p, i = p4, i-4
		}
		switch i {
		case 0:
			return Mem{Base: p}
		case 3:
			return Mem{Base: p, Index: stride3, Scale: 1}
		default:
			return Mem{Base: p, Index: stride, Scale: uint8(i)}
		}
	}

	Label("group")
	CMPQ(n, Imm(uint64(lanes)))
	JLT(LabelRef("done"))
	from, to, rows := GP64(), GP64(), Load(Param("rows"), GP64())
	from4, to4 := GP64(), GP64()
	MOVQ(src, from)
	MOVQ(dst, to)
	Label("square")
	CMPQ(rows, Imm(uint64(lanes)))
	JLT(LabelRef("row"))
	LEAQ(Mem{Base: from, Index: scs, Scale: 4}, from4)
	LEAQ(Mem{Base: to, Index: drs, Scale: 4}, to4)
	square := make([]VecVirtual, lanes)
	for i := range square {
		square[i] = YMM()
		move(line(from, from4, scs, scs3, i), square[i])
	}
	for i, v := range transpose(square) {
		move(v, line(to, to4, drs, drs3, i))
	}
	ADDQ(Imm(uint64(lanes*size)), from)
	LEAQ(Mem{Base: to, Index: drs, Scale: uint8(lanes)}, to)
	SUBQ(Imm(uint64(lanes)), rows)
	JMP(LabelRef("square"))

	Label("row")
	TESTQ(rows, rows)
	JEQ(LabelRef("next"))
	LEAQ(Mem{Base: from, Index: scs, Scale: 4}, from4)
	for i := range lanes {
		x := GP64()
		if size == 8 {
			MOVQ(line(from, from4, scs, scs3, i), x)
			MOVQ(x, Mem{Base: to}.Offset(i*size))
		} else {
			MOVL(line(from, from4, scs, scs3, i), x.As32())
			MOVL(x.As32(), Mem{Base: to}.Offset(i*size))
		}
	}
	ADDQ(Imm(uint64(size)), from)
	ADDQ(drs, to)
	DECQ(rows)
	JMP(LabelRef("row"))

	Label("next")
	for range lanes {
		ADDQ(scs, src)
	}
	ADDQ(Imm(uint64(lanes*size)), dst)
	SUBQ(Imm(uint64(lanes)), n)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

// addRow writes the update of a row, vector by vector, then one by one.
func addRow(typ string, size int, broadcast, move, fmadd213, mul, moveOne func(...Op)) {
	TEXT(fmt.Sprintf("addRow%d", 8*size), NOSPLIT, fmt.Sprintf("func(n int, alpha %[1]s, s, c *%[1]s, add bool)", typ))
	Pragma("noescape")
	Doc("c[j] = alpha·s[j], or c[j] + alpha·s[j] if add, for j < n.")
	n, s, c := Load(Param("n"), GP64()), Load(Param("s"), GP64()), Load(Param("c"), GP64())
	factor, err := Param("alpha").Resolve()
	if err != nil {
		panic(err)
	}
	add, err := Param("add").Resolve()
	if err != nil {
		panic(err)
	}
	alpha, v, old := YMM(), YMM(), YMM()
	broadcast(factor.Addr, alpha)
	CMPB(add.Addr, Imm(0))
	JEQ(LabelRef("setVector"))
	for _, what := range []string{"add", "set"} {
		Label(what + "Vector")
		CMPQ(n, Imm(uint64(32/size)))
		JLT(LabelRef(what + "One"))
		move(Mem{Base: s}, v)
		if what == "add" {
			move(Mem{Base: c}, old)
			fmadd213(old, alpha, v)
		} else {
			mul(alpha, v, v)
		}
		move(v, Mem{Base: c})
		ADDQ(Imm(32), s)
		ADDQ(Imm(32), c)
		SUBQ(Imm(uint64(32/size)), n)
		JMP(LabelRef(what + "Vector"))
		Label(what + "One")
		TESTQ(n, n)
		JEQ(LabelRef(what + "Done"))
		moveOne(Mem{Base: s}, v.AsX())
		if what == "add" {
			moveOne(Mem{Base: c}, old.AsX())
			fmadd213(old.AsX(), alpha.AsX(), v.AsX())
		} else {
			mul(alpha.AsX(), v.AsX(), v.AsX())
		}
		moveOne(v.AsX(), Mem{Base: c})
		ADDQ(Imm(uint64(size)), s)
		ADDQ(Imm(uint64(size)), c)
		DECQ(n)
		JMP(LabelRef(what + "One"))
		Label(what + "Done")
		VZEROUPPER()
		RET()
	}
}

func transpose4(r []VecVirtual) []VecVirtual {
	t, out := vectors(4), vectors(4)
	for i := 0; i < 4; i += 2 {
		VUNPCKLPD(r[i+1], r[i], t[i])
		VUNPCKHPD(r[i+1], r[i], t[i+1])
	}
	for i := range 2 {
		VPERM2F128(Imm(0x20), t[i+2], t[i], out[i])
		VPERM2F128(Imm(0x31), t[i+2], t[i], out[i+2])
	}
	return out
}

func transpose8(r []VecVirtual) []VecVirtual {
	t, u, out := vectors(8), vectors(8), vectors(8)
	for i := 0; i < 8; i += 2 { // pairs of lines
		VUNPCKLPS(r[i+1], r[i], t[i])
		VUNPCKHPS(r[i+1], r[i], t[i+1])
	}
	for i := 0; i < 8; i += 4 { // fours
		for j := range 2 {
			VUNPCKLPD(t[i+j+2], t[i+j], u[i+2*j])
			VUNPCKHPD(t[i+j+2], t[i+j], u[i+2*j+1])
		}
	}
	for i := range 4 { // halves
		VPERM2F128(Imm(0x20), u[i+4], u[i], out[i])
		VPERM2F128(Imm(0x31), u[i+4], u[i], out[i+4])
	}
	return out
}

func vectors(n int) []VecVirtual {
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = YMM()
	}
	return v
}

// stride loads a stride and turns it from elements into bytes.
func stride(name string, size int) Register {
	r := Load(Param(name), GP64())
	SHLQ(Imm(uint64(size/4+1)), r)
	return r
}
