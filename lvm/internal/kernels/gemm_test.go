package kernels

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// slowGemm is the bit contract as three loops.
func slowGemm[T Float](alpha T, a, b Matrix[T], beta T, c Matrix[T]) {
	for i := range c.Rows {
		for j := range c.Cols {
			e := c.at(i, j)
			add := beta != 0
			switch {
			case beta == 0:
				*e = 0
			case beta != 1:
				*e *= beta
			}
			if alpha == 0 {
				continue
			}
			for l0 := 0; l0 < a.Cols; l0 += 256 {
				var s T
				for l := l0; l < min(l0+256, a.Cols); l++ {
					s = fma(*a.at(i, l), *b.at(l, j), s)
				}
				if add {
					*e = fma(alpha, s, *e)
				} else {
					*e = alpha * s
				}
				add = true
			}
		}
	}
}

// draw returns one number of the given kind.
func draw[T Float](rng *rand.Rand, k kind) T {
	switch k {
	case huge: // overflows in some sums
		return T(rng.NormFloat64()) * T(math.Sqrt(float64(largest[T]())))
	case tiny: // subnormal products
		return T(rng.NormFloat64()) * T(math.Sqrt(float64(smallest[T]())))
	case special:
		if i := rng.IntN(60); i < 6 {
			return [...]T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), 0, T(math.Copysign(0, -1)), smallest[T]()}[i]
		}
	}
	return T(rng.NormFloat64())
}

type kind int

const (
	normal kind = iota
	huge
	tiny
	special
	numKinds
)

func largest[T Float]() T {
	if is64[T]() {
		v := math.MaxFloat64
		return T(v)
	}
	return T(math.MaxFloat32)
}

func smallest[T Float]() T {
	if is64[T]() {
		v := math.SmallestNonzeroFloat64
		return T(v)
	}
	v := math.SmallestNonzeroFloat32
	return T(v)
}

func is64[T Float]() bool { return any(T(0)) == any(float64(0)) }

// randomView returns a matrix whose rows, or columns if transposed, are gap apart;
// the gaps hold NaN, which spreads if it is read.
func randomView[T Float](rng *rand.Rand, k kind, rows, cols, gap int, transposed bool) Matrix[T] {
	if transposed {
		return randomView[T](rng, k, cols, rows, gap, false).T()
	}
	data := make([]T, max(0, rows*(cols+gap)-gap))
	for i := range data {
		data[i] = T(math.NaN())
	}
	m := Of(rows, cols, data, max(1, cols+gap))
	if m.empty() {
		return m
	}
	for i := range rows {
		for j := range m.row(i) {
			m.row(i)[j] = draw[T](rng, k)
		}
	}
	return m
}

func (m Matrix[T]) clone() Matrix[T] {
	m.Data = append([]T(nil), m.Data...)
	return m
}

func sameBits[T Float](a, b T) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b))
}

// checkSame compares everything that two views' memory holds, gaps too.
func checkSame[T Float](t *testing.T, what string, got, want Matrix[T]) {
	t.Helper()
	for i := range want.Data {
		if !sameBits(got.Data[i], want.Data[i]) {
			t.Fatalf("%s: element %d of the memory of a %d×%d matrix is %v, want %v", what, i, want.Rows, want.Cols, got.Data[i], want.Data[i])
		}
	}
}

// edges are sizes on both sides of each tile, strip and block of some path.
var (
	edgeRows  = []int{0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 17, 24, 25, 119, 120, 121, 245}
	edgeCols  = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 95, 96, 97, 200}
	edgeInner = []int{0, 1, 2, 3, 8, 31, 255, 256, 257, 511, 513, 700}
	scalars   = []float64{0, 1, -1, 0.7}
)

// trials returns n, or a fifth of it for -short, which CI combines with -race.
func trials(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

func pick[E any](rng *rand.Rand, s []E) E { return s[rng.IntN(len(s))] }

func testGemmBits[T Float](t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 1))
		for range trials(1000) {
			m, n, k := pick(rng, edgeRows), pick(rng, edgeCols), pick(rng, edgeInner)
			if m*n*k > 1<<18 {
				continue
			}
			kd := kind(rng.IntN(int(numKinds)))
			alpha, beta := T(pick(rng, scalars)), T(pick(rng, scalars))
			ta, tb, tc := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(8) == 0
			a := randomView[T](rng, kd, m, k, rng.IntN(3), ta)
			b := randomView[T](rng, kd, k, n, rng.IntN(3), tb)
			c := randomView[T](rng, kd, m, n, rng.IntN(3), tc)
			want := c.clone()
			slowGemm(alpha, a, b, beta, want)
			Gemm(alpha, a, b, beta, c)
			checkSame(t, fmt.Sprintf("%d×%d×%d transposed %v %v %v α=%v β=%v", m, n, k, ta, tb, tc, alpha, beta), c, want)
		}
	})
}

