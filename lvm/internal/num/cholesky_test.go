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

// L Lᵀ is Σ, and the log determinant that of gonum. The condition number is a few
// hundred at most.
func TestNewCholesky(t *testing.T) {
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
		l := mat.NewDense(d, d, nil)
		for i := range d {
			for j := range i {
				l.Set(i, j, c.L[PackedLen(i)+j])
			}
			l.Set(i, i, 1/c.L[PackedLen(i)+i])
		}
		var got mat.Dense
		got.Mul(l, l.T())
		if !mat.EqualApprox(&got, sigma, 1e-13*mat.Max(sigma)) {
			t.Errorf("d = %d: L Lᵀ is\n%v\nwant\n%v", d, mat.Formatted(&got), mat.Formatted(sigma))
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
