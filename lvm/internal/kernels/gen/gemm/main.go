// Command gemm writes the assembly of the product kernels.
//
// A kernel updates a strip of C that is at most two vectors wide:
//
//	C[i,j] ← (C[i,j] if add) + α Σ_l A[i,l]·B[l,j]
//
// It walks down the strip in tiles of as many rows as the registers hold, then in
// lower tiles for the rows that are left. A tile keeps its sums in registers while
// l runs: each step loads a row of B, broadcasts one element of A per row of the
// tile, and adds with one fused multiply-add per vector. So every sum is taken in
// the order l = 0, 1, …, whatever the tile and the width of the vectors.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	writeMasks()
	for _, e := range []element{double, single} {
		kernel{element: e, suffix: "AVX2", bytes: 32, tiles: []int{6, 4, 2, 1}, vector: YMM}.write()
		kernel{element: e, suffix: "AVX512", bytes: 64, tiles: []int{12, 8, 4, 2, 1}, vector: ZMM}.write()
	}
	Generate()
}

// An element is a floating-point type and its instructions.
type element struct {
	name string
	size int

	broadcast, move, xor, mul, fmadd213, fmadd231 func(...Op)
	maskMove, maskMoveZ                           func(_, _, _ Op)
}

var (
	double = element{"float64", 8,
		VBROADCASTSD, VMOVUPD, VXORPD, VMULPD, VFMADD213PD, VFMADD231PD, VMASKMOVPD, VMOVUPD_Z}
	single = element{"float32", 4,
		VBROADCASTSS, VMOVUPS, VXORPS, VMULPS, VFMADD213PS, VFMADD231PS, VMASKMOVPS, VMOVUPS_Z}
)

// A kernel is one function: an element type and a width of vectors.
type kernel struct {
	element
	suffix string
	bytes  int   // per vector
	tiles  []int // heights, falling
	vector func() VecVirtual

	// Registers that live through the whole function; strides in bytes.
	m, ars, ars3, ars5, acs, brs, crs Register
	a, b, c                           Register // the tile's corner
	mask                              Op       // for the last vector of a strip
}

func (k kernel) write() {
	name := fmt.Sprintf("product%d%s", 8*k.size, k.suffix)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(m, n, k int, alpha %[1]s, a *%[1]s, ars, acs, aps int, b *%[1]s, brs int, c *%[1]s, crs int, add bool)", k.name))
	Pragma("noescape")
	Doc(name + " is kernel.product.")

	k.a, k.b, k.c = Load(Param("a"), GP64()), Load(Param("b"), GP64()), Load(Param("c"), GP64())
	k.m = Load(Param("m"), GP64())
	k.ars, k.acs, k.brs, k.crs = k.stride("ars"), k.stride("acs"), k.stride("brs"), k.stride("crs")
	k.ars3, k.ars5 = GP64(), GP64()
	LEAQ(Mem{Base: k.ars, Index: k.ars, Scale: 2}, k.ars3)
	LEAQ(Mem{Base: k.ars, Index: k.ars, Scale: 4}, k.ars5)

	lanes := k.bytes / k.size
	n := Load(Param("n"), GP64())
	CMPQ(n, Imm(uint64(2*lanes)))
	JEQ(LabelRef("full"))
	CMPQ(n, Imm(uint64(lanes)))
	JGT(LabelRef("wide"))

	k.mask = k.loadMask(n, 0)
	k.strip("narrow", 1)
	Label("wide")
	k.mask = k.loadMask(n, lanes)
	k.strip("wide", 2)
	Label("full")
	k.mask = nil
	k.strip("full", 2)
}

// stride loads a stride and turns it from elements into bytes.
func (k kernel) stride(name string) Register {
	r := Load(Param(name), GP64())
	SHLQ(Imm(uint64(k.size/4+1)), r)
	return r
}

var masks = map[string]Mem{} // by element type: a vector of ones, then a vector of zeros

func writeMasks() {
	for _, e := range []element{double, single} {
		masks[e.name] = GLOBL(e.name+"Masks", RODATA|NOPTR)
		for i := range 8 {
			var ones U64
			if i < 4 {
				ones = 1<<64 - 1
			}
			DATA(8*i, ones)
		}
	}
}

// loadMask returns a mask of the first n-skip lanes of a vector.
func (k kernel) loadMask(n Register, skip int) Op {
	if k.bytes == 64 {
		ones, mask := GP64(), K()
		MOVQ(I64(-1), ones)
		count := GP64()
		LEAQ(Mem{Base: n}.Offset(-skip), count)
		BZHIQ(count, ones, ones)
		KMOVQ(ones, mask)
		return mask
	}
	// A window on a row of ones and zeros, which starts at the last ones.
	table, at, mask := GP64(), GP64(), k.vector()
	LEAQ(masks[k.name], table)
	MOVQ(I64(k.bytes/k.size+skip), at)
	SUBQ(n, at)
	k.move(Mem{Base: table, Index: at, Scale: uint8(k.size)}, mask)
	return mask
}

