package fastblas

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/blas/testblas"
	lapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/testlapack"
)

func TestRegistered(t *testing.T) {
	if _, ok := blas64.Implementation().(Implementation); !ok {
		t.Errorf("blas64 uses %T", blas64.Implementation())
	}
	if _, ok := blas32.Implementation().(Implementation); !ok {
		t.Errorf("blas32 uses %T", blas32.Implementation())
	}
}

// gonum's own tests of a BLAS.
func TestConformance(t *testing.T) {
	t.Run("Dgemm", func(t *testing.T) { testblas.TestDgemm(t, Implementation{}) })
	t.Run("Dgemv", func(t *testing.T) { testblas.DgemvTest(t, Implementation{}) })
	t.Run("Dsymm", func(t *testing.T) { testblas.DsymmTest(t, Implementation{}) })
	t.Run("Dsyrk", func(t *testing.T) { testblas.DsyrkTest(t, Implementation{}) })
	t.Run("Dsyr2k", func(t *testing.T) { testblas.Dsyr2kTest(t, Implementation{}) })
	t.Run("Dtrsm", func(t *testing.T) { testblas.DtrsmTest(t, Implementation{}) })
}

// gonum's tests of LAPACK, which stands on the registered BLAS.
func TestLapackOnTop(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	l := lapack.Implementation{}
	t.Run("Dgetrf", func(t *testing.T) { testlapack.DgetrfTest(t, l) })
	t.Run("Dpotrf", func(t *testing.T) { testlapack.DpotrfTest(t, l) })
	t.Run("Dpotri", func(t *testing.T) { testlapack.DpotriTest(t, l) })
	t.Run("Dgeqrf", func(t *testing.T) { testlapack.DgeqrfTest(t, l) })
	t.Run("Dsytrd", func(t *testing.T) { testlapack.DsytrdTest(t, l) })
	t.Run("Dsyev", func(t *testing.T) { testlapack.DsyevTest(t, l) })
}

// Both precisions against gonum on random calls; what gonum does not touch must not change.
func TestAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	fast, slow := Implementation{}, gonum.Implementation{}
	for trial := range 300 {
		m, n, k := rng.IntN(40), rng.IntN(40), rng.IntN(40)
		if trial%50 == 0 {
			m, n, k = 150, 140, 300
		}
		order := max(m, n, k)
		stride := max(1, order) + rng.IntN(3)
		a, b, c := random(rng, order*stride), random(rng, order*stride), random(rng, order*stride)
		for i := range order { // well-conditioned triangles
			for j := range order {
				a[i*stride+j] /= float64(order)
			}
			a[i*stride+i] = 2 + rng.Float64()
		}
		side, uplo := pick(rng, blas.Left, blas.Right), pick(rng, blas.Upper, blas.Lower)
		tA, tB := pick(rng, blas.NoTrans, blas.Trans, blas.ConjTrans), pick(rng, blas.NoTrans, blas.Trans)
		diag := pick(rng, blas.Unit, blas.NonUnit)
		alpha, beta := pick(rng, 0, 1, -0.5), pick(rng, 0, 1, 2.0)
		inc := 1
		if order > 1 { // b is long enough for a vector in pieces
			inc += rng.IntN(2)
		}
		a32, b32, alpha32, beta32 := single(a), single(b), float32(alpha), float32(beta)

		for name, call := range map[string]struct {
			float64 func(i blas.Float64, c []float64)
			float32 func(i blas.Float32, c []float32)
		}{
			"gemm": {
				func(i blas.Float64, c []float64) {
					i.Dgemm(tA, tB, m, n, k, alpha, a, stride, b, stride, beta, c, stride)
				},
				func(i blas.Float32, c []float32) {
					i.Sgemm(tA, tB, m, n, k, alpha32, a32, stride, b32, stride, beta32, c, stride)
				}},
			"gemv": {
				func(i blas.Float64, c []float64) {
					i.Dgemv(tA, order, order, alpha, a, stride, b, inc, beta, c, 1)
				},
				func(i blas.Float32, c []float32) {
					i.Sgemv(tA, order, order, alpha32, a32, stride, b32, inc, beta32, c, 1)
				}},
			"symm": {
				func(i blas.Float64, c []float64) {
					i.Dsymm(side, uplo, m, n, alpha, a, stride, b, stride, beta, c, stride)
				},
				func(i blas.Float32, c []float32) {
					i.Ssymm(side, uplo, m, n, alpha32, a32, stride, b32, stride, beta32, c, stride)
				}},
			"syrk": {
				func(i blas.Float64, c []float64) { i.Dsyrk(uplo, tA, n, k, alpha, a, stride, beta, c, stride) },
				func(i blas.Float32, c []float32) { i.Ssyrk(uplo, tA, n, k, alpha32, a32, stride, beta32, c, stride) }},
			"syr2k": {
				func(i blas.Float64, c []float64) {
					i.Dsyr2k(uplo, tA, n, k, alpha, a, stride, b, stride, beta, c, stride)
				},
				func(i blas.Float32, c []float32) {
					i.Ssyr2k(uplo, tA, n, k, alpha32, a32, stride, b32, stride, beta32, c, stride)
				}},
			"trsm": {
				func(i blas.Float64, c []float64) { i.Dtrsm(side, uplo, tA, diag, m, n, alpha, a, stride, c, stride) },
				func(i blas.Float32, c []float32) {
					i.Strsm(side, uplo, tA, diag, m, n, alpha32, a32, stride, c, stride)
				}},
		} {
			got, want := clone(c), clone(c)
			call.float64(fast, got)
			call.float64(slow, want)
			// Sums of at most 600 products of size about one, and triangles of condition about 2.
			compare(t, "D"+name, got, want, 1e-11)

			got32, want32 := single(c), single(c)
			call.float32(fast, got32)
			call.float32(slow, want32)
			compare(t, "S"+name, double(got32), double(want32), 5e-3)
		}
	}
}

