package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// Estimate is a number estimated from draws, with its standard error: the
// standard deviation that the estimate would have over many such sets.
type Estimate struct {
	Value  float64
	StdErr float64 // NaN if there is a single draw
}

// Draws returns n draws in order.
func Draws[S any](rng *rand.Rand, n int, draw func(rng *rand.Rand) S) []S {
	checkRand("Draws", rng)
	checkCount("Draws", n)
	draws := make([]S, n)
	for i := range draws {
		draws[i] = draw(rng)
	}
	return draws
}

// Expect estimates an expectation by the sampling formula,
//
//	E[f] = ∫ p(x) f(x) dx ≈ (1/N) Σ_n f(x_n),  x_n ~ p
//
// with standard error sd(f)/√N, whatever the dimension of x. The error is
// that of independent draws; for draws of a chain see [MCSEMean]. It means
// nothing if f has no variance under p: the mean of N Cauchy draws is as
// wide as one draw for every N, and the number returned does not show it.
//
// A value of f that is not finite, and no draws, give a *lvm.DataError with
// the draw as its row.
//
// Notes 003, (41)–(42); notes 002, (11.3).
func Expect[S any](draws []S, f func(s S) float64) (Estimate, error) {
	var value [1]float64
	mean, stdErr, err := average("sampling.Expect", len(draws), 1, func(i int) ([]float64, error) {
		value[0] = f(draws[i])
		return value[:], nil
	})
	if err != nil {
		return Estimate{}, err
	}
	return Estimate{mean[0], stdErr[0]}, nil
}

// ExpectVec is [Expect] for a function with a vector of a fixed length as
// its value: the mean and the standard error of each entry. A *lvm.DataError
// has the entry as its column.
func ExpectVec[S any](draws []S, f func(s S) []float64) (mean, stdErr []float64, err error) {
	const op = "sampling.ExpectVec"
	if len(draws) == 0 {
		return nil, nil, noDraws(op)
	}
	first := f(draws[0])
	return average(op, len(draws), len(first), func(i int) ([]float64, error) {
		if i == 0 {
			return first, nil
		}
		v := f(draws[i])
		if len(v) != len(first) {
			return nil, &lvm.ShapeError{Op: op, What: fmt.Sprintf("length of the value of draw %d", i), Got: len(v), Want: len(first)}
		}
		return v, nil
	})
}

// ExpectMat is [Expect] for a function with a matrix of fixed dimensions as
// its value, such as x xᵀ for second moments.
func ExpectMat[S any](draws []S, f func(s S) mat.Matrix) (mean, stdErr *mat.Dense, err error) {
	const op = "sampling.ExpectMat"
	if len(draws) == 0 {
		return nil, nil, noDraws(op)
	}
	first := f(draws[0])
	rows, cols := first.Dims()
	buf := mat.NewDense(rows, cols, nil)
	m, s, err := average(op, len(draws), rows*cols, func(i int) ([]float64, error) {
		v := first
		if i > 0 {
			v = f(draws[i])
		}
		r, c := v.Dims()
		if r != rows {
			return nil, &lvm.ShapeError{Op: op, What: fmt.Sprintf("rows of the value of draw %d", i), Got: r, Want: rows}
		}
		if c != cols {
			return nil, &lvm.ShapeError{Op: op, What: fmt.Sprintf("columns of the value of draw %d", i), Got: c, Want: cols}
		}
		buf.Copy(v)
		return buf.RawMatrix().Data, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return mat.NewDense(rows, cols, m), mat.NewDense(rows, cols, s), nil
}

// RunningMean returns the means of v[:1], v[:2], …, v: the estimate as the
// number of draws grows.
func RunningMean(v []float64) []float64 {
	means := make([]float64, len(v))
	var mean float64
	for i, x := range v {
		mean += (x - mean) / float64(i+1)
		means[i] = mean
	}
	return means
}

// average returns the mean and its standard error of n vectors of length d,
// by the updates of Welford 1962, which do not cancel.
func average(op string, n, d int, value func(i int) ([]float64, error)) (mean, stdErr []float64, err error) {
	if n == 0 {
		return nil, nil, noDraws(op)
	}
	mean, stdErr = make([]float64, d), make([]float64, d)
	for i := range n {
		v, err := value(i)
		if err != nil {
			return nil, nil, err
		}
		for j, x := range v {
			if x-x != 0 {
				col := j
				if d == 1 {
					col = -1
				}
				return nil, nil, &lvm.DataError{Op: op, Row: i, Col: col, Problem: fmt.Sprintf("the function is %v", x), Try: "a function that is finite wherever there is mass"}
			}
			delta := x - mean[j]
			mean[j] += delta / float64(i+1)
			stdErr[j] += delta * (x - mean[j])
		}
	}
	for j, m2 := range stdErr {
		stdErr[j] = math.Sqrt(m2 / float64(n-1) / float64(n))
	}
	return mean, stdErr, nil
}

func noDraws(op string) error {
	return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "there are no draws", Try: "drawing some"}
}

func checkCount(op string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("sampling: %s of %d draws", op, n))
	}
}