// strip writes the code for one width: vecs vectors, the last one masked if there is a mask.
func (k kernel) strip(name string, vecs int) {
	for i, rows := range k.tiles {
		Label(fmt.Sprintf("%s_%d", name, i))
		CMPQ(k.m, Imm(uint64(rows)))
		if i+1 < len(k.tiles) {
			JLT(LabelRef(fmt.Sprintf("%s_%d", name, i+1)))
		} else {
			JLT(LabelRef(name + "_done"))
		}
		k.tile(fmt.Sprintf("%s_%d", name, i), rows, vecs)
		if i == 0 {
			aps := k.stride("aps")
			ADDQ(aps, k.a)
		} else {
			for range rows {
				ADDQ(k.ars, k.a)
			}
		}
		SUBQ(Imm(uint64(rows)), k.m)
		JMP(LabelRef(fmt.Sprintf("%s_%d", name, i)))
	}
	Label(name + "_done")
	VZEROUPPER()
	RET()
}

// tile writes the code for rows × vecs vectors of C and moves c below them.
func (k kernel) tile(name string, rows, vecs int) {
	sum := make([][]VecVirtual, rows)
	for i := range sum {
		sum[i] = make([]VecVirtual, vecs)
		for v := range sum[i] {
			sum[i][v] = k.vector()
			k.xor(sum[i][v], sum[i][v], sum[i][v])
		}
	}

	a, a6, b, l := GP64(), GP64(), GP64(), Load(Param("k"), GP64())
	MOVQ(k.a, a)
	if rows > 6 {
		LEAQ(Mem{Base: k.a, Index: k.ars3, Scale: 2}, a6)
	}
	MOVQ(k.b, b)
	Label(name + "_sum")
	row := make([]VecVirtual, vecs)
	for v := range row {
		row[v] = k.vector()
		from := Mem{Base: b}.Offset(v * k.bytes)
		if v == vecs-1 && k.mask != nil {
			k.loadMasked(from, row[v])
		} else {
			k.move(from, row[v])
		}
	}
	ADDQ(k.brs, b)
	for i := range sum {
		from := k.entry(a, i)
		if i >= 6 {
			from = k.entry(a6, i-6)
		}
		x := k.vector()
		k.broadcast(from, x)
		for v := range row {
			k.fmadd231(x, row[v], sum[i][v])
		}
	}
	ADDQ(k.acs, a)
	if rows > 6 {
		ADDQ(k.acs, a6)
	}
	DECQ(l)
	JNZ(LabelRef(name + "_sum"))

	alpha := k.vector()
	k.broadcast(k.param("alpha"), alpha)
	CMPB(k.param("add"), Imm(0))
	JEQ(LabelRef(name + "_set"))
	k.update(sum, func(s VecVirtual, c Mem, masked bool) {
		old := k.vector()
		if masked {
			k.loadMasked(c, old)
		} else {
			k.move(c, old)
		}
		k.fmadd213(old, alpha, s)
	})
	JMP(LabelRef(name + "_next"))
	Label(name + "_set")
	k.update(sum, func(s VecVirtual, _ Mem, _ bool) { k.mul(alpha, s, s) })
	Label(name + "_next")
}

// update stores final(sum) row by row.
func (k kernel) update(sum [][]VecVirtual, final func(s VecVirtual, c Mem, masked bool)) {
	for i := range sum {
		for v, s := range sum[i] {
			c := Mem{Base: k.c}.Offset(v * k.bytes)
			masked := k.mask != nil && v == len(sum[i])-1
			final(s, c, masked)
			switch {
			case !masked:
				k.move(s, c)
			case k.bytes == 64:
				k.move(s, k.mask, c)
			default:
				k.maskMove(s, k.mask, c)
			}
		}
		ADDQ(k.crs, k.c)
	}
}

func (k kernel) loadMasked(from Mem, to VecVirtual) {
	if k.bytes == 64 {
		k.maskMoveZ(from, k.mask, to)
	} else {
		k.maskMove(from, k.mask, to)
	}
}

// entry addresses A[i,l], i < 6, from a = &A[0,l].
func (k kernel) entry(a Register, i int) Mem {
	switch i {
	case 0:
		return Mem{Base: a}
	case 3:
		return Mem{Base: a, Index: k.ars3, Scale: 1}
	case 5:
		return Mem{Base: a, Index: k.ars5, Scale: 1}
	default:
		return Mem{Base: a, Index: k.ars, Scale: uint8(i)}
	}
}

func (k kernel) param(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
