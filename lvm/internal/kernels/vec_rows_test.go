package kernels

import (
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"
)

// rowsOf returns n rows of k log-probabilities of several sizes, some infinite or NaN.
func rowsOf[T Float](rng *rand.Rand, n, k, stride int) []T {
	x := make([]T, max(0, (n-1)*stride+k))
	for i := range x {
		x[i] = 1e9 // between the rows: must not count
	}
	for i := range n {
		row := x[i*stride : i*stride+k]
		scale := []float64{0, 1, 30, 500, 1e5, 1e37}[rng.IntN(6)]
		for j := range row {
			row[j] = T(scale * rng.NormFloat64())
			switch rng.IntN(400) {
			case 0:
				row[j] = T(math.Inf(-1))
			case 1:
				row[j] = T(math.Inf(1))
			case 2:
				row[j] = T(math.NaN())
			}
		}
		if rng.IntN(20) == 0 {
			for j := range row {
				row[j] = T(math.Inf(-1))
			}
		}
	}
	return x
}

func TestLogSumExpRowsGivesTheBitsOfItsDefinition(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		t.Run("float64", rowBits[float64])
		t.Run("float32", rowBits[float32])
	})
}

func rowBits[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	columns := []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 200}
	if testing.Short() {
		columns = []int{1, 2, 5, 16}
	}
	for _, k := range columns {
		for _, n := range append([]int{63, 64, 128, 129, 150}, upTo(35)...) {
			stride := k + n%3
			x := rowsOf[T](rng, n, k, stride)
			want, wantLSE := append([]T(nil), x...), make([]T, n)
			for i := range n {
				wantLSE[i] = logSumExp(constants[T](), k, &want[i*stride], 1)
			}
			lse := make([]T, n+2)
			lse[n] = 12345
			m := Of(n, k, x, stride)
			if n%2 == 1 { // by columns
				m = Of(k, n, make([]T, k*(n+1)), n+1).T()
				copyTo(m, Of(n, k, x, stride))
			}
			LogSumExpRows(lse[:n], m)
			copyTo(Of(n, k, x, stride), m)
			for i, v := range x {
				if toBits(v) != toBits(want[i]) {
					t.Fatalf("%d×%d, row %d, column %d: posterior %g, want %g", n, k, i/stride, i%stride, v, want[i])
				}
			}
			for i, v := range wantLSE {
				if toBits(lse[i]) != toBits(v) {
					t.Fatalf("%d×%d, row %d: lse %g, want %g", n, k, i, lse[i], v)
				}
			}
			if lse[n] != 12345 {
				t.Fatalf("%d×%d: wrote past the end of lse", n, k)
			}
		}
	}
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func TestLogSumExpRowsAgainstBigFloat(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		t.Run("float64", func(t *testing.T) { rowAccuracy[float64](t, 0x1p-53) })
		t.Run("float32", func(t *testing.T) { rowAccuracy[float32](t, 0x1p-24) })
	})
}

// u is half the distance of 1 to the next number. The bounds are those of the doc
// comment, where the smallest posteriors also round twice to a multiple of the
// smallest number.
func rowAccuracy[T Float](t *testing.T, u float64) {
	rng := rand.New(rand.NewPCG(9, 10))
	smallest := float64(fromBits[T](1))
	blocks := 60
	if testing.Short() {
		blocks = 12
	}
	for range blocks {
		k := 1 + rng.IntN(20)
		x := make([]T, 4*k)
		scale := []float64{1e-3, 1, 30, 1000}[rng.IntN(4)]
		for j := range x {
			x[j] = T(scale * rng.NormFloat64())
		}
		post, lse := append([]T(nil), x...), make([]T, 4)
		LogSumExpRows(lse, Of(4, k, post, k))
		for i := range 4 {
			row := x[i*k : (i+1)*k]
			sum, top := number(0), math.Inf(-1)
			for _, v := range row {
				sum = add(sum, bigExp(number(float64(v))))
				top = max(top, float64(v))
			}
			exact := bigLog(sum)
			l, _ := exact.Float64()
			d, _ := add(exact, number(-float64(lse[i]))).Float64()
			if bound := u * (math.Abs(l) + float64(k) + 3*math.Log(float64(k)) + 4); math.Abs(d) > bound {
				t.Errorf("k = %d: lse %g is off by %g, bound %g", k, lse[i], d, bound)
			}
			for j, v := range row {
				want, _ := div(bigExp(number(float64(v))), sum).Float64()
				e := math.Abs(float64(post[i*k+j]) - want)
				if bound := u*want*(top-float64(v)+float64(k+10)) + 2*smallest; e > bound {
					t.Errorf("k = %d: posterior %g, want %g, off by %g, bound %g", k, post[i*k+j], want, e, bound)
				}
			}
		}
	}
}

