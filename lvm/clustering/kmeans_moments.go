package clustering

import (
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// moments returns the mean of every cluster, or the old centre of an empty one, and J
// of the receiver, by
//
//	Σ w ‖x − μ‖² = Σ w ‖x − o‖² − W ‖mean − o‖² + W ‖mean − μ‖²
//
// in every cluster. If too many digits cancel, or the tally has not kept enough of
// them, it goes through the rows instead.
func (l *lloyd) moments() (means *mat.Dense, empty []int, inertia float64) {
	if l.rough {
		return l.momentsByRow()
	}
	means = mat.DenseCopyOf(l.centers)
	k, d := means.Dims()
	lost, lostWeight := l.tally.lost(d)
	sum := make([]float64, d)
	var squares, off float64
	for z := range k {
		rows := float64(l.tally.rows[z])
		if rows == 0 {
			empty = append(empty, z)
			continue
		}
		weight, square := l.tally.of(z, sum)
		if rows*lostWeight > weight*0x1p-40 {
			return l.momentsByRow()
		}
		mean, scatter := means.RawRowView(z), square
		for j, s := range sum {
			mean[j] = l.data.origin[j] + s/weight
			scatter -= s / weight * s
		}
		squares += square
		off += rows * rows / weight * lost
		inertia += scatter + weight*num.SqDist(mean, l.centers.RawRowView(z))
	}
	// off is by how much J may be larger because the means are off.
	if inertia > squares*0x1p-14 && inertia*0x1p-60 > off {
		return means, empty, inertia
	}
	return l.momentsByRow()
}

// momentsByRow is moments for data that spans too many orders of magnitude for sums
// about one origin. It sums up the rows of each cluster in each block about the first
// of them.
func (l *lloyd) momentsByRow() (means *mat.Dense, empty []int, inertia float64) {
	means = mat.DenseCopyOf(l.centers)
	k, d := means.Dims()
	parts := make([]rowMoments, l.blocks.Count())
	l.blocks.Each(func(_, b, lo, hi int) {
		m := rowMoments{weight: make([]float64, k), mean: mat.NewDense(k, d, nil), first: make([]int, k)}
		for i := lo; i < hi; i++ {
			row, w, z := l.data.Row(i), l.data.w[i], int(l.labels[i])
			if w == 0 {
				continue
			}
			if m.weight[z] == 0 {
				m.first[z] = i
			}
			m.weight[z] += w
			sum, first := m.mean.RawRowView(z), l.data.Row(m.first[z])
			for j, v := range row {
				sum[j] += float64(w * (v - first[j]))
			}
			m.inertia += float64(w * num.SqDist(row, l.centers.RawRowView(z)))
		}
		for z, w := range m.weight {
			if w > 0 {
				mean := m.mean.RawRowView(z)
				for j, v := range l.data.Row(m.first[z]) {
					mean[j] = v + mean[j]/w
				}
			}
		}
		parts[b] = m
	})
	for _, m := range parts {
		inertia += m.inertia
	}
	for z := range k {
		if !join(means.RawRowView(z), parts, z) {
			empty = append(empty, z)
		}
	}
	return means, empty, inertia
}

// rowMoments sum up the clusters of a block.
type rowMoments struct {
	weight  []float64
	mean    *mat.Dense
	first   []int // a row of each cluster
	inertia float64
}

// join sets mean to the mean of cluster z, about that of its first part, or returns
// false if there are no rows.
func join(mean []float64, parts []rowMoments, z int) bool {
	var weight float64
	var origin []float64
	for _, m := range parts {
		w, part := m.weight[z], m.mean.RawRowView(z)
		if w == 0 {
			continue
		}
		if origin == nil {
			origin = part
			clear(mean)
		}
		weight += w
		for j, v := range part {
			mean[j] += float64(w * (v - origin[j]))
		}
	}
	if origin == nil {
		return false
	}
	for j, s := range mean {
		mean[j] = origin[j] + s/weight
	}
	return true
}