// With β = 0, C is not read (gonum's own Dsyrk multiplies it by zero, which leaves NaN).
func TestBetaZero(t *testing.T) {
	i, x := Implementation{}, []float64{1, 2, 2, 3}
	for name, f := range map[string]func(c []float64){
		"Dgemm": func(c []float64) { i.Dgemm(blas.NoTrans, blas.NoTrans, 2, 2, 2, 1, x, 2, x, 2, 0, c, 2) },
		"Dgemv": func(c []float64) {
			i.Dgemv(blas.NoTrans, 1, 2, 1, x, 2, x[:2], 1, 0, c, 1)
			i.Dgemv(blas.NoTrans, 1, 2, 1, x, 2, x[2:], 1, 0, c[1:], 1)
			i.Dgemv(blas.NoTrans, 1, 2, 1, x[2:], 2, x[2:], 1, 0, c[3:], 1)
		},
		"Dsymm":  func(c []float64) { i.Dsymm(blas.Left, blas.Upper, 2, 2, 1, x, 2, x, 2, 0, c, 2) },
		"Dsyrk":  func(c []float64) { i.Dsyrk(blas.Upper, blas.NoTrans, 2, 2, 1, x, 2, 0, c, 2) },
		"Dsyr2k": func(c []float64) { i.Dsyr2k(blas.Upper, blas.NoTrans, 2, 2, 0.5, x, 2, x, 2, 0, c, 2) },
	} {
		c := []float64{math.NaN(), math.NaN(), 0, math.Inf(1)}
		f(c)
		if c[0] != 5 || c[1] != 8 || c[3] != 13 {
			t.Errorf("%s: %v, want the upper triangle of [5 8; 8 13]", name, c)
		}
	}
}

// Without a view that fits there is nothing to be fast about: gonum refuses.
func TestBadArguments(t *testing.T) {
	x := make([]float64, 4)
	for name, f := range map[string]func(i blas.Float64){
		"short A":       func(i blas.Float64) { i.Dgemm(blas.NoTrans, blas.NoTrans, 2, 2, 3, 1, x, 3, x, 2, 0, x, 2) },
		"short x":       func(i blas.Float64) { i.Dgemv(blas.NoTrans, 2, 2, 1, x, 2, x[:1], 1, 0, x, 1) },
		"short stride":  func(i blas.Float64) { i.Dgemm(blas.NoTrans, blas.NoTrans, 2, 2, 2, 1, x, 1, x, 2, 0, x, 2) },
		"no transpose":  func(i blas.Float64) { i.Dgemm('x', blas.NoTrans, 2, 2, 2, 1, x, 2, x, 2, 0, x, 2) },
		"negative size": func(i blas.Float64) { i.Dsyrk(blas.Upper, blas.NoTrans, -1, 2, 1, x, 2, 0, x, 2) },
		"no triangle":   func(i blas.Float64) { i.Dsyrk('x', blas.NoTrans, 2, 2, 1, x, 2, 0, make([]float64, 4), 2) },
		"no side": func(i blas.Float64) {
			i.Dtrsm('x', blas.Upper, blas.NoTrans, blas.Unit, 2, 2, 1, x, 2, make([]float64, 4), 2)
		},
		"no diagonal": func(i blas.Float64) {
			i.Dtrsm(blas.Left, blas.Upper, blas.NoTrans, 'x', 2, 2, 1, x, 2, make([]float64, 4), 2)
		},
	} {
		got, want := panicOf(func() { f(Implementation{}) }), panicOf(func() { f(gonum.Implementation{}) })
		if want == nil || got != want {
			t.Errorf("%s: panic %v, gonum's is %v", name, got, want)
		}
	}
}

func panicOf(f func()) (reason any) {
	defer func() { reason = recover() }()
	f()
	return nil
}

func random(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func single(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

func double(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func clone(x []float64) []float64 { return append([]float64(nil), x...) }

func pick[E any](rng *rand.Rand, choices ...E) E { return choices[rng.IntN(len(choices))] }

func compare(t *testing.T, name string, got, want []float64, tolerance float64) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.IsNaN(g) != math.IsNaN(w) || math.Abs(g-w) > tolerance {
			t.Fatalf("%s: element %d is %v, gonum %v", name, i, g, w)
		}
	}
}