func TestLogSumExpRowsAtItsLimits(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	onEachPath(t, func(t *testing.T) {
		for _, c := range []struct {
			row  []float64
			lse  float64
			post []float64
		}{
			{[]float64{3}, 3, []float64{1}},
			{[]float64{-1e308, 1e308}, 1e308, []float64{0, 1}},
			{[]float64{-2000, -2000}, -2000 + math.Ln2, []float64{0.5, 0.5}},
			{[]float64{2000, 2000, -inf}, 2000 + math.Ln2, []float64{0.5, 0.5, 0}},
			{[]float64{math.Copysign(0, -1)}, 0, []float64{1}},
			{[]float64{-inf, -inf}, -inf, []float64{nan, nan}},
			{[]float64{1, inf, -inf}, inf, []float64{nan, nan, nan}},
			{[]float64{1, nan, 2}, nan, []float64{nan, nan, nan}},
			{[]float64{nan, inf, 2}, nan, []float64{nan, nan, nan}},
			{[]float64{inf, nan}, nan, []float64{nan, nan}},
			{[]float64{-inf, -nan}, nan, []float64{nan, nan}},
		} {
			x, lse := append([]float64(nil), c.row...), []float64{0}
			LogSumExpRows(lse, Of(1, len(x), x, len(x)))
			if math.Float64bits(lse[0]) != math.Float64bits(c.lse) {
				t.Errorf("%v: lse %v, want %v", c.row, lse[0], c.lse)
			}
			for j, p := range x {
				if math.Float64bits(p) != math.Float64bits(c.post[j]) {
					t.Errorf("%v: posterior %v, want %v", c.row, x, c.post)
				}
			}
		}
	})
}

func TestLogSumExpRowsDependsOnItsRowAlone(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		const n, k = 37, 6
		x := rowsOf[float64](rand.New(rand.NewPCG(11, 12)), n, k, k)
		y, lse := append([]float64(nil), x...), make([]float64, n)
		LogSumExpRows(lse, Of(n, k, y, k))
		for i := range n {
			row, one := append([]float64(nil), x[i*k:(i+1)*k]...), []float64{0}
			LogSumExpRows(one, Of(1, k, row, k))
			if math.Float64bits(one[0]) != math.Float64bits(lse[i]) {
				t.Errorf("row %d: lse %v alone, %v among others", i, one[0], lse[i])
			}
		}
	})
}

func TestLogSumExpRowsRefuses(t *testing.T) {
	x := make([]float64, 30)
	for name, f := range map[string]func(){
		"length":  func() { LogSumExpRows(x[20:22], Of(3, 4, x, 4)) },
		"columns": func() { LogSumExpRows(x[20:23], Of(3, 0, x, 4)) },
		"strides": func() { LogSumExpRows(x[20:22], Matrix[float64]{2, 2, 8, 2, x[:12]}) },
		"overlap": func() { LogSumExpRows(x[11:14], Of(3, 4, x, 4)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: not refused", name)
				}
			}()
			f()
		}()
	}
	LogSumExpRows(nil, Of(0, 4, x, 4))
}

