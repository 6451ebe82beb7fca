package coding

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Bound returns the length that no code for this model beats on average,
//
//	−Σ_i log₂ p(x_i)
//
// in bits, and which bits back reaches. Values outside of the grid are a
// *lvm.DataError. Cost: O(n·k·d²), as that of the other lengths.
func (m *Mixture) Bound(x mat.Matrix) (float64, error) {
	return m.length("coding.Mixture.Bound", x, func(_ int, joint []float64) float64 { return -num.LogSumExp(joint) })
}

// Deterministic returns the length of the code that sends the most probable
// component of each row and then the row,
//
//	−Σ_i max_k [log₂ π_k + log₂ P(x_i | k)]
//
// in bits. It exceeds the bound by −Σ_i log₂ of the largest responsibility.
//
// Source: Ghahramani, Latent variable models, appendix, eq. (3), which prints
// −Σ_i argmin_k: an index instead of a value, and the worst component.
func (m *Mixture) Deterministic(x mat.Matrix) (float64, error) {
	return m.length("coding.Mixture.Deterministic", x, func(_ int, joint []float64) float64 { return -floats.Max(joint) })
}

// Stochastic returns the expected length of the code that draws the component of
// row i from q_i, an n×k matrix whose rows sum to one, and gets the bits of that
// draw back,
//
//	Σ_i Σ_k q_ik [log₂ q_ik − log₂ π_k − log₂ P(x_i | k)]
//
// in bits: minus the free energy, and so the bound plus Σ_i KL(q_i ‖ posterior).
//
// Source: Hinton and Zemel (1994); Ghahramani, Latent variable models, appendix,
// eq. (4).
func (m *Mixture) Stochastic(x, q mat.Matrix) (float64, error) {
	const op = "coding.Mixture.Stochastic"
	if m.Model != nil {
		n, _ := x.Dims()
		rows, k := q.Dims()
		if want := len(m.Model.Weights); k != want {
			return 0, &lvm.ShapeError{Op: op, What: "columns of q", Got: k, Want: want}
		}
		if rows != n {
			return 0, &lvm.ShapeError{Op: op, What: "rows of q", Got: rows, Want: n}
		}
		for i := range rows {
			var sum float64
			for j := range k {
				v := q.At(i, j)
				if !(v >= 0) {
					return 0, &lvm.DataError{Op: op, Row: i, Col: j, Problem: fmt.Sprintf("the probability in q is %v", v), Try: "numbers from 0 to 1"}
				}
				sum += v
			}
			if !(math.Abs(sum-1) <= 1e-6) {
				return 0, &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the probabilities in q sum to %.9g", sum), Try: "dividing them by that"}
			}
		}
	}
	return m.length(op, x, func(i int, joint []float64) (l float64) {
		for k, j := range joint {
			if p := q.At(i, k); p > 0 {
				l += p * (math.Log(p) - j)
			}
		}
		return l
	})
}

// length adds up what f says about each row, given ln π_k P(x | k), and turns it
// into bits.
func (m *Mixture) length(op string, x mat.Matrix, f func(i int, joint []float64) float64) (float64, error) {
	c, rows, err := m.ready(op, x)
	if err != nil {
		return 0, err
	}
	var nats float64
	for i, row := range rows {
		l := f(i, c.logJoint(row))
		if math.IsNaN(l) {
			return 0, &lvm.DataError{Op: op, Row: i, Col: -1, Problem: "its distance to the components overflows", Try: "a Model fitted to this data"}
		}
		nats += l
	}
	return nats / math.Ln2, nil
}
