// Command columns writes the assembly for blocks of rows that are stored by
// columns, with a row in every lane: what a Gaussian mixture does with them.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	width  = 32 // bytes of a vector
	chains = 4  // vectors in hand at a time, to hide the latency of the arithmetic
)

func main() {
	ConstraintExpr("amd64")
	whitenedSquares()
	scaledSquares()
	centre()
	products()
	Generate()
}

func vectors(n int) []VecVirtual {
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = YMM()
	}
	return v
}

// at returns vector v of the 16 rows that start at p.
func at(p Register, v int) Mem { return Mem{Base: p, Disp: v * width} }

func zero(v ...VecVirtual) {
	for _, r := range v {
		VXORPD(r, r, r)
	}
}

func whitenedSquares() {
	TEXT("whitenedSquaresAVX2", NOSPLIT, "func(q, x, mean, l, z *float64, d, n int)")
	Pragma("noescape")
	Doc("whitenedSquaresAVX2 writes ‖L⁻¹(x-μ)‖² for n rows of d columns, 16 at a time; z holds 16·d values.")
	q, x := Load(Param("q"), GP64()), Load(Param("x"), GP64())
	stride, n := GP64(), Load(Param("n"), GP64())
	MOVQ(n, stride)
	SHLQ(Imm(3), stride)

	Label("whitenBlock")
	l, mean, column, end := GP64(), GP64(), GP64(), GP64() // end of the z that are known
	Load(Param("l"), l)
	Load(Param("mean"), mean)
	MOVQ(x, column)
	Load(Param("z"), end)
	left := Load(Param("d"), GP64())
	sums := vectors(chains)
	zero(sums...)

	Label("whitenColumn")
	t, c := vectors(chains), YMM()
	VBROADCASTSD(Mem{Base: mean}, c)
	for v := range t {
		VMOVUPD(at(column, v), t[v])
		VSUBPD(c, t[v], t[v])
	}
	z := Load(Param("z"), GP64())
	CMPQ(z, end)
	JE(LabelRef("whitenDiagonal"))
	Label("whitenKnown")
	VBROADCASTSD(Mem{Base: l}, c)
	for v := range t {
		VFNMADD231PD(at(z, v), c, t[v])
	}
	ADDQ(Imm(8), l)
	ADDQ(Imm(chains*width), z)
	CMPQ(z, end)
	JNE(LabelRef("whitenKnown"))
	Label("whitenDiagonal")
	VBROADCASTSD(Mem{Base: l}, c)
	for v := range t {
		VMULPD(c, t[v], t[v])
		VMOVUPD(t[v], at(end, v))
		VFMADD231PD(t[v], t[v], sums[v])
	}
	ADDQ(Imm(8), l)
	ADDQ(Imm(8), mean)
	ADDQ(stride, column)
	ADDQ(Imm(chains*width), end)
	DECQ(left)
	JNZ(LabelRef("whitenColumn"))

	for v := range sums {
		VMOVUPD(sums[v], at(q, v))
	}
	ADDQ(Imm(chains*width), q)
	ADDQ(Imm(chains*width), x)
	SUBQ(Imm(4*chains), n)
	JNZ(LabelRef("whitenBlock"))
	VZEROUPPER()
	RET()
}

func scaledSquares() {
	TEXT("scaledSquaresAVX2", NOSPLIT, "func(q, x, mean, scale *float64, d, n int)")
	Pragma("noescape")
	Doc("scaledSquaresAVX2 writes Σ_j ((x_j-μ_j)·scale_j)² for n rows of d columns, 16 at a time.")
	q, x := Load(Param("q"), GP64()), Load(Param("x"), GP64())
	stride, n := GP64(), Load(Param("n"), GP64())
	MOVQ(n, stride)
	SHLQ(Imm(3), stride)

	Label("scaleBlock")
	mean, scale, column := GP64(), GP64(), GP64()
	Load(Param("mean"), mean)
	Load(Param("scale"), scale)
	MOVQ(x, column)
	left := Load(Param("d"), GP64())
	sums := vectors(chains)
	zero(sums...)
	Label("scaleColumn")
	t, m, s := vectors(chains), YMM(), YMM()
	VBROADCASTSD(Mem{Base: mean}, m)
	VBROADCASTSD(Mem{Base: scale}, s)
	for v := range t {
		VMOVUPD(at(column, v), t[v])
		VSUBPD(m, t[v], t[v])
		VMULPD(s, t[v], t[v])
		VFMADD231PD(t[v], t[v], sums[v])
	}
	ADDQ(Imm(8), mean)
	ADDQ(Imm(8), scale)
	ADDQ(stride, column)
	DECQ(left)
	JNZ(LabelRef("scaleColumn"))
	for v := range sums {
		VMOVUPD(sums[v], at(q, v))
	}
	ADDQ(Imm(chains*width), q)
	ADDQ(Imm(chains*width), x)
	SUBQ(Imm(4*chains), n)
	JNZ(LabelRef("scaleBlock"))
	VZEROUPPER()
	RET()
}