func TestSumsGiveTheBitsOfTheirDefinition(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		t.Run("float64", sumBits[float64])
		t.Run("float32", sumBits[float32])
	})
}

func sumBits[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for n := range 300 {
		for at := range 4 {
			x, y := make([]T, n+8), make([]T, n+8)
			for i := range x {
				x[i], y[i] = T(rng.NormFloat64()), T(math.Ldexp(rng.NormFloat64(), rng.IntN(40)-20))
				switch {
				case n%5 == 4 && rng.IntN(100) == 0:
					x[i] = T(math.Inf(1 - 2*rng.IntN(2)))
				case n%7 == 6:
					x[i], y[i] = -fromBits[T](1), fromBits[T](1) // products underflow to -0
				case n%11 == 10:
					x[i], y[i] = copySign(T(0), -1), 1
				}
			}
			x, y = x[at:at+n:at+n], y[at:at+n:at+n]
			if got, want := Sum(x), tidy(sumPortable(n, addressOf(x))); toBits(got) != toBits(want) {
				t.Fatalf("sum of %d: %g, want %g", n, got, want)
			}
			if got, want := Dot(x, y), tidy(dotPortable(n, addressOf(x), addressOf(y))); toBits(got) != toBits(want) {
				t.Fatalf("dot of %d: %g, want %g", n, got, want)
			}
		}
	}
}

func addressOf[T Float](x []T) *T {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

// A tree of 32 sums: the error grows with n/32 + 5, not with n.
func TestSumsAgainstBigFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, n := range []int{0, 1, 2, 31, 32, 33, 1000, 4097} {
		x, y := make([]float64, n), make([]float64, n)
		sum, dot, size := number(0), number(0), 0.0
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), 1e6*rng.NormFloat64()
			sum = add(sum, number(x[i]))
			dot = add(dot, new(big.Float).SetPrec(precision).Mul(number(x[i]), number(y[i])))
			size += math.Abs(x[i] * y[i])
		}
		bound := float64(n/32+7) * 0x1p-53
		if e, _ := add(sum, number(-Sum(x))).Float64(); math.Abs(e) > bound*4*float64(n) {
			t.Errorf("sum of %d: error %g", n, e)
		}
		if e, _ := add(dot, number(-Dot(x, y))).Float64(); math.Abs(e) > bound*size {
			t.Errorf("dot of %d: error %g", n, e)
		}
	}
}

// The results of one seed, on any processor: a change here changes every fitted model.
func TestVectorBitsAreFrozen(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		if got := fingerprint[float64](); got != 0x3e3e397e68b4359a {
			t.Errorf("float64: fingerprint %#x", got)
		}
		if got := fingerprint[float32](); got != 0xf7eff8b8567ac708 {
			t.Errorf("float32: fingerprint %#x", got)
		}
	})
}

func fingerprint[T Float]() uint64 {
	hash := uint64(14695981039346656037)
	mix := func(x []T) {
		for _, v := range x {
			hash = (hash ^ toBits(v)) * 1099511628211
		}
	}
	x := arguments[T](rand.New(rand.NewPCG(17, 18)), 5000)
	y := make([]T, len(x))
	for _, name := range []string{"exp", "log", "sigmoid", "tanh", "softplus"} {
		elementwiseFunctions[T]()[name].vector(y, x)
		mix(y)
	}
	const n, k = 333, 5
	rows, lse := rowsOf[T](rand.New(rand.NewPCG(19, 20)), n, k, k), make([]T, n)
	LogSumExpRows(lse, Of(n, k, rows, k))
	mix(rows)
	mix(lse)
	y = y[:0]
	for _, v := range rows {
		if v == v {
			y = append(y, v)
		}
	}
	mix([]T{Sum(y), Dot(y, y)})
	return hash
}
