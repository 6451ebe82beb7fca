package kernels

// A Move takes a row from one group to another.
type Move struct{ Row, From, To int32 }

// Cut says how MoveRows rounds. Each number of a row is cut into a coarse part, a
// multiple of the last place of Coarse, and a fine part of the rest, a multiple of
// the last place of Fine. If these are so large that no sum of parts has more than
// 53 bits, then all sums are exact.
type Cut struct {
	Origin       []float64 // d
	Coarse, Fine []float64 // Places(d), as in a sum
}

// Places returns how many numbers the parts of one size are that MoveRows adds up:
// d columns and zeros up to a multiple of four, then the square, the weight and two
// zeros.
func Places(d int) int { return (d+3)&^3 + 4 }

// MoveRows keeps the sums of groups of rows when rows move. With p = Places(d), group
// z has the coarse parts of
//
//	Σ w (x_j − o_j) for j < d,   Σ w ‖x − o‖²,   Σ w
//
// in sums[2pz : 2pz+p] and the fine parts in the p places that follow. o is cut.Origin
// and ‖x − o‖² has the bits of SqDist. Row r of x is x[r·stride : r·stride+d]. Weights
// must be finite. It panics if an index leads out of a slice.
func MoveRows(sums, x []float64, d, stride int, moves []Move, w []float64, cut *Cut) {
	if p := Places(d); len(cut.Origin) != d || len(cut.Coarse) != p || len(cut.Fine) != p {
		panic("kernels: MoveRows with slices that do not fit")
	}
	groups := len(sums) / (2 * Places(d))
	for _, m := range moves { // the assembly does not check
		_, _ = w[m.Row], x[int(m.Row)*stride:int(m.Row)*stride+d]
		if uint(m.From) >= uint(groups) || uint(m.To) >= uint(groups) {
			panic("kernels: MoveRows with a group that is not there")
		}
	}
	if d > 0 && len(moves) > 0 {
		moveRows(sums, x, d, stride, moves, w, cut)
	}
}

func moveRowsPortable(sums, x []float64, d, stride int, moves []Move, w []float64, cut *Cut) {
	p := Places(d)
	for _, m := range moves {
		row, weight := x[int(m.Row)*stride:][:d], w[m.Row]
		from, to := sums[2*p*int(m.From):][:2*p], sums[2*p*int(m.To):][:2*p]
		move := func(place int, v float64) {
			coarse := (v + cut.Coarse[place]) - cut.Coarse[place]
			fine := ((v - coarse) + cut.Fine[place]) - cut.Fine[place]
			to[place] += coarse
			from[place] -= coarse
			to[p+place] += fine
			from[p+place] -= fine
		}
		for j, v := range row {
			move(j, float64(weight*(v-cut.Origin[j])))
		}
		move(p-4, float64(weight*SqDist(row, cut.Origin)))
		move(p-3, weight)
	}
}
