package sampling

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// buffers are the two states that a kernel owns: one holds the state it
// returned last, the other takes the next proposal.
type buffers [2][]float64

func (b *buffers) resize(d int) {
	b[0], b[1] = make([]float64, d), make([]float64, d)
}

// other returns a buffer that is not x.
func (b *buffers) other(x []float64) []float64 {
	if &b[0][0] == &x[0] {
		return b[1]
	}
	return b[0]
}

// memo remembers the log density of the state that a kernel returned last,
// so that a chain evaluates it once per proposal. It compares values, not
// addresses, so that the result of a step depends on the state alone.
type memo struct {
	x    []float64
	logp float64
}

// at returns log p̃(x) and the number of evaluations that took.
func (m *memo) at(logDensity func([]float64) float64, x []float64) (float64, int) {
	if len(x) == len(m.x) && slices.Equal(x, m.x) {
		return m.logp, 0
	}
	m.set(x, logDensity(x))
	return m.logp, 1
}

func (m *memo) set(x []float64, logp float64) {
	m.x = append(m.x[:0], x...)
	m.logp = logp
}

// checkTarget panics unless a kernel can aim at an acceptance.
func checkTarget(kernel string, target float64) {
	if !(target >= 0 && target < 1) {
		panic(fmt.Sprintf("sampling: %s with a target acceptance of %v; it must be between 0 and 1", kernel, target))
	}
}

// lowerFactor returns the Cholesky factor L of a = LLᵀ, d×d by rows.
func lowerFactor(op string, a mat.Symmetric, d int) ([]float64, error) {
	if n := a.SymmetricDim(); n != d {
		return nil, &lvm.ShapeError{Op: op, What: "rows of the covariance", Got: n, Want: d}
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the %d×%d covariance is not positive definite", d, d), Try: "adding a small multiple of the identity"}
	}
	var l mat.TriDense
	chol.LTo(&l)
	lower := make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			v := l.At(i, j)
			if v-v != 0 {
				return nil, &lvm.DataError{Op: op, Row: i, Col: j, Problem: "the covariance is not finite", Try: "finite entries"}
			}
			lower[i*d+j] = v
		}
	}
	return lower, nil
}

// rankOneUpdate replaces the factor L of A, d×d by rows, with that of
// A + vvᵀ, and spoils v. Golub & Van Loan 2013, §6.5.4.
func rankOneUpdate(lower, v []float64) {
	d := len(v)
	for k := range d {
		lkk := lower[k*d+k]
		r := math.Hypot(lkk, v[k])
		c, s := r/lkk, v[k]/lkk
		lower[k*d+k] = r
		for i := k + 1; i < d; i++ {
			lik := &lower[i*d+k]
			*lik = (*lik + s*v[i]) / c
			v[i] = c*v[i] - s**lik
		}
	}
}
