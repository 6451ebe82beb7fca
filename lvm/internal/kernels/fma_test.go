package kernels

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactFMA32 rounds the exact x*y + z once.
func exactFMA32(x, y, z float32) float32 {
	for _, v := range []float32{x, y, z} {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return float32(math.FMA(float64(x), float64(y), float64(z)))
		}
	}
	p := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
	s := p.Add(p, big.NewFloat(float64(z)))
	if s.Sign() == 0 { // big.Float has no rule for the sign of an exact zero
		return float32(float64(x)*float64(y) + float64(z))
	}
	f, _ := s.Float32()
	return f
}

func sameFloat32(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() float32 {
		switch rng.IntN(8) {
		case 0: // any bit pattern, with Inf, NaN and subnormals
			return math.Float32frombits(rng.Uint32())
		case 1: // few significant bits, so that sums hit ties
			return float32(rng.IntN(9)-4) * float32(math.Ldexp(1, rng.IntN(60)-30))
		case 2: // subnormal
			return math.Float32frombits(rng.Uint32() & 0x807fffff)
		case 3: // near the square root of the smallest normal number
			return (1 + rng.Float32()) * float32(math.Ldexp(1, -64-rng.IntN(12)))
		default:
			return float32(rng.NormFloat64()) * float32(math.Ldexp(1, rng.IntN(50)-25))
		}
	}
	for range trials(400_000) {
		x, y, z := random(), random(), random()
		if got, want := fma32(x, y, z), exactFMA32(x, y, z); !sameFloat32(got, want) {
			t.Fatalf("fma32(%g, %g, %g) = %g, want %g", x, y, z, got, want)
		}
	}
}

// Rounding the sum to float64 on its way to float32 gets each of these wrong.
func TestFMA32RoundsOnce(t *testing.T) {
	for _, c := range []struct{ x, y, z float32 }{
		{0x1p-75 * (1 + 0x1p-23), 0x1p-75 * (1 - 0x1p-23), 0x1p-130 + 0x1p-149}, // beside a tie between subnormals
		{-0x1.0001c2p-12, 0x1.fffc7cp-13, 0x1.000002p+00},
		{0x1.0001ep-12, 0x1.fffc4p-13, 0x1.000006p+00},
		{-0x1.000162p-12, 0x1.fffd3cp-13, 0x1.000002p+00},
		{0x1.00015ep-12, 0x1.fffd44p-13, 0x1.000006p+00},
	} {
		want := exactFMA32(c.x, c.y, c.z)
		if twice := float32(float64(c.x)*float64(c.y) + float64(c.z)); twice == want {
			t.Errorf("fma32(%x, %x, %x) is no test: rounding twice is right", c.x, c.y, c.z)
		}
		if got := fma32(c.x, c.y, c.z); got != want {
			t.Errorf("fma32(%x, %x, %x) = %x, want %x", c.x, c.y, c.z, got, want)
		}
	}
}
