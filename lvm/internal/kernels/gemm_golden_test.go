package kernels

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// The bits are the same on every machine and from one release to the next: these sums
// were computed once. GOAMD64=v3, arm64 and GODEBUG=cpu.avx2=off must find them too. A
// change that alters them changes results of users and says so in its message.
func TestGoldenBits(t *testing.T) {
	golden := map[string]uint64{
		"Gemm float64":     0x6cc73072301ee0d3,
		"Gemm float32":     0x7d2877be0473fa1,
		"Gram float64":     0x933b05e89ece9a8d,
		"Gram float32":     0x31c2090fb72cb2b0,
		"Trsm float64":     0x55ce2f030510d2ae,
		"Trsm float32":     0xc49c3880c2ff9827,
		"Cholesky float64": 0xb8a8b8de2bf8314d,
		"Cholesky float32": 0x68c8d1c9e499d91b,
		"Eigen float64":    0x3b462f6255afef6f,
	}
	onEachPath(t, func(t *testing.T) {
		got := map[string]uint64{}
		goldenProducts[float64](got, "float64")
		goldenProducts[float32](got, "float32")
		a := uniform[float64](130, 130)
		values, vectors, _ := Eigen(a, 130)
		got["Eigen float64"] = checksum(append(values, vectors.Data...))
		for name, want := range golden {
			if got[name] != want {
				t.Errorf("%q: %#x, want %#x", name, got[name], want)
			}
		}
	})
}

func goldenProducts[T Float](got map[string]uint64, typ string) {
	a, b, c := uniform[T](70, 600), uniform[T](600, 90), uniform[T](70, 90)
	Gemm(0.7, a, b, 0.3, c)
	got["Gemm "+typ] = checksum(c.Data)

	g := uniform[T](90, 90)
	Gram(0.01, b, uniform[T](1, 90).Data, uniform[T](1, 600).Data, 0.5, g)
	got["Gram "+typ] = checksum(g.Data)

	Gram(0.1, b, nil, nil, 0, g)
	for i := range 90 {
		*g.at(i, i)++
	}
	Cholesky(Lower, g)
	got["Cholesky "+typ] = checksum(g.Data)

	Trsm(Lower, false, 1.5, g, c.T())
	got["Trsm "+typ] = checksum(c.Data)
}

// uniform returns numbers between -½ and ½ that do not depend on the machine.
func uniform[T Float](rows, cols int) Matrix[T] {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	m := Of(rows, cols, make([]T, rows*cols), cols)
	for i := range m.Data {
		m.Data[i] = T(rng.Float64() - 0.5)
	}
	return m
}

func checksum[T Float](x []T) uint64 {
	h := fnv.New64a()
	for _, v := range x {
		binary.Write(h, binary.LittleEndian, math.Float64bits(float64(v)))
	}
	return h.Sum64()
}
