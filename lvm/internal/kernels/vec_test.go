package kernels

import (
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/latent-lessons/latent/lvm/internal/kernels/coef"
)

var exhaustive = flag.Bool("exhaustive", false, "try all 2³² float32, not one in 6,151")

// elementwise is one of the functions dst[i] ← f(src[i]).
type elementwise[T Float] struct {
	vector func(dst, src []T)
	scalar func(*coef.Constants[T], T) T
}

func elementwiseFunctions[T Float]() map[string]elementwise[T] {
	return map[string]elementwise[T]{
		"exp":      {Exp[T], scalarExp[T]},
		"log":      {Log[T], scalarLog[T]},
		"sigmoid":  {Sigmoid[T], scalarSigmoid[T]},
		"tanh":     {Tanh[T], scalarTanh[T]},
		"softplus": {Softplus[T], scalarSoftplus[T]},
	}
}

// ranges are where something happens to one of the functions.
var ranges = [][2]float64{
	{-1, 1}, {-20, 20}, {-1e-3, 1e-3}, {0, 1e-300}, {0, 1e-40}, {0.7, 1.5}, {0.999, 1.001},
	{-746, -708}, {-105, -86}, {88, 89}, {709, 710}, {-760, 760}, {17, 22}, {8, 11}, {-40, -30},
}

// arguments returns n numbers and more: any bit pattern, the ranges, the edges of
// the format and their neighbours.
func arguments[T Float](rng *rand.Rand, n int) []T {
	var x []T
	for len(x) < n {
		x = append(x, fromBits[T](rng.Uint64()))
		r := ranges[rng.IntN(len(ranges))]
		x = append(x, T(r[0]+float64(rng.Float64()*(r[1]-r[0]))))
		x = append(x, T(math.Ldexp(1+rng.Float64(), rng.IntN(40)-30)))
	}
	c := constants[T]()
	for _, e := range []T{
		0, 1, 2, 0.5, c.SqrtHalf, 2 * c.SqrtHalf, c.Ln2Hi / 2, c.ExpLow, c.ExpHigh, c.TanhHigh,
		T(math.Inf(1)), c.NaN, fromBits[T](^uint64(0)), 745.1332, 709.782712893384, 708.396,
		88.722839, 87.33655, 103.97208, fromBits[T](1 << c.Mantissa), fromBits[T](1),
	} {
		for d := uint64(0); d < 9; d++ {
			v := fromBits[T](toBits(e) + d - 4)
			x = append(x, v, -v)
		}
	}
	return x
}

func TestVectorFunctionsGiveTheBitsOfTheirDefinition(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		t.Run("float64", bitsOfDefinition[float64])
		t.Run("float32", bitsOfDefinition[float32])
	})
}

func bitsOfDefinition[T Float](t *testing.T) {
	n := 3_000_000
	if testing.Short() || active == portable {
		n = 30_000
	}
	for name, f := range elementwiseFunctions[T]() {
		src := arguments[T](rand.New(rand.NewPCG(1, 2)), n)
		dst := make([]T, len(src))
		f.vector(dst, src)
		for i, x := range src {
			if want := f.scalar(constants[T](), x); toBits(dst[i]) != toBits(want) {
				t.Fatalf("%s(%g = %#x) = %g %#x, want %g %#x", name, x, toBits(x), dst[i], toBits(dst[i]), want, toBits(want))
			}
		}
	}
}

func TestVectorFunctionsOnAllLengths(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		t.Run("float64", allLengths[float64])
		t.Run("float32", allLengths[float32])
	})
}

// Each length, each alignment, in place and not, with canaries on both sides.
func allLengths[T Float](t *testing.T) {
	const most, canary = 70, 12345
	all := arguments[T](rand.New(rand.NewPCG(3, 4)), 200)
	for name, f := range elementwiseFunctions[T]() {
		for n := range most {
			for at := 1; at < 9; at++ {
				src := all[len(all)-n:]
				want := make([]T, n)
				for i, x := range src {
					want[i] = f.scalar(constants[T](), x)
				}
				for _, inPlace := range []bool{false, true} {
					room := make([]T, most+20)
					for i := range room {
						room[i] = canary
					}
					dst := room[at : at+n]
					if inPlace {
						copy(dst, src)
						f.vector(dst, dst)
					} else {
						f.vector(dst, src)
					}
					for i, v := range room {
						w := T(canary)
						if at <= i && i < at+n {
							w = want[i-at]
						}
						if toBits(v) != toBits(w) {
							t.Fatalf("%s, n = %d at %d: element %d is %g, want %g", name, n, at, i-at, v, w)
						}
					}
				}
			}
		}
	}
}

