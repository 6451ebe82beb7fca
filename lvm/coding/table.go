package coding

import (
	"fmt"
	"math"
	"sort"

	"github.com/latent-lessons/latent/lvm"
)

// Table is a distribution of a few symbols, rounded so that a Stack can code it:
// symbol i owns the slots from Starts[i] to Starts[i+1]−1 of 2^Precision, at least
// one.
type Table struct {
	Starts    []uint32 // from 0 to 2^Precision, one more than symbols
	Precision int      // 0 to MaxPrecision
}

// NewTable rounds the probabilities p ∝ weights to multiples of 2^−precision.
//
// Every symbol gets one slot, so that it can be coded however improbable it is, and
// the others are shared out in proportion. So of n symbols none costs more than
// −log₂(1 − n/2^precision) bits above −log₂ p.
//
// Weights that are negative, not finite or sum to zero, and more symbols than
// slots, are a *lvm.DataError; Row is the symbol.
func NewTable(weights []float64, precision int) (*Table, error) {
	const op = "coding.NewTable"
	n := len(weights)
	if precision < 0 || precision > MaxPrecision {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the precision is %d", precision), Try: fmt.Sprintf("0 to %d", MaxPrecision)}
	}
	if n == 0 || n > 1<<precision {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("%d symbols for %d slots", n, 1<<precision), Try: "at least one symbol, and a precision that gives each a slot"}
	}
	var sum float64
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the weight is %v", w), Try: "weights that are finite and not negative"}
		}
		sum += w
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the weights sum to %v", sum), Try: "weights with a positive, finite sum"}
	}
	t := &Table{Starts: make([]uint32, n+1), Precision: precision}
	t.set(weights, sum)
	return t, nil
}

// set shares the slots out anew among as many symbols.
func (t *Table) set(weights []float64, sum float64) {
	n := len(weights)
	free := float64(uint32(1)<<t.Precision - uint32(n))
	var below float64
	for i, w := range weights {
		t.Starts[i] = uint32(i) + uint32(free*min(below/sum, 1))
		below += w
	}
	t.Starts[n] = 1 << t.Precision
}

// Push puts a symbol, counted from 0, on the stack. It panics if there is no
// such symbol.
func (t *Table) Push(s *Stack, symbol int) {
	start := t.Starts[symbol]
	s.Push(start, t.Starts[symbol+1]-start, t.Precision)
}

// Pop takes a symbol off the stack.
func (t *Table) Pop(s *Stack) (symbol int) {
	slot := s.Peek(t.Precision)
	symbol = sort.Search(len(t.Starts)-2, func(i int) bool { return t.Starts[i+1] > slot })
	start := t.Starts[symbol]
	s.Pop(start, t.Starts[symbol+1]-start, t.Precision)
	return symbol
}

// Bits returns what a symbol costs, −log₂ of its rounded probability.
func (t *Table) Bits(symbol int) float64 {
	return float64(t.Precision) - math.Log2(float64(t.Starts[symbol+1]-t.Starts[symbol]))
}
