package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// randomCovariance returns XᵀX/n + I.
func randomCovariance[T Float](rng *rand.Rand, n int) Matrix[T] {
	x := randomView[T](rng, normal, n, n, 0, false)
	c := randomView[T](rng, normal, n, n, 2, false)
	Gram(1/T(max(1, n)), x, nil, nil, 0, c)
	for i := range n {
		*c.at(i, i)++
	}
	return c
}

func testCholesky[T Float](t *testing.T, epsilon float64) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, n := range []int{0, 1, 2, 5, 31, 32, 33, 64, 65, 100, 161} {
		cov := randomCovariance[T](rng, n)
		for _, part := range []Part{Upper, Lower} {
			for _, transposed := range []bool{false, true} {
				a := cov.clone()
				if transposed {
					a = a.T()
				}
				for i := range n { // nobody may look at the other triangle
					for j := range n {
						if part == Upper && i > j || part == Lower && i < j {
							*a.at(i, j) = T(math.NaN())
						}
					}
				}
				what := fmt.Sprintf("n=%d part %d transposed %v", n, part, transposed)
				var want Matrix[T]
				for p := portable; p <= best(); p++ {
					force(t, p)
					for _, procs := range []int{1, 2, 5} {
						f := a.clone()
						withProcs(procs, func() {
							if i := Cholesky(part, f); i >= 0 {
								t.Fatalf("%s: not positive definite at %d", what, i)
							}
						})
						if want.Data == nil {
							want = f
						}
						checkSame(t, fmt.Sprintf("%s %v GOMAXPROCS %d", what, p, procs), f, want)
					}
				}
				// |A - UᵀU| ≤ (n+1)ε |Uᵀ||U|, and the diagonal of A bounds |Uᵀ||U| (Higham 2002, theorem 10.3).
				for i := range n {
					for j := i; j < n; j++ {
						s := 0.0
						for k := range i + 1 {
							x, y := *want.at(min(k, i), max(k, i)), *want.at(min(k, j), max(k, j))
							if part == Lower {
								x, y = *want.at(i, k), *want.at(j, k)
							}
							s += float64(x) * float64(y)
						}
						size := math.Sqrt(float64(*cov.at(i, i)) * float64(*cov.at(j, j)))
						if d := math.Abs(s - float64(*cov.at(i, j))); d > float64(n+2)*epsilon*size {
							t.Fatalf("%s: element %d,%d of the product of the factors is off by %g", what, i, j, d)
						}
					}
				}
			}
		}
	}
}

func TestCholesky(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testCholesky[float64](t, 0x1p-53) })
	t.Run("float32", func(t *testing.T) { testCholesky[float32](t, 0x1p-24) })
}

func TestCholeskyAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	a := randomCovariance[float64](rng, 130)
	want := a.clone()
	if _, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: 130, Stride: want.RowStride, Data: want.Data}); !ok {
		t.Fatal("gonum says not positive definite")
	}
	Cholesky(Upper, a)
	for i := range 130 {
		for j := i; j < 130; j++ {
			// The condition of the matrix is below 10.
			if d := *a.at(i, j) - *want.at(i, j); math.Abs(d) > 1e-13 {
				t.Fatalf("element %d,%d: %v, gonum %v", i, j, *a.at(i, j), *want.at(i, j))
			}
		}
	}
}

func TestCholeskyFindsThePivot(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	const n = 100
	for _, bad := range []int{0, 1, 31, 32, 70, 99} {
		for _, value := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
			a := randomCovariance[float64](rng, n)
			*a.at(bad, bad) = value
			if got := Cholesky(Lower, a); got != bad {
				t.Errorf("diagonal element %d is %v: found at %d", bad, value, got)
			}
		}
	}
	// Rank one: the second pivot is exactly zero.
	if got := Cholesky(Upper, Of(2, 2, []float64{1, 1, 1, 1}, 2)); got != 1 {
		t.Errorf("matrix of rank one: %d", got)
	}
}

func TestCholeskyIllConditioned(t *testing.T) {
	// The Hilbert matrix of 12 rows has condition 1.7e16 and is factorised; the one of
	// 20 rows is not positive definite in float64.
	hilbert := func(n int) Matrix[float64] {
		a := Of(n, n, make([]float64, n*n), n)
		for i := range n {
			for j := range n {
				*a.at(i, j) = 1 / float64(i+j+1)
			}
		}
		return a
	}
	if i := Cholesky(Upper, hilbert(12)); i != -1 {
		t.Errorf("Hilbert 12: stopped at %d", i)
	}
	if i := Cholesky(Upper, hilbert(20)); i < 10 {
		t.Errorf("Hilbert 20: %d, want a late pivot", i)
	}
}

// The paths agree on any matrix, also where a solution overflows or a pivot fails.
func FuzzFactors(f *testing.F) {
	f.Add(uint64(1), uint8(40), uint8(9), uint8(3))
	f.Add(uint64(2), uint8(97), uint8(1), uint8(255))
	f.Fuzz(func(t *testing.T, seed uint64, size, rights, flags uint8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, kd := 1+int(size)%110, kind(flags>>4)%numKinds
		part, unit := Upper+Part(flags&1), flags&2 != 0
		a := randomView[float64](rng, kd, n, n, 1, flags&4 != 0)
		b := randomView[float64](rng, kd, n, 1+int(rights)%40, 1, flags&8 != 0)
		cov := Of(n, n, make([]float64, n*n), n)
		Gram(1, a, nil, nil, 0, cov)
		var wantX, wantF Matrix[float64]
		var wantPivot int
		for p := portable; p <= best(); p++ {
			force(t, p)
			x, factor := b.clone(), cov.clone()
			Trsm(part, unit, 1, a, x)
			pivot := Cholesky(part, factor)
			if p == portable {
				wantX, wantF, wantPivot = x, factor, pivot
			}
			checkSame(t, p.String(), x, wantX)
			checkSame(t, p.String(), factor, wantF)
			if pivot != wantPivot {
				t.Errorf("%v: pivot %d, want %d", p, pivot, wantPivot)
			}
		}
	})
}
