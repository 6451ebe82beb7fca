package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	moveSize = 12 // bytes
	ahead    = 8  // moves
)

// moveRows goes along the row four columns at a time, and along the sums of both
// groups with it. At the end the square and the weight are moved as a pair.
func moveRows(masks Mem) {
	TEXT("moveRowsAVX2", NOSPLIT, "func(sums, x *float64, d, stride int, moves *int32, n int, w, origin, coarse, fine *float64)")
	Pragma("noescape")
	Doc("moveRowsAVX2 is MoveRows for n moves of rows of d columns.")
	m := mover{
		origin: Load(Param("origin"), GP64()),
		coarse: Load(Param("coarse"), GP64()),
		fine:   Load(Param("fine"), GP64()),
		row:    GP64(), j: GP64(),
	}
	for i := range m.from {
		m.from[i], m.to[i] = GP64(), GP64()
	}
	move := Load(Param("moves"), GP64())
	vectors := Load(Param("d"), GP64())
	half := GP64() // bytes of the coarse or the fine sums of a group
	LEAQ(Mem{Base: vectors, Disp: lanes + lanes - 1}, half)
	ANDQ(I8(-lanes), half)
	SHLQ(Imm(3), half)
	rest, mask := splitOff(vectors, masks)
	SHLQ(Imm(5), vectors) // to bytes

	last := GP64() // the move after the last
	n := Load(Param("n"), GP64())
	LEAQ(Mem{Base: n, Index: n, Scale: 2}, last)
	LEAQ(Mem{Base: move, Index: last, Scale: 4}, last)
	Store(last, Param("n"))

	Label("move")
	w, squares := YMM(), YMM()
	t, at := GP64(), GP64()
	MOVLQSX(Mem{Base: move}, m.row)
	Load(Param("w"), at)
	VBROADCASTSD(Mem{Base: at, Index: m.row, Scale: 8}, w)
	Load(Param("stride"), t)
	SHLQ(Imm(3), t)
	IMULQ(t, m.row)
	// Rows that move are far apart in memory: ask for one that comes later.
	later := GP64()
	LEAQ(Mem{Base: move, Disp: ahead * moveSize}, later)
	end := NewParamAddr("n", 40)
	CMPQ(later, end)
	CMOVQCC(move, later)
	MOVLQSX(Mem{Base: later}, later)
	IMULQ(t, later)
	Load(Param("x"), t)
	ADDQ(t, m.row)
	PREFETCHT0(Mem{Base: t, Index: later, Scale: 1})
	PREFETCHT0(Mem{Base: t, Index: later, Scale: 1, Disp: 64})
	Load(Param("sums"), t)
	for i, group := range [][2]Register{m.from, m.to} {
		MOVLQSX(Mem{Base: move, Disp: 4 + 4*i}, group[0])
		IMULQ(half, group[0])
		LEAQ(Mem{Base: t, Index: group[0], Scale: 2}, group[0])
		LEAQ(Mem{Base: group[0], Index: half, Scale: 1}, group[1])
	}

	j := m.j
	XORQ(j, j)
	VXORPD(squares, squares, squares)
	TESTQ(vectors, vectors)
	JZ(LabelRef("rest"))
	Label("loop")
	v := YMM()
	VMOVUPD(Mem{Base: m.row, Index: j, Scale: 1}, v)
	VSUBPD(Mem{Base: m.origin, Index: j, Scale: 1}, v, v)
	VFMADD231PD(v, v, squares)
	VMULPD(w, v, v)
	m.add(v, YMM)
	ADDQ(Imm(width), j)
	CMPQ(j, vectors)
	JNE(LabelRef("loop"))

	Label("rest")
	TESTQ(rest, rest)
	JZ(LabelRef("pair"))
	o := YMM()
	VMASKMOVPD(Mem{Base: m.row, Index: j, Scale: 1}, mask, v)
	VMASKMOVPD(Mem{Base: m.origin, Index: j, Scale: 1}, mask, o)
	VSUBPD(o, v, v)
	VFMADD231PD(v, v, squares)
	VMULPD(w, v, v)
	m.add(v, YMM)
	ADDQ(Imm(width), j)

	Label("pair")
	high, pair := XMM(), squares.AsX()
	VHADDPD(squares, squares, squares)
	VEXTRACTF128(Imm(1), squares, high)
	VADDSD(high, pair, pair)
	VMULSD(w.AsX(), pair, pair)
	VUNPCKLPD(w.AsX(), pair, pair)
	m.add(pair, XMM)

	ADDQ(Imm(moveSize), move)
	CMPQ(move, end)
	JNE(LabelRef("move"))
	VZEROUPPER()
	RET()
}

// mover holds addresses; j bytes past them is where moveRows is.
type mover struct {
	row, origin, coarse, fine, j Register
	from, to                     [2]Register // the coarse and the fine sums
}

// add cuts v in two and moves the parts.
func (m mover) add(v Op, vector func() VecVirtual) {
	at := func(base Register) Mem { return Mem{Base: base, Index: m.j, Scale: 1} }
	for i, place := range []Register{m.coarse, m.fine} {
		size, part, sum := vector(), vector(), vector()
		VMOVUPD(at(place), size)
		VADDPD(size, v, part)
		VSUBPD(size, part, part)
		if i == 0 {
			VSUBPD(part, v, v)
		}
		VADDPD(at(m.to[i]), part, sum)
		VMOVUPD(sum, at(m.to[i]))
		VMOVUPD(at(m.from[i]), sum)
		VSUBPD(part, sum, sum)
		VMOVUPD(sum, at(m.from[i]))
	}
}