func TestVectorFunctionsAtTheirLimits(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		t.Run("float64", limits[float64])
		t.Run("float32", limits[float32])
	})
}

func limits[T Float](t *testing.T) {
	c := constants[T]()
	inf, nan, zero := T(math.Inf(1)), T(math.NaN()), T(0)
	minus, normal := copySign(zero, -1), fromBits[T](1<<c.Mantissa)
	largest, smallest := fromBits[T](toBits(inf)-1), fromBits[T](1)
	// The last arguments at which e^x is finite, normal and not 0.
	over, sub, gone := T(709.782712893384), T(-708.3964185322641), T(-745.1332191019411)
	if c.Mantissa == 23 {
		over, sub, gone = 88.72283, -87.33654, -103.972076
	}
	next := func(x, to T) T {
		if (to > x) == (x > 0) {
			return fromBits[T](toBits(x) + 1)
		}
		return fromBits[T](toBits(x) - 1)
	}
	for name, cases := range map[string][][2]T{
		"exp": {
			{0, 1}, {minus, 1}, {inf, inf}, {-inf, 0}, {largest, inf}, {-largest, 0}, {nan, nan}, {-nan, nan},
			{smallest, 1}, {-normal, 1}, {next(over, inf), inf}, {next(gone, -inf), 0}, {gone, smallest},
		},
		"log": {
			{1, 0}, {0, -inf}, {minus, -inf}, {inf, inf}, {-inf, nan}, {-1, nan}, {-smallest, nan}, {nan, nan}, {-nan, nan},
			{smallest, -T(c.Bias+c.Mantissa-1) * math.Ln2}, {largest, T(c.Bias+1) * math.Ln2},
		},
		"sigmoid": {
			{0, 0.5}, {minus, 0.5}, {inf, 1}, {-inf, 0}, {largest, 1}, {-largest, 0}, {nan, nan}, {-nan, nan},
			{gone, smallest}, {next(gone, -inf), 0},
		},
		"tanh": {
			{0, 0}, {minus, minus}, {inf, 1}, {-inf, -1}, {largest, 1}, {-largest, -1}, {nan, nan}, {-nan, nan},
			{smallest, smallest}, {-smallest, -smallest}, {normal, normal}, {-normal, -normal},
		},
		"softplus": {
			{inf, inf}, {-inf, 0}, {largest, largest}, {-largest, 0}, {nan, nan}, {-nan, nan},
			{0, T(math.Ln2)}, {minus, T(math.Ln2)}, {gone, smallest}, {next(gone, -inf), 0}, {800, 800},
		},
	} {
		for _, c := range cases {
			got := []T{c[0]}
			elementwiseFunctions[T]()[name].vector(got, got)
			if toBits(got[0]) != toBits(c[1]) {
				t.Errorf("%s(%g) = %g %#x, want %g %#x", name, c[0], got[0], toBits(got[0]), c[1], toBits(c[1]))
			}
		}
	}
	edge := []T{over, next(sub, 0), sub, next(sub, -inf)}
	Exp(edge, edge)
	if math.IsInf(float64(edge[0]), 0) || edge[1] < normal || edge[3] >= normal || edge[3] == 0 {
		t.Errorf("exp at its edges: %g", edge)
	}
}

func TestVectorFunctionsRefuseOverlap(t *testing.T) {
	x := make([]float64, 20)
	for _, c := range []struct {
		dst, src []float64
		message  string
	}{
		{x[:8], x[1:9], "overlaps"},
		{x[1:9], x[:8], "overlaps"},
		{x[7:15], x[:8], "overlaps"},
		{x[:8], x[:7], "8 elements"},
		{x[:8], x[8:16], ""},
		{x[8:16], x[:8], ""},
		{x[:8], x[:8], ""},
		{x[:0], x[:0], ""},
		{nil, nil, ""},
	} {
		func() {
			defer func() {
				got, _ := recover().(string)
				if c.message == "" && got != "" || !strings.Contains(got, c.message) {
					t.Errorf("panic %q, want %q", got, c.message)
				}
			}()
			Exp(c.dst, c.src)
		}()
	}
}

func TestVectorFunctionsDoNotAllocate(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		x := make([]float64, 100)
		if n := testing.AllocsPerRun(10, func() {
			Exp(x, x)
			Log(x, x)
			Sigmoid(x, x)
			Tanh(x, x)
			Softplus(x, x)
			x[0] = Sum(x) + Dot(x, x)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
