// Command trsm writes the assembly that solves small triangles. Right-hand sides lie
// side by side in the vectors and do not touch each other; so the width of the vectors
// leaves no trace, and all amd64 paths share it.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	substitute(element{"float64", 8, VBROADCASTSD, VXORPD, VFMADD231PD, VSUBPD, VDIVPD, VMOVUPD, VMOVSD})
	substitute(element{"float32", 4, VBROADCASTSS, VXORPS, VFMADD231PS, VSUBPS, VDIVPS, VMOVUPS, VMOVSS})
	Generate()
}

// An element is a floating-point type and its instructions.
type element struct {
	name string
	size int

	broadcast, xor, fmadd231, sub, div, move, moveOne func(...Op)
}

func substitute(e element) {
	name := fmt.Sprintf("substitute%d", 8*e.size)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(m, n int, a *%[1]s, ars, acs int, b *%[1]s, brs int, unit bool)", e.name))
	Pragma("noescape")
	Doc(name + " is kernel.substitute.")
	s := solver{
		element: e,
		n:       Load(Param("n"), GP64()),
		b:       Load(Param("b"), GP64()),
		ars:     stride("ars", e.size), acs: stride("acs", e.size), brs: stride("brs", e.size),
	}
	lanes := 32 / e.size
	s.columns("four", 4*lanes, 4, e.move)
	s.columns("one", lanes, 1, e.move)
	s.columns("single", 1, 1, e.moveOne) // the first lane alone
	VZEROUPPER()
	RET()
}

type solver struct {
	element
	n, b, ars, acs, brs Register
}

// columns writes the solution for so many right-hand sides, in vecs vectors, as long
// as there are so many left.
func (s solver) columns(name string, count, vecs int, move func(...Op)) {
	Label(name)
	CMPQ(s.n, Imm(uint64(count)))
	JLT(LabelRef(name + "Done"))
	view := func(v VecVirtual) Op {
		if count == 1 {
			return v.AsX()
		}
		return v
	}
	at := func(p Register, v int) Mem { return Mem{Base: p}.Offset(32 * v) }

	row, x, i := Load(Param("a"), GP64()), GP64(), GP64() // A[i,0], B[i,0]
	MOVQ(s.b, x)
	XORQ(i, i)
	Label(name + "Row")
	sum := make([]VecVirtual, vecs)
	for v := range sum {
		sum[v] = YMM()
		s.xor(sum[v], sum[v], sum[v])
	}
	a, known, left := GP64(), GP64(), GP64() // A[i,l], B[l,0], how many l are left
	MOVQ(row, a)
	MOVQ(s.b, known)
	MOVQ(i, left)
	TESTQ(left, left)
	JEQ(LabelRef(name + "Summed"))
	Label(name + "Sum")
	factor := YMM()
	s.broadcast(Mem{Base: a}, factor)
	for v := range sum {
		if count == 1 {
			one := YMM()
			move(at(known, v), view(one))
			s.fmadd231(one, factor, sum[v])
		} else {
			s.fmadd231(at(known, v), factor, sum[v])
		}
	}
	ADDQ(s.acs, a)
	ADDQ(s.brs, known)
	DECQ(left)
	JNZ(LabelRef(name + "Sum"))
	Label(name + "Summed")

	diagonal := YMM()
	s.broadcast(Mem{Base: a}, diagonal)
	param, err := Param("unit").Resolve()
	if err != nil {
		panic(err)
	}
	for v := range sum {
		right := YMM()
		move(at(x, v), view(right))
		s.sub(sum[v], right, sum[v])
	}
	CMPB(param.Addr, Imm(0))
	JNE(LabelRef(name + "Store"))
	for v := range sum {
		s.div(diagonal, sum[v], sum[v])
	}
	Label(name + "Store")
	for v := range sum {
		move(view(sum[v]), at(x, v))
	}
	ADDQ(s.ars, row)
	ADDQ(s.brs, x)
	INCQ(i)
	m := Load(Param("m"), GP64())
	CMPQ(i, m)
	JLT(LabelRef(name + "Row"))

	ADDQ(Imm(uint64(count*s.size)), s.b)
	SUBQ(Imm(uint64(count)), s.n)
	JMP(LabelRef(name))
	Label(name + "Done")
}

// stride loads a stride and turns it from elements into bytes.
func stride(name string, size int) Register {
	r := Load(Param(name), GP64())
	SHLQ(Imm(uint64(size/4+1)), r)
	return r
}
