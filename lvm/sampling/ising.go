package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/latent-lessons/latent/lvm"
)

// Ising is the Gibbs sampler of the Ising model on a grid of spins ±1,
//
//	p(s) ∝ exp(J Σ_{i∼j} s_i s_j + Σ_i h_i s_i)
//
// over neighbours i∼j left, right, above and below. Given its neighbours a
// spin is +1 with probability 1/(1 + exp(−2(J Σ_{j∼i} s_j + h_i))). A
// state is the grid by rows; a step redraws every spin once, by rows.
//
// With h_i in favour of the pixel y_i observed, such as ½ y_i log((1−ε)/ε)
// for pixels flipped with probability ε, it is the posterior of a clean
// image given a noisy one. Without h, beyond J = ½ log(1+√2) ≈ 0.4407 large
// grids magnetise, and one spin at a time mixes very slowly.
//
// Cost per step: O(Rows·Cols); it allocates nothing after the first.
type Ising struct {
	Rows, Cols int
	Coupling   float64   // J
	Field      []float64 // h by rows, nil for none
	Wrap       bool      // join opposite edges to a torus

	buf  [2][]int8
	zero []int8 // the row beyond an edge
}

// Step redraws every spin once.
func (g *Ising) Step(rng *rand.Rand, s []int8) ([]int8, Info) {
	info := Info{LogDensity: math.NaN(), Acceptance: 1, Accepted: true}
	if info.Err = g.check(s); info.Err != nil {
		return s, info
	}
	y := nextBuffer(&g.buf, s)
	var up [9]float64 // without a field, P(+1) by the sum of the neighbours
	for k := range up {
		up[k] = sigmoid(2 * g.Coupling * float64(k-4))
	}
	for r := range g.Rows {
		above, row, below := g.row(y, r-1), g.row(y, r), g.row(y, r+1)
		left, last := int8(0), g.Cols-1
		if g.Wrap {
			left = row[last]
		}
		for c := range row {
			right := int8(0)
			if c < last {
				right = row[c+1]
			} else if g.Wrap {
				right = row[0]
			}
			sum := int(above[c] + below[c] + left + right)
			p := up[sum+4]
			if g.Field != nil {
				p = sigmoid(2 * (g.Coupling*float64(sum) + g.Field[r*g.Cols+c]))
			}
			left = -1
			if rng.Float64() < p {
				left = 1
			}
			row[c] = left
		}
	}
	info.LogDensity = g.LogDensity(y)
	return y, info
}

// LogDensity returns J Σ_{i∼j} s_i s_j + Σ_i h_i s_i.
func (g *Ising) LogDensity(s []int8) float64 {
	pairs, field := 0, 0.0
	for r := range g.Rows {
		row, below := g.row(s, r), g.row(s, r+1)
		for c, v := range row {
			sum := below[c]
			if c+1 < len(row) {
				sum += row[c+1]
			} else if g.Wrap {
				sum += row[0]
			}
			pairs += int(v * sum)
		}
	}
	for i, h := range g.Field {
		field += h * float64(s[i])
	}
	return g.Coupling*float64(pairs) + field
}

// row returns row r of s; beyond the edge the opposite row of a torus, or
// zeros.
func (g *Ising) row(s []int8, r int) []int8 {
	if r < 0 || r == g.Rows {
		if !g.Wrap {
			if len(g.zero) != g.Cols {
				g.zero = make([]int8, g.Cols)
			}
			return g.zero
		}
		r = (r + g.Rows) % g.Rows
	}
	return s[r*g.Cols : (r+1)*g.Cols]
}

func (g *Ising) check(s []int8) error {
	const op = "sampling.Ising"
	if len(s) != g.Rows*g.Cols || len(s) == 0 {
		return &lvm.ShapeError{Op: op, What: "spins", Got: len(s), Want: g.Rows * g.Cols}
	}
	if g.Field != nil && len(g.Field) != len(s) {
		return &lvm.ShapeError{Op: op, What: "entries of the field", Got: len(g.Field), Want: len(s)}
	}
	if g.Wrap && min(g.Rows, g.Cols) < 2 {
		return &lvm.ShapeError{Op: op, What: "rows and columns of a torus", Got: min(g.Rows, g.Cols), Want: 2}
	}
	if g.Coupling-g.Coupling != 0 {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the coupling is %v", g.Coupling), Try: "a finite coupling"}
	}
	for i, h := range g.Field {
		if h-h != 0 {
			return &lvm.DataError{Op: op, Row: i / g.Cols, Col: i % g.Cols, Problem: fmt.Sprintf("the field is %v", h), Try: "a finite field"}
		}
	}
	for i, v := range s {
		if v != 1 && v != -1 {
			return &lvm.DataError{Op: op, Row: i / g.Cols, Col: i % g.Cols, Problem: "the spin is neither +1 nor −1", Try: "mapping the pixels to ±1"}
		}
	}
	return nil
}

func sigmoid(a float64) float64 { return 1 / (1 + math.Exp(-a)) }
