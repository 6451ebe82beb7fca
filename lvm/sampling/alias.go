package sampling

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/latent-lessons/latent/lvm"
)

// Alias draws from a discrete distribution over 0, …, n−1 in constant time.
//
// Its table has n columns of equal mass 1/n. Each is shared by its own value
// and at most one other, its alias, so that a uniform column and a uniform
// height in it pick a value.
//
// The masses are whole numbers of units, 2^b to a column with the largest b for
// which all n columns hold at most 2⁶³. The probabilities are rounded to that
// unit first, so a weight below 2⁻⁶³ of the sum may never be drawn; what the
// table then holds is exact, see Probs. The same weights give the same table
// on every machine.
//
// Cost: O(n) to build; one random word per draw, and no allocation.
//
// Walker 1977; Vose 1991.
type Alias struct {
	columns []aliasColumn
	height  uint // b
}

// aliasColumn holds its own value below cut and other above.
type aliasColumn struct {
	cut   uint64 // of 2^b units
	other int
}

// NewAlias builds the table for weights of any sum. Weights that are
// negative or not finite, and weights that are all zero, give a
// *lvm.DataError.
func NewAlias(weights []float64) (*Alias, error) {
	const op = "sampling.NewAlias"
	n := len(weights)
	if err := checkMasses(op, weights); err != nil {
		return nil, err
	}
	a := &Alias{columns: make([]aliasColumn, n), height: uint(63 - bits.Len(uint(n-1)))}
	mass := units(weights, uint64(n)<<a.height)
	full := uint64(1) << a.height

	// A small column is filled up by the value with the most recently found
	// surplus, which thereby may become small itself.
	var small, large []int
	for i, m := range mass {
		if m < full {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.columns[s] = aliasColumn{cut: mass[s], other: l}
		if mass[l] -= full - mass[s]; mass[l] < full {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, l := range large { // whose mass is full now
		a.columns[l] = aliasColumn{cut: full, other: l}
	}
	return a, nil
}

// units returns the weights as whole numbers that sum to total: each weight
// is rounded to 2⁻⁶² of the sum, and the rest is exact division.
func units(weights []float64, total uint64) []uint64 {
	_, exp := math.Frexp(slices.Max(weights))
	var sum float64
	for _, w := range weights {
		sum += math.Ldexp(w, -exp) // which cannot overflow
	}
	_, sumExp := math.Frexp(sum)
	whole := make([]uint64, len(weights))
	var wholeSum uint64 // about 2⁶² at most
	for i, w := range weights {
		whole[i] = uint64(math.Round(math.Ldexp(w, 62-sumExp-exp)))
		wholeSum += whole[i]
	}
	mass, rest := make([]uint64, len(weights)), make([]uint64, len(weights))
	left := total
	for i, w := range whole {
		hi, lo := bits.Mul64(w, total)
		mass[i], rest[i] = bits.Div64(hi, lo, wholeSum)
		left -= mass[i]
	}
	// The remainders sum to left units, so more than that many are positive.
	for i := range mass {
		if rest[i] > 0 && left > 0 {
			mass[i]++
			left--
		}
	}
	return mass
}

// Draw draws one value.
func (a *Alias) Draw(rng *rand.Rand) int {
	// The product of a random word with n is the column, and in its low word
	// the height there as a fraction.
	i, fraction := bits.Mul64(rng.Uint64(), uint64(len(a.columns)))
	c := &a.columns[i]
	v := c.other
	if fraction>>(64-a.height) < c.cut {
		v = int(i)
	}
	return v
}

// Sample draws n values.
func (a *Alias) Sample(rng *rand.Rand, n int) []int {
	checkRand("Alias.Sample", rng)
	checkCount("Alias.Sample", n)
	values := make([]int, n)
	for i := range values {
		values[i] = a.Draw(rng)
	}
	return values
}

// Len returns the number of values.
func (a *Alias) Len() int { return len(a.columns) }

// Column returns the share of column i that belongs to value i, and the
// value that the rest belongs to: what a drawing of the table shows.
func (a *Alias) Column(i int) (share float64, other int) {
	if i < 0 || i >= len(a.columns) {
		panic(fmt.Sprintf("sampling: column %d of an Alias with %d", i, len(a.columns)))
	}
	c := a.columns[i]
	return math.Ldexp(float64(c.cut), -int(a.height)), c.other
}

// Probs returns the probabilities that the table holds, added up column by
// column in whole numbers.
func (a *Alias) Probs() []float64 {
	full := uint64(1) << a.height
	mass := make([]uint64, len(a.columns))
	for i, c := range a.columns {
		mass[i] += c.cut
		mass[c.other] += full - c.cut
	}
	p := make([]float64, len(mass))
	for i, m := range mass {
		p[i] = float64(m) / (float64(len(mass)) * float64(full))
	}
	return p
}

// checkMasses returns an error unless the weights are finite, not negative
// and not all zero.
func checkMasses(op string, weights []float64) error {
	some := false
	for i, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the weight is %v", w), Try: "weights that are finite and not negative"}
		}
		some = some || w > 0
	}
	if !some {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("none of %d weights is positive", len(weights)), Try: "at least one that is"}
	}
	return nil
}
