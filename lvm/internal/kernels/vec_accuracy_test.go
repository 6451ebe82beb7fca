package kernels

import (
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

// accurate says how far a function may be from the exact one, in units in the last
// place of the exact result (of the smallest number, if the result is subnormal).
// exact is the oracle for float64. double is that for float32: its error of a few
// ulp of float64 is 2⁻²⁷ of what is measured.
var accurate = map[string]struct {
	exact            func(x *big.Float) *big.Float
	double           func(x float64) float64
	bound64, bound32 float64
}{
	"exp":      {bigExp, math.Exp, 1, 1},
	"log":      {bigLog, math.Log, 1, 1},
	"sigmoid":  {bigSigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 3, 3},
	"tanh":     {bigTanh, math.Tanh, 3, 3},
	"softplus": {bigSoftplus, func(x float64) float64 { return math.Log1p(math.Exp(-math.Abs(x))) + max(x, 0) }, 3, 3},
}

// Against arithmetic of 300 bits.
func TestAccuracyFloat64(t *testing.T) {
	n := 3000
	switch {
	case *exhaustive:
		n = 500_000
	case testing.Short():
		n = 300
	}
	for name, a := range accurate {
		x := arguments[float64](rand.New(rand.NewPCG(5, 6)), n)
		y := make([]float64, len(x))
		elementwiseFunctions[float64]()[name].vector(y, x)
		worst, at := 0.0, 0.0
		for i, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) || name == "log" && v <= 0 {
				continue // see TestVectorFunctionsAtTheirLimits
			}
			e := 0.0
			switch {
			case name != "log" && v > 800:
				if want := math.Inf(1); name == "exp" && y[i] != want || name == "softplus" && y[i] != v {
					t.Errorf("%s(%g) = %g", name, v, y[i])
				} else if (name == "sigmoid" || name == "tanh") && y[i] != 1 {
					t.Errorf("%s(%g) = %g", name, v, y[i])
				}
			case name != "log" && v < -800:
				if want := map[string]float64{"tanh": -1}[name]; y[i] != want {
					t.Errorf("%s(%g) = %g", name, v, y[i])
				}
			default:
				e = ulps64(y[i], a.exact(new(big.Float).SetPrec(precision).SetFloat64(v)))
			}
			if e > worst {
				worst, at = e, v
			}
		}
		t.Logf("%s: %d arguments, largest error %.3f ulp at %v", name, len(x), worst, at)
		if !(worst <= a.bound64) {
			t.Errorf("%s(%v): error of %v ulp, want at most %v", name, at, worst, a.bound64)
		}
	}
}

// ulps64 returns the error of got in units of the last place of the exact value.
func ulps64(got float64, exact *big.Float) float64 {
	rounded, _ := exact.Float64()
	if math.IsInf(rounded, 0) || math.IsInf(got, 0) || got != got {
		if got == rounded {
			return 0
		}
		return math.Inf(1)
	}
	unit := -1074
	if exact.Sign() != 0 {
		unit = max(exact.MantExp(nil)-53, unit)
	}
	d := new(big.Float).SetPrec(precision).SetFloat64(got)
	e, _ := d.Sub(d, exact).SetMantExp(d, -unit).Float64()
	return math.Abs(e)
}

// All float32 with -exhaustive, which also holds the vector paths against the portable
// one; without, one in a prime number of them.
func TestAccuracyFloat32(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		if *exhaustive && active == portable && best() != portable {
			t.Skip("the vector paths are held against this one")
		}
		step := 6151
		switch {
		case *exhaustive:
			step = 1
		case testing.Short():
			step = 60_013
		}
		for name := range accurate {
			t.Run(name, func(t *testing.T) {
				parts := make(chan uint64, 256)
				for p := range uint64(cap(parts)) {
					parts <- p
				}
				close(parts)
				var wg sync.WaitGroup
				var mutex sync.Mutex
				var worst float64
				var at float32
				for range runtime.GOMAXPROCS(0) {
					wg.Go(func() {
						for p := range parts {
							e, x := accuracyOfPart(t, name, p<<24, (p+1)<<24, uint64(step))
							mutex.Lock()
							if e > worst || e != e {
								worst, at = e, x
							}
							mutex.Unlock()
						}
					})
				}
				wg.Wait()
				t.Logf("every %d-th float32: largest error %.4f ulp at %v", step, worst, at)
				if bound := accurate[name].bound32; !(worst <= bound) {
					t.Errorf("error of %v ulp, want at most %v", worst, bound)
				}
			})
		}
	})
}

