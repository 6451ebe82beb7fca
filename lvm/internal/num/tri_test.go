package num

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// covariance returns A Aᵀ + I for a random A.
func covariance(rng *rand.Rand, d int) *mat.SymDense {
	a := mat.NewDense(d, d, nil)
	a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
	s := mat.NewSymDense(d, nil)
	for i := range d {
		s.SetSym(i, i, 1)
	}
	for i := range d {
		s.SymRankOne(s, 1, a.ColView(i))
	}
	return s
}

// Against the inverse and the determinant of gonum, for every remainder of the
// rows modulo four. The condition number is a few hundred at most.
func TestLogDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 2, 3, 5, 8, 13} {
		sigma := covariance(rng, d)
		c, ok := NewCholesky(sigma)
		if !ok {
			t.Fatal("not positive definite")
		}
		if want := math.Log(mat.Det(sigma)); math.Abs(c.LogDet-want) > 1e-12*float64(d) {
			t.Errorf("d = %d: log determinant %v, want %v", d, c.LogDet, want)
		}
		var inv mat.Dense
		if err := inv.Inverse(sigma); err != nil {
			t.Fatal(err)
		}
		x, mean := mat.NewDense(10, d, nil), make([]float64, d)
		x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		for lo := range 4 {
			for hi := lo + 1; hi <= 10; hi++ {
				got := make([]float64, 2*(hi-lo)+1)
				got[2*(hi-lo)] = 7
				c.LogDensities(got, 2, 3, RowsOf(x), lo, hi, mean, make([]float64, 4*d))
				for i := lo; i < hi; i++ {
					y := mat.NewVecDense(d, nil)
					y.SubVec(x.RowView(i), mat.NewVecDense(d, mean))
					want := 3 - 0.5*mat.Inner(y, &inv, y)
					if g := got[2*(i-lo)]; math.Abs(g-want) > 1e-12*max(1, math.Abs(want)) {
						t.Errorf("d = %d, rows %d to %d: %v for row %d, want %v", d, lo, hi, g, i, want)
					}
				}
				if got[2*(hi-lo)] != 7 {
					t.Fatal("wrote beyond the last row")
				}
			}
		}
	}
}

// Positive definite or not does not depend on the units of the columns.
func TestNewCholeskySingular(t *testing.T) {
	for _, unit := range []float64{1e-150, 1, 1e150} {
		for _, c := range []struct {
			correlation float64
			ok          bool
		}{{0, true}, {1 - 1e-12, true}, {1 - 1e-16, false}, {1, false}, {1.1, false}} {
			s := mat.NewSymDense(2, []float64{1, c.correlation * unit, c.correlation * unit, unit * unit})
			if _, ok := NewCholesky(s); ok != c.ok {
				t.Errorf("correlation %v, unit %v: positive definite %v", c.correlation, unit, ok)
			}
		}
	}
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, ok := NewCholesky(mat.NewSymDense(1, []float64{v})); ok {
			t.Errorf("variance %v is positive definite", v)
		}
	}
}

func TestAddScatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{1, 2, 3, 8} {
		const n = 12
		y, w := make([]float64, n*d), make([]float64, n)
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		for i := range w {
			w[i] = rng.Float64()
		}
		sum, scatter := make([]float64, d), make([]float64, PackedLen(d))
		AddScatter(sum, scatter, w, y)
		for i := range d {
			var want float64
			for b := range n {
				want += w[b] * y[b*d+i]
			}
			if math.Abs(sum[i]-want) > 1e-14 {
				t.Errorf("d = %d: sum %d is %v, want %v", d, i, sum[i], want)
			}
			for j := range i + 1 {
				want = 0
				for b := range n {
					want += w[b] * y[b*d+i] * y[b*d+j]
				}
				if got := scatter[PackedLen(i)+j]; math.Abs(got-want) > 1e-14 {
					t.Errorf("d = %d: scatter %d,%d is %v, want %v", d, i, j, got, want)
				}
			}
		}
	}
}
