package kernels

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomMoves returns rows with weights and moves of them among three groups.
func randomMoves(rng *rand.Rand, d, stride int, special bool) (x, w []float64, moves []Move) {
	const n = 9
	x, w = awkward(rng, n*stride, special), awkward(rng, n, false)
	moves = make([]Move, rng.IntN(12))
	for i := range moves {
		moves[i] = Move{rng.Int32N(n), rng.Int32N(3), rng.Int32N(3)}
	}
	return x, w, moves
}

// The definition, number by number.
func TestMoveRowsBits(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 4))
		for trial := range 400 {
			d := 1 + trial%40
			stride, half := d+rng.IntN(3), Places(d)
			x, w, moves := randomMoves(rng, d, stride, rng.IntN(3) == 0)
			sums := awkward(rng, 3*2*half, false)
			cut := &Cut{awkward(rng, d, false), awkward(rng, half, false), awkward(rng, half, false)}
			for i := range sums {
				if j := i % half; j >= d && j < half-4 || j >= half-2 {
					sums[i] = 0 // not used
				}
			}

			want := slices.Clone(sums)
			for _, m := range moves {
				row := x[int(m.Row)*stride:][:d]
				parts := make([]float64, half)
				for j, v := range row {
					parts[j] = float64(w[m.Row] * (v - cut.Origin[j]))
				}
				parts[half-4], parts[half-3] = float64(w[m.Row]*lanes(row, cut.Origin)), w[m.Row]
				for j, v := range parts {
					coarse := (v + cut.Coarse[j]) - cut.Coarse[j]
					fine := ((v - coarse) + cut.Fine[j]) - cut.Fine[j]
					for i, part := range []float64{coarse, fine} {
						want[2*half*int(m.To)+i*half+j] += part
						want[2*half*int(m.From)+i*half+j] -= part
					}
				}
			}
			MoveRows(sums, x, d, stride, moves, w, cut)
			for i, v := range want {
				if !same(sums[i], v) {
					t.Fatalf("d = %d: sum %d is %v, want %v", d, i, sums[i], v)
				}
			}
		}
	})
}

// With cuts that leave room for the sums, they do not depend on the order, all that
// comes goes again without a trace, and what is lost is below the last fine place.
func TestMoveRowsIsExact(t *testing.T) {
	const n, d, half = 1000, 5, 12
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 4))
		x, w := make([]float64, n*d), make([]float64, n)
		for i := range x {
			x[i] = 8 * (2*rng.Float64() - 1) * math.Pow(2, -float64(rng.IntN(40)))
		}
		cut := &Cut{make([]float64, d), make([]float64, half), make([]float64, half)}
		for j := range cut.Coarse {
			// Up to 512 for the square of a row and 2^19 for a sum: the last coarse
			// place is 2^-32, the last fine one 2^-72.
			cut.Coarse[j], cut.Fine[j] = 0x1.8p20, 0x1.8p-20
		}
		moves, back := make([]Move, n), make([]Move, n)
		for i := range moves {
			w[i] = 1
			moves[i] = Move{int32(i), 0, 1}
			back[i] = Move{int32(i), 1, 0}
		}
		once, again := make([]float64, 2*2*half), make([]float64, 2*2*half)
		MoveRows(once, x, d, d, moves, w, cut)
		rng.Shuffle(n, func(i, j int) { moves[i], moves[j] = moves[j], moves[i] })
		MoveRows(again, x, d, d, moves[:n/3], w, cut)
		MoveRows(again, x, d, d, moves[n/3:], w, cut)
		if !slices.Equal(once, again) {
			t.Error("the sums depend on the order")
		}
		for j := range d {
			exact := new(big.Float).SetPrec(500)
			for i := range n {
				exact.Add(exact, big.NewFloat(x[i*d+j]))
			}
			sum := new(big.Float).SetPrec(500).Add(big.NewFloat(once[2*half+j]), big.NewFloat(once[3*half+j]))
			if off, _ := sum.Sub(sum, exact).Float64(); math.Abs(off) > n*0x1p-73 {
				t.Errorf("column %d is off by %g", j, off)
			}
		}
		MoveRows(again, x, d, d, back, w, cut)
		for i, v := range again {
			if v != 0 {
				t.Errorf("sum %d is %v after all rows have left", i, v)
			}
		}
		// A control: without cuts the order matters.
		clear(cut.Coarse)
		clear(cut.Fine)
		clear(once)
		clear(again)
		MoveRows(once, x, d, d, moves, w, cut)
		slices.Reverse(moves)
		MoveRows(again, x, d, d, moves, w, cut)
		if slices.Equal(once, again) {
			t.Error("control: uncut sums do not depend on the order either")
		}
	})
}
