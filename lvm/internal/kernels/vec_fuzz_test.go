package kernels

import (
	"encoding/binary"
	"math"
	"testing"
)

// Any bytes as numbers, any number of columns: all paths give the bits of the
// definition, and a posterior is one.
func FuzzVectorFunctions(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), uint8(1))
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(-745.13)), uint8(3))
	f.Add(make([]byte, 800), uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, columns uint8) {
		data = data[:min(len(data), 4096)]
		x := make([]float64, len(data)/8)
		for i := range x {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		y := make([]float32, len(data)/4)
		for i := range y {
			y[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		for p := portable; p <= best(); p++ {
			active = p
			fuzzPath(t, x, 1+int(columns%70))
			fuzzPath(t, y, 1+int(columns%70))
		}
		active = best()
	})
}

func fuzzPath[T Float](t *testing.T, x []T, k int) {
	c := constants[T]()
	for name, f := range elementwiseFunctions[T]() {
		y := make([]T, len(x))
		f.vector(y, x)
		for i, v := range x {
			if want := f.scalar(c, v); toBits(y[i]) != toBits(want) {
				t.Fatalf("%v: %s(%g) = %g, want %g", active, name, v, y[i], want)
			}
		}
	}

	n := len(x) / k
	rows, lse := append([]T(nil), x[:n*k]...), make([]T, n)
	LogSumExpRows(lse, Of(n, k, rows, k))
	for i := range n {
		row := append([]T(nil), x[i*k:(i+1)*k]...)
		if want := logSumExp(c, k, &row[0], 1); toBits(lse[i]) != toBits(want) {
			t.Fatalf("%v: lse %g, want %g", active, lse[i], want)
		}
		sum := 0.0
		for j, want := range row {
			if p := rows[i*k+j]; toBits(p) != toBits(want) || p < 0 || p > 1+T(k)*T(math.Ldexp(1, -c.Mantissa)) {
				t.Fatalf("%v: posterior %g, want %g", active, p, want)
			}
			sum += float64(want)
		}
		// The row is divided by its own sum, so only that sum's rounding remains.
		usable := !math.IsInf(float64(lse[i]), 0) && lse[i] == lse[i]
		if usable && math.Abs(sum-1) > float64(k+2)*math.Ldexp(1, -c.Mantissa) {
			t.Fatalf("%v: posterior of %g sums to %v", active, x[i*k:(i+1)*k], sum)
		}
	}
}
