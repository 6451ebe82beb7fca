package kernels

import (
	"fmt"
	"math"
	"slices"
)

// Eigen returns the eigenvalues of the symmetric A, n×n, from large to small, and the
// eigenvectors of the first k of them as the rows of a k×n matrix, each of length one
// and of either sign. It reads the upper triangle. It returns false if A holds NaN or
// Inf, and panics if A is not square or not 0 ≤ k ≤ n.
//
// A is reduced to a tridiagonal matrix by blocks of reflections (Dongarra, Hammarling
// and Sorensen 1989), which is cut in two again and again (eigen_divide.go); products do
// most of the work. The residual and the loss of orthogonality are a small multiple of n
// times the rounding of ‖A‖. 4n³/3 flops for the reduction, about as many at most for
// the cutting, 2n²k for the vectors.
func Eigen(a Matrix[float64], k int) (values []float64, vectors Matrix[float64], ok bool) {
	n := a.Rows
	if a.Cols != n || k < 0 || k > n {
		panic(fmt.Sprintf("kernels: %d eigenvectors of a matrix of %d×%d", k, n, a.Cols))
	}
	work := Of(n, n, make([]float64, n*n), max(1, n))
	largest := 0.0
	for i := range n {
		for j := i; j < n; j++ {
			v := *a.at(i, j)
			work.Data[i*n+j] = v
			largest = max(largest, math.Abs(v)) // NaN wins
		}
	}
	if math.IsNaN(largest) || math.IsInf(largest, 0) {
		return nil, Matrix[float64]{}, false
	}
	// A power of two brings the largest element near one, so that nothing overflows
	// and what underflows does not count.
	_, exponent := math.Frexp(largest)
	part, rest := math.Ldexp(1, -exponent/2), math.Ldexp(1, exponent/2-exponent)
	for i := range work.Data {
		work.Data[i] = work.Data[i] * part * rest
	}

	q := tridiagonalise(work)
	if k == 0 {
		ok = implicitQL(q.diagonal, q.beside, Matrix[float64]{})
		values = q.diagonal
		slices.Sort(values)
		slices.Reverse(values)
	} else {
		values, vectors, ok = divide(q.diagonal, q.beside, k)
		if ok {
			q.apply(vectors)
		}
	}
	for i := range values {
		values[i] = math.Ldexp(values[i], exponent)
	}
	return values, vectors, ok
}
