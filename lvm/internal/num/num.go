// Package num holds the small numerical helpers that the models share:
// log-sum-exp, checked access to rows, and parallel loops whose result does
// not depend on the number of cores.
package num

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/kernels"
)

// Split returns a new generator seeded from rng.
func Split(rng *rand.Rand) *rand.Rand {
	return rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
}

// LogSumExp returns log Σ exp(v_i) without overflow; −Inf for no values.
func LogSumExp(v []float64) float64 {
	top := math.Inf(-1)
	for _, x := range v {
		if !(x <= top) {
			top = x // also a NaN, which then stays
		}
	}
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	var s float64
	for _, x := range v {
		s += math.Exp(x - top)
	}
	return top + math.Log(s)
}

// Rows is read access to the rows of a matrix as slices.
type Rows struct {
	N, D   int
	data   []float64
	stride int
}

// RowsOf returns the rows of x. It shares the storage of x when x is stored by
// rows, and copies it otherwise.
func RowsOf(x mat.Matrix) Rows {
	n, d := x.Dims()
	if r, ok := x.(mat.RawMatrixer); ok {
		m := r.RawMatrix()
		return Rows{N: n, D: d, data: m.Data, stride: m.Stride}
	}
	var m mat.Dense
	if n > 0 && d > 0 {
		m.CloneFrom(x)
	}
	raw := m.RawMatrix()
	return Rows{N: n, D: d, data: raw.Data, stride: raw.Stride}
}

// Row returns row i, which must not be modified.
func (r Rows) Row(i int) []float64 {
	return r.data[i*r.stride : i*r.stride+r.D : i*r.stride+r.D]
}

// Block returns the rows lo ≤ i < hi as a matrix, which must not be modified.
func (r Rows) Block(lo, hi int) kernels.Matrix[float64] {
	return kernels.Of(hi-lo, r.D, r.data[lo*r.stride:], r.stride)
}

// CheckData returns the rows of x if there is at least one row and column and
// every entry is finite, and otherwise a *lvm.DataError that says where.
func CheckData(op string, x mat.Matrix) (Rows, error) {
	n, d := x.Dims()
	if n == 0 || d == 0 {
		return Rows{}, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the data has %d rows and %d columns", n, d), Try: "passing at least one row and one column"}
	}
	r := RowsOf(x)
	blocks := BlocksOf(n)
	bad := make([]error, blocks.Count()) // the first of each block
	blocks.Each(func(_, b, lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, v := range r.Row(i) {
				if v-v != 0 { // NaN or ±Inf
					bad[b] = &lvm.DataError{Op: op, Row: i, Col: j, Problem: fmt.Sprintf("the value is %v", v), Try: "removing or imputing that row"}
					return
				}
			}
		}
	})
	for _, err := range bad {
		if err != nil {
			return Rows{}, err
		}
	}
	return r, nil
}

// CheckWeights returns w, or n ones if w is nil, after checking that there are
// n of them, finite, none negative, with a positive sum.
func CheckWeights(op string, w []float64, n int) ([]float64, error) {
	if w == nil {
		w = make([]float64, n)
		for i := range w {
			w[i] = 1
		}
		return w, nil
	}
	if len(w) != n {
		return nil, &lvm.ShapeError{Op: op, What: "row weights", Got: len(w), Want: n}
	}
	var sum float64
	for i, v := range w {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the row weight is %v", v), Try: "weights that are finite and not negative"}
		}
		sum += v
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the row weights sum to %v", sum), Try: "weights with a positive, finite sum"}
	}
	return w, nil
}