func centre() {
	TEXT("centreAVX2", NOSPLIT, "func(y, wy, x, w *float64, mean float64, n int) float64")
	Pragma("noescape")
	Doc("centreAVX2 writes y = x-μ and w·y for one column of n rows, and returns the sum of the latter.")
	y, wy := Load(Param("y"), GP64()), Load(Param("wy"), GP64())
	x, w := Load(Param("x"), GP64()), Load(Param("w"), GP64())
	n, m := Load(Param("n"), GP64()), YMM()
	address, err := Param("mean").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSD(address.Addr, m)
	sum := YMM()
	zero(sum)
	Label("centreBlock")
	t, u := vectors(chains), vectors(chains)
	for v := range t {
		VMOVUPD(at(x, v), t[v])
		VSUBPD(m, t[v], t[v])
		VMOVUPD(t[v], at(y, v))
		VMULPD(at(w, v), t[v], u[v])
		VMOVUPD(u[v], at(wy, v))
		VADDPD(u[v], sum, sum)
	}
	for _, p := range []Register{x, w, y, wy} {
		ADDQ(Imm(chains*width), p)
	}
	SUBQ(Imm(4*chains), n)
	JNZ(LabelRef("centreBlock"))

	high := XMM()
	VHADDPD(sum, sum, sum) // s0+s1 low, s2+s3 high
	VEXTRACTF128(Imm(1), sum, high)
	VADDSD(high, sum.AsX(), sum.AsX())
	VZEROUPPER()
	Store(sum.AsX(), ReturnIndex(0))
	RET()
}

// products multiplies two rows by four, all 4 lanes wide, along n.
func products() {
	TEXT("productsAVX2", NOSPLIT, "func(dst, a0, a1, b0, b1, b2, b3 *float64, n int)")
	Pragma("noescape")
	Doc("productsAVX2 writes the eight inner products of a0 and a1 with b0 to b3, n a multiple of 4.")
	var a, b []Register
	for _, name := range []string{"a0", "a1"} {
		a = append(a, Load(Param(name), GP64()))
	}
	for _, name := range []string{"b0", "b1", "b2", "b3"} {
		b = append(b, Load(Param(name), GP64()))
	}
	n, i := Load(Param("n"), GP64()), GP64()
	XORQ(i, i)
	sums := [][]VecVirtual{vectors(4), vectors(4)}
	zero(sums[0]...)
	zero(sums[1]...)
	Label("productsLoop")
	left := vectors(2)
	for r := range left {
		VMOVUPD(Mem{Base: a[r], Index: i, Scale: 8}, left[r])
	}
	for c := range b {
		right := YMM()
		VMOVUPD(Mem{Base: b[c], Index: i, Scale: 8}, right)
		for r := range left {
			VFMADD231PD(right, left[r], sums[r][c])
		}
	}
	ADDQ(Imm(4), i)
	CMPQ(i, n)
	JNE(LabelRef("productsLoop"))

	dst := Load(Param("dst"), GP64())
	for r, s := range sums {
		p, q, c := s[0], s[2], YMM()
		VHADDPD(s[1], p, p) // s0+s1 of columns 0 and 1, s2+s3 of the same
		VHADDPD(s[3], q, q)
		VPERM2F128(Imm(0x21), q, p, c)
		VBLENDPD(Imm(0b1100), q, p, p)
		VADDPD(c, p, p)
		VMOVUPD(p, Mem{Base: dst, Disp: r * width})
	}
	VZEROUPPER()
	RET()
}
