package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// randomTriangle returns a well-conditioned triangle; what must not be read is NaN.
func randomTriangle[T Float](rng *rand.Rand, n int, part Part, unit, transposed bool) Matrix[T] {
	a := randomView[T](rng, normal, n, n, 1, transposed)
	for i := range n {
		for j := range n {
			e := a.at(i, j)
			switch {
			case part == Upper && i > j || part == Lower && i < j || unit && i == j:
				*e = T(math.NaN())
			case i == j:
				*e = 2 + T(rng.Float64())
			default:
				*e /= T(n)
			}
		}
	}
	return a
}

// residual returns the largest |Ax - αb| over Σ|a||x| + |αb|.
func residual[T Float](part Part, unit bool, alpha T, a, x, b Matrix[T]) float64 {
	worst := 0.0
	for i := range x.Rows {
		for j := range x.Cols {
			r, size := -float64(alpha)*float64(*b.at(i, j)), math.Abs(float64(alpha)*float64(*b.at(i, j)))
			from, to := part.columns(i, a.Cols)
			for k := from; k < to; k++ {
				v := float64(*x.at(k, j))
				if k != i || !unit {
					v *= float64(*a.at(i, k))
				}
				r += v
				size += math.Abs(v)
			}
			worst = math.Max(worst, math.Abs(r)/(size+1e-300))
		}
	}
	return worst
}

func testTrsm[T Float](t *testing.T, epsilon float64) {
	rng := rand.New(rand.NewPCG(8, 1))
	sizes := []int{0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 97, 130}
	lots := []int{0, 1, 3, 8, 9, 40, 257}
	for trial := range trials(120) {
		m, n := pick(rng, sizes), pick(rng, lots)
		part, unit := Upper+Part(rng.IntN(2)), rng.IntN(3) == 0
		alpha := T(pick(rng, []float64{1, 1, -0.5}))
		a := randomTriangle[T](rng, m, part, unit, rng.IntN(2) == 0)
		b := randomView[T](rng, normal, m, n, rng.IntN(3), rng.IntN(2) == 0)
		what := fmt.Sprintf("trial %d: part %d, unit %v, α=%v, %d×%d", trial, part, unit, alpha, m, n)
		var want Matrix[T]
		for p := portable; p <= best(); p++ {
			force(t, p)
			for _, procs := range []int{1, 2, 5} {
				x := b.clone()
				withProcs(procs, func() { Trsm(part, unit, alpha, a, x) })
				if want.Data == nil {
					want = x
				}
				checkSame(t, fmt.Sprintf("%s, %v, GOMAXPROCS %d", what, p, procs), x, want)
			}
		}
		// Row by row, substitution is backward stable with m ε (Higham 2002, theorem 8.5).
		if r := residual(part, unit, alpha, a, want, b); r > float64(m+2)*epsilon {
			t.Errorf("%s: residual %g", what, r)
		}
	}
}

func TestTrsm(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testTrsm[float64](t, 0x1p-53) })
	t.Run("float32", func(t *testing.T) { testTrsm[float32](t, 0x1p-24) })
}

func TestTrsmAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	const m, n = 75, 40
	a := randomTriangle[float64](rng, m, Lower, false, false)
	b := randomView[float64](rng, normal, n, m, 0, false)
	want := b.clone()
	// XAᵀ = 2B
	gonum.Implementation{}.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, n, m, 2, a.Data, a.RowStride, want.Data, m)
	Trsm(Lower, false, 2, a, b.T())
	for i := range want.Data {
		// The triangle's condition is about 2, and 75 steps round.
		if d := b.Data[i] - want.Data[i]; math.Abs(d) > 1e-13 {
			t.Fatalf("element %d: %v, gonum %v", i, b.Data[i], want.Data[i])
		}
	}
}

func TestTrsmZeroOnTheDiagonal(t *testing.T) {
	a := Of(2, 2, []float64{1, 1, 0, 0}, 2)
	b := Of(2, 1, []float64{1, 1}, 1)
	Trsm(Upper, false, 1, a, b)
	if !math.IsInf(b.Data[1], 1) || !math.IsInf(b.Data[0], -1) {
		t.Errorf("solution %v, want -Inf and +Inf", b.Data)
	}
	Trsm(Upper, false, 0, a, b)
	if b.Data[0] != 0 || b.Data[1] != 0 {
		t.Errorf("α = 0 leaves %v", b.Data)
	}
}

func TestTrsmRefusals(t *testing.T) {
	d := make([]float64, 16)
	a, b := Of(4, 4, d, 4), Of(4, 2, make([]float64, 8), 2)
	mustPanic(t, "not square", func() { Trsm(Upper, false, 1, a.Slice(0, 3, 0, 4), b) })
	mustPanic(t, "shape", func() { Trsm(Upper, false, 1, a, b.T()) })
	mustPanic(t, "no triangle", func() { Trsm(All, false, 1, a, b) })
	mustPanic(t, "overlap", func() { Trsm(Upper, false, 1, a, a) })
}
