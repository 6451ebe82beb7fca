package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// MarkovChain is a Markov chain on the states 0, …, n−1,
//
//	P(x_{t+1} = j | x_t = i) = T_ij,  Σ_j T_ij = 1
//
// A distribution over the states is a row vector: Π^(t+1) = Π^(t) T. It is a
// [Kernel] over int, so [Walk] and [Run] walk it.
//
// Notes 000, (5.22)–(5.23), which print the distribution as a column but
// need the row.
//
// The methods panic if Transition is not a transition matrix;
// [NewMarkovChain] returns an error instead. It must not change once the
// chain is used.
type MarkovChain struct {
	Transition *mat.Dense // T, n×n, a row for each state from

	checked bool
	rows    []*Alias
}

// NewMarkovChain returns the chain with a copy of the transition matrix. A
// matrix that is not square, or with a row that is no distribution, gives a
// *lvm.ShapeError or a *lvm.DataError that names the row.
func NewMarkovChain(transition mat.Matrix) (*MarkovChain, error) {
	c := &MarkovChain{Transition: mat.DenseCopyOf(transition)}
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
}

// rowTolerance is how far the sum of a row may be from 1.
const rowTolerance = 1e-9

func (c *MarkovChain) check() error {
	const op = "sampling.MarkovChain"
	if c.checked {
		return nil
	}
	if c.Transition == nil {
		panic("sampling: MarkovChain without Transition")
	}
	n, cols := c.Transition.Dims()
	if n != cols {
		return &lvm.ShapeError{Op: op, What: "columns of the transition matrix", Got: cols, Want: n}
	}
	for i := range n {
		for j, p := range c.Transition.RawRowView(i) {
			if !(p >= 0 && p <= 1+rowTolerance) {
				return &lvm.DataError{Op: op, Row: i, Col: j, Problem: fmt.Sprintf("the transition probability is %v", p), Try: "probabilities from 0 to 1"}
			}
		}
	}
	for i := range n {
		sum := mat.Sum(c.Transition.RowView(i))
		if math.Abs(sum-1) <= rowTolerance {
			continue
		}
		try := "dividing the row by its sum"
		if columnsSumToOne(c.Transition) {
			try = "the transpose: the columns sum to one, and the state from is the row here"
		}
		return &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the transition probabilities sum to %.6g", sum), Try: try}
	}
	c.checked = true
	return nil
}

func columnsSumToOne(t *mat.Dense) bool {
	_, n := t.Dims()
	for j := range n {
		if math.Abs(mat.Sum(t.ColView(j))-1) > rowTolerance {
			return false
		}
	}
	return true
}

// must checks the matrix and returns the number of states.
func (c *MarkovChain) must() int {
	if err := c.check(); err != nil {
		panic("sampling: " + err.Error())
	}
	n, _ := c.Transition.Dims()
	return n
}

// mustDistribution panics unless p has an entry for every state.
func (c *MarkovChain) mustDistribution(op string, p []float64) {
	if n := c.must(); len(p) != n {
		panic(fmt.Sprintf("sampling: MarkovChain.%s of a distribution over %d states, not %d", op, len(p), n))
	}
}

// After returns the distribution after n steps from distribution p,
// Π^(n) = Π^(0) Tⁿ.
//
// Cost: O(n S²) for S states.
func (c *MarkovChain) After(p []float64, n int) []float64 {
	c.mustDistribution("After", p)
	if n < 0 {
		panic(fmt.Sprintf("sampling: MarkovChain.After %d steps", n))
	}
	p = append([]float64(nil), p...)
	next := make([]float64, len(p))
	for range n {
		c.advance(next, p)
		p, next = next, p
	}
	return p
}

// advance sets next = p T.
func (c *MarkovChain) advance(next, p []float64) {
	clear(next)
	for i, v := range p {
		if v == 0 {
			continue
		}
		for j, t := range c.Transition.RawRowView(i) {
			next[j] += v * t
		}
	}
}

// Power returns Tⁿ, whose rows are the distributions after n steps from each
// state.
//
// Cost: O(S³ log n) for S states.
func (c *MarkovChain) Power(n int) *mat.Dense {
	c.must()
	if n < 0 {
		panic(fmt.Sprintf("sampling: MarkovChain.Power of %d steps", n))
	}
	var p mat.Dense
	p.Pow(c.Transition, n)
	return &p
}

// Step draws the next state.
func (c *MarkovChain) Step(rng *rand.Rand, s int) (int, Info) {
	info := Info{LogDensity: math.NaN(), Acceptance: 1, Accepted: true}
	if c.rows == nil {
		if info.Err = c.tables(); info.Err != nil {
			return s, info
		}
	}
	if s < 0 || s >= len(c.rows) {
		info.Err = &lvm.DataError{Op: "sampling.MarkovChain", Row: s, Col: -1, Problem: fmt.Sprintf("there is no such state among %d", len(c.rows)), Try: "a start from 0"}
		return s, info
	}
	return c.rows[s].Draw(rng), info
}

// tables makes the alias table of every row.
func (c *MarkovChain) tables() error {
	if err := c.check(); err != nil {
		return err
	}
	n, _ := c.Transition.Dims()
	rows := make([]*Alias, n)
	for i := range rows {
		var err error
		if rows[i], err = NewAlias(c.Transition.RawRowView(i)); err != nil {
			return err
		}
	}
	c.rows = rows
	return nil
}

// Simulate returns the n states that follow a start. It panics if there is
// no such state.
func (c *MarkovChain) Simulate(rng *rand.Rand, start, n int) []int {
	checkRand("MarkovChain.Simulate", rng)
	checkCount("MarkovChain.Simulate", n)
	if states := c.must(); start < 0 || start >= states {
		panic(fmt.Sprintf("sampling: MarkovChain.Simulate from state %d of %d", start, states))
	}
	path := make([]int, n)
	if c.rows == nil {
		_ = c.tables() // the matrix has been checked
	}
	for i, s := 0, start; i < n; i++ {
		s = c.rows[s].Draw(rng)
		path[i] = s
	}
	return path
}

// TotalVariation returns ½ Σ_i |p_i − q_i|: the most by which the probability
// of any event differs.
func TotalVariation(p, q []float64) float64 {
	if len(p) != len(q) {
		panic(fmt.Sprintf("sampling: TotalVariation of distributions over %d and %d states", len(p), len(q)))
	}
	var sum float64
	for i, v := range p {
		sum += math.Abs(v - q[i])
	}
	return sum / 2
}