func TestGemmBits(t *testing.T) {
	t.Run("float64", testGemmBits[float64])
	t.Run("float32", testGemmBits[float32])
}

// Large enough for several slabs, tasks and processors.
func testGemmBitsAtScale[T Float](t *testing.T) {
	shapes := [][3]int{{250, 230, 300}, {9, 10, 5000}, {1, 1, 5000}, {40, 33, 2100}, {2, 4500, 50}, {4100, 3, 20}, {3, 4200, 17}}
	for _, s := range shapes {
		m, n, k := s[0], s[1], s[2]
		for trans := range 4 {
			rng := rand.New(rand.NewPCG(5, 2))
			a := randomView[T](rng, normal, m, k, 1, trans&1 != 0)
			b := randomView[T](rng, normal, k, n, 1, trans&2 != 0)
			c := randomView[T](rng, normal, m, n, 1, false)
			beta := T(trans & 1)
			want := c.clone()
			force(t, best())
			withProcs(1, func() { Gemm(0.5, a, b, beta, want) })
			if trans <= 1 {
				slow := c.clone()
				slowGemm(0.5, a, b, beta, slow)
				checkSame(t, fmt.Sprint(s), want, slow)
			}
			for p := portable; p <= best(); p++ {
				if p == portable && (testing.Short() || !is64[T]()) {
					continue // covered above, and slow
				}
				force(t, p)
				for _, procs := range []int{1, 2, 5} {
					got := c.clone()
					withProcs(procs, func() { Gemm(0.5, a, b, beta, got) })
					checkSame(t, fmt.Sprintf("%v, transposed %b, %v, GOMAXPROCS %d", s, trans, p, procs), got, want)
				}
			}
		}
	}
}

func TestGemmBitsAtScale(t *testing.T) {
	t.Run("float64", testGemmBitsAtScale[float64])
	t.Run("float32", testGemmBitsAtScale[float32])
}

func withProcs(n int, f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	f()
}

// The error of an element is at most (256 + blocks + 2)·ε Σ|a||b|, Higham (2002), §3.1,
// with the depth of the additions in place of k.
func TestGemmAgainstBigFloat(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 3))
		for _, kd := range []kind{normal, tiny} {
			for _, k := range []int{1, 10, 300, 2600} {
				a := randomView[float64](rng, kd, 3, k, 0, false)
				b := randomView[float64](rng, kd, k, 4, 0, true)
				if kd == normal { // cancel all but the last digits
					for l := 1; l < k; l += 2 {
						for j := range 4 {
							*b.at(l, j) = -*b.at(l-1, j) * (1 + rng.NormFloat64()*0x1p-45)
						}
						for i := range 3 {
							*a.at(i, l) = *a.at(i, l-1)
						}
					}
				}
				c := randomView[float64](rng, normal, 3, 4, 0, false)
				Gemm(1, a, b, 0, c)
				for i := range 3 {
					for j := range 4 {
						exact, size := new(big.Float).SetPrec(2400), 0.0
						for l := range k {
							x, y := *a.at(i, l), *b.at(l, j)
							exact.Add(exact, new(big.Float).SetPrec(200).Mul(big.NewFloat(x), big.NewFloat(y)))
							size += math.Abs(x * y)
						}
						diff, _ := exact.Sub(exact, big.NewFloat(*c.at(i, j))).Float64()
						depth := float64(min(k, block) + ceilDiv(k, block) + 2)
						if bound := depth*0x1p-53*size + depth*0x1p-1074; math.Abs(diff) > bound {
							t.Errorf("%v k=%d: error %g, bound %g", kd, k, diff, bound)
						}
					}
				}
			}
		}
	})
}

func TestGemmAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	const m, n, k = 150, 131, 400
	a := randomView[float64](rng, normal, m, k, 2, false)
	b := randomView[float64](rng, normal, n, k, 1, false)
	c := randomView[float64](rng, normal, m, n, 3, false)
	want := c.clone()
	gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, m, n, k, 1.5, a.Data, k+2, b.Data, k+1, -0.5, want.Data, n+3)
	Gemm(1.5, a, b.T(), -0.5, c)
	for i := range m {
		for j := range n {
			// Both sum 400 products of size about one: the errors grow like √400 ε.
			if d := *c.at(i, j) - *want.at(i, j); math.Abs(d) > 1e-12 {
				t.Fatalf("element %d,%d: %v, gonum %v", i, j, *c.at(i, j), *want.at(i, j))
			}
		}
	}
}

func TestGemmDoesNotRead(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		nan := math.NaN()
		c := Of(1, 1, []float64{nan}, 1)
		Gemm(1, Of(1, 1, []float64{2}, 1), Of(1, 1, []float64{3}, 1), 0, c)
		if c.Data[0] != 6 {
			t.Errorf("β = 0: %v, want 6", c.Data[0])
		}
		c.Data[0] = 4
		Gemm(0, Of(1, 1, []float64{nan}, 1), Of(1, 1, []float64{nan}, 1), 0.5, c)
		if c.Data[0] != 2 {
			t.Errorf("α = 0: %v, want 2", c.Data[0])
		}
		Gemm(1, Of(1, 0, []float64(nil), 1), Of(0, 1, []float64(nil), 1), 0.5, c)
		if c.Data[0] != 1 {
			t.Errorf("no inner index: %v, want 1", c.Data[0])
		}
	})
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}

func TestRefusals(t *testing.T) {
	d := make([]float64, 100)
	m := Of(10, 10, d, 10)
	other := Of(10, 10, make([]float64, 100), 10)
	mustPanic(t, "C = A", func() { Gemm(1, m, other, 0, m) })
	mustPanic(t, "C = Bᵀ", func() { Gemm(1, other, m.T(), 0, m) })
	mustPanic(t, "C overlaps A by one row and column", func() { Gemm(1, m.Slice(0, 5, 0, 5), other.Slice(0, 5, 0, 5), 0, m.Slice(4, 9, 4, 9)) })
	mustPanic(t, "C overlaps A, which is transposed", func() { Gemm(1, m.Slice(0, 5, 3, 8).T(), other.Slice(0, 5, 0, 5), 0, m.Slice(1, 6, 0, 5)) })
	mustPanic(t, "shapes", func() { Gemm(1, m, other.Slice(0, 9, 0, 10), 0, Of(10, 10, make([]float64, 100), 10)) })
	mustPanic(t, "no unit stride", func() { Gemm(1, m, m, 0, Matrix[float64]{10, 10, 2, 20, make([]float64, 200)}) })
	mustPanic(t, "too little data", func() { Of(2, 3, d[:5], 3) })
	mustPanic(t, "stride below the width", func() { Of(2, 3, d, 2) })
	mustPanic(t, "slice beyond the end", func() { m.Slice(0, 11, 0, 1) })
	// Blocks of one matrix that do not meet are fine.
	Gemm(1, m.Slice(0, 5, 0, 5), m.Slice(0, 5, 0, 5), 0, m.Slice(0, 5, 5, 10))
	Gemm(1, m.Slice(0, 5, 5, 10), m.Slice(0, 5, 5, 10).T(), 0, m.Slice(5, 10, 5, 10))
	Gemm(1, m.Slice(2, 3, 0, 4), other.Slice(0, 4, 0, 4), 0, m.Slice(2, 3, 4, 8))
}

func FuzzGemm(f *testing.F) {
	f.Add(uint64(1), uint8(5), uint8(9), uint16(300), uint8(7))
	f.Add(uint64(2), uint8(13), uint8(33), uint16(1), uint8(255))
	f.Fuzz(func(t *testing.T, seed uint64, m, n uint8, k uint16, flags uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		rows, cols, inner := int(m)%70, int(n)%70, int(k)%600
		kd := kind(flags>>3) % numKinds
		a := randomView[float64](rng, kd, rows, inner, int(flags>>6), flags&1 != 0)
		b := randomView[float64](rng, kd, inner, cols, int(flags>>5)&3, flags&2 != 0)
		c := randomView[float64](rng, kd, rows, cols, 1, flags&4 != 0)
		alpha, beta := pick(rng, scalars), pick(rng, scalars)
		want := c.clone()
		slowGemm(alpha, a, b, beta, want)
		Gemm(alpha, a, b, beta, c)
		checkSame(t, "fuzz", c, want)
	})
}
