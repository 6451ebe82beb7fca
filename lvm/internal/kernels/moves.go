package kernels

// A Move takes a row from one group to another.
type Move struct{ Row, From, To int32 }

// Cut says how MoveRows rounds. Each number of a row is cut into a coarse part, a
// multiple of the last place of Coarse, and a fine part of the rest, a multiple of
// the last place of Fine. If these are so large that no sum of parts has more than
// 53 bits, then all sums are exact.
type Cut struct {
	Origin       []float64 // d
	Coarse, Fine []float64 // d+3: for the columns, the squares and the weights; the last is not used
}

// MoveRows keeps the sums of groups of rows when rows move. Group z has the
// 2(d+3) places of sums from z·2(d+3) on: the coarse parts of
//
//	Σ w (x_j − o_j) for j < d,   Σ w ‖x − o‖²,   Σ w
//
// and a place that is not used, and then the fine parts. o is cut.Origin and ‖x − o‖² has the bits of SqDist. Row
// r of x is x[r·stride : r·stride+d]. Weights must be finite. It panics if an index
// leads out of a slice.
func MoveRows(sums, x []float64, d, stride int, moves []Move, w []float64, cut *Cut) {
	if len(cut.Origin) != d || len(cut.Coarse) != d+3 || len(cut.Fine) != d+3 {
		panic("kernels: MoveRows with slices that do not fit")
	}
	size := 2 * (d + 3)
	groups := len(sums) / size
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
	size := 2 * (d + 3)
	for _, m := range moves {
		row, weight := x[int(m.Row)*stride:][:d], w[m.Row]
		from, to := sums[int(m.From)*size:][:size], sums[int(m.To)*size:][:size]
		move := func(j int, v float64) {
			coarse := (v + cut.Coarse[j]) - cut.Coarse[j]
			fine := ((v - coarse) + cut.Fine[j]) - cut.Fine[j]
			to[j] += coarse
			from[j] -= coarse
			to[d+3+j] += fine
			from[d+3+j] -= fine
		}
		for j, v := range row {
			move(j, float64(weight*(v-cut.Origin[j])))
		}
		move(d, float64(weight*SqDist(row, cut.Origin)))
		move(d+1, weight)
	}
}
