package kernels

import (
	"math/rand/v2"
	"testing"
)

// A read or write past an operand is a segmentation fault here.
func TestColumnsStayInside(t *testing.T) {
	onBlocks(t, func(t *testing.T, rng *rand.Rand, k rowBlock, _ bool) {
		if k.n == 0 {
			return
		}
		block := func() []float64 { return fenced(t, awkward(rng, k.n*k.d, false)) }
		row := func() []float64 { return fenced(t, awkward(rng, k.d, false)) }
		triangle := fenced(t, awkward(rng, k.d*(k.d+1)/2, false))
		q, w := fenced(t, make([]float64, k.n)), fenced(t, awkward(rng, k.n, false))
		WhitenedSquares(q, block(), row(), triangle, fenced(t, make([]float64, RowLanes*k.d)))
		ScaledSquares(q, block(), row(), row())
		Centre(row(), block(), block(), block(), row(), w)
		AddPackedProduct(triangle, block(), block(), k.d)
	})
}