// accuracyOfPart returns the largest error for bit patterns from lo to hi, and where.
func accuracyOfPart(t *testing.T, name string, lo, hi, step uint64) (worst float64, at float32) {
	f := elementwiseFunctions[float32]()[name]
	var x, y [1024]float32
	for b := (lo + step - 1) / step * step; b < hi; {
		n := 0
		for ; n < len(x) && b < hi; b += step {
			x[n] = math.Float32frombits(uint32(b))
			n++
		}
		f.vector(y[:n], x[:n])
		for i, v := range x[:n] {
			if e := ulps32(y[i], accurate[name].double(float64(v))); e > worst || e != e {
				worst, at = e, v
			}
			if active == portable {
				continue
			}
			if want := f.scalar(constants[float32](), v); math.Float32bits(y[i]) != math.Float32bits(want) {
				t.Errorf("%s(%v) = %v, want %v", name, v, y[i], want)
				return
			}
		}
	}
	return worst, at
}

func ulps32(got float32, exact float64) float64 {
	if exact != exact || math.IsInf(exact, 0) || math.IsInf(float64(got), 0) || got != got {
		if float32(exact) == got || exact != exact && got != got {
			return 0
		}
		return math.Inf(1)
	}
	unit := max(int(math.Float64bits(exact)>>52&0x7ff)-1023-23, -149) // exponent of the last place
	return math.Abs(float64(got)-exact) * math.Float64frombits(uint64(1023-unit)<<52)
}

// Elementary functions on big.Float, all to more than 200 correct bits.

const precision = 300

func number(x float64) *big.Float    { return big.NewFloat(x).SetPrec(precision) }
func add(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Add(x, y) }
func div(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Quo(x, y) }
func neg(x *big.Float) *big.Float    { return new(big.Float).SetPrec(precision).Neg(x) }

var bigLn2 = func() *big.Float { // Σ 1 / (n 2^n)
	sum := number(0)
	for n := 1; n < precision; n++ {
		term := div(number(1), number(float64(n)))
		sum.Add(sum, term.SetMantExp(term, -n))
	}
	return sum
}()

// bigExp takes out the power of two, sums the series at r/2⁸ and squares eight times.
func bigExp(x *big.Float) *big.Float {
	q, _ := div(x, bigLn2).Float64()
	k := math.Round(q)
	r := new(big.Float).SetPrec(precision).Mul(number(k), bigLn2)
	r.Sub(x, r)
	r.SetMantExp(r, -8)
	sum, term := number(1), number(1)
	for n := 1; n < 40; n++ { // 2⁻⁸ ⁴⁰ < 2⁻³⁰⁰
		term.Mul(term, r)
		term.Quo(term, number(float64(n)))
		sum.Add(sum, term)
	}
	for range 8 {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}

// bigLog refines a first guess y by y + 2 (x - e^y) / (x + e^y), which triples the
// number of correct bits.
func bigLog(x *big.Float) *big.Float {
	if x.Cmp(number(1)) == 0 {
		return number(0)
	}
	mantissa := new(big.Float).SetPrec(precision)
	k := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	y := add(number(math.Log(m)), new(big.Float).SetPrec(precision).Mul(number(float64(k)), bigLn2))
	for range 2 {
		e := bigExp(y)
		d := div(add(x, neg(e)), add(x, e))
		y = add(y, d.SetMantExp(d, 1))
	}
	return y
}

func bigSigmoid(x *big.Float) *big.Float {
	e := bigExp(neg(x))
	return div(number(1), add(e, number(1)))
}

// bigTanh is (e^2x - 1) / (e^2x + 1), which loses as many bits as x is small; below
// 2⁻⁴⁰ three terms of the series are enough.
func bigTanh(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return x
	}
	if x.MantExp(nil) < -40 {
		sum, square := number(1), new(big.Float).SetPrec(precision).Mul(x, x)
		sum.Add(sum, neg(div(square, number(3))))
		fourth := new(big.Float).SetPrec(precision).Mul(square, square)
		sum.Add(sum, div(fourth.Mul(fourth, number(2)), number(15)))
		return sum.Mul(sum, x)
	}
	e := bigExp(add(x, x))
	return div(add(e, number(-1)), add(e, number(1)))
}

// bigSoftplus is log(1+e^x), of which far below zero e^x - e^2x/2 is left.
func bigSoftplus(x *big.Float) *big.Float {
	e := bigExp(x)
	if e.MantExp(nil) < -90 {
		half := new(big.Float).SetPrec(precision).Mul(e, e)
		return add(e, neg(half.SetMantExp(half, -1)))
	}
	return bigLog(add(e, number(1)))
}
