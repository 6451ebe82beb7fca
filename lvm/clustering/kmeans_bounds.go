package clustering

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Centres are searched in groups: one up to a single group's worth, several
// small ones beyond, where skipping some of them pays.
const (
	singleGroup = 32
	groupSize   = 16
)

// bounds finds the nearest centre of every row again and again while the
// centres move, and skips what the triangle inequality rules out: a centre that
// has moved by p is nearer or farther by p at most.
//
// For every row it keeps an upper bound of the distance to its own centre, and
// for every group of centres a lower bound of the distance to the others. They
// are stored as of the start: the upper bound less the way that its centre had
// gone by then, the lower one plus the way of its group. So a row whose bounds
// hold is not touched when centres move.
//
// The labels are those of a full search, ties included. A group is skipped only
// if its bound is above the other by more than every rounding in them.
//
// Source: Hamerly (2010), Making k-means even faster, for one group; Ding et al.
// (2015), Yinyang k-means, for several.
type bounds struct {
	labels  []int32
	upper   []float64
	lower   []float64 // n×groups
	size    int       // centres in a group
	groups  int
	centers *mat.Dense // where they are
	way     []float64  // how far each centre has gone
	most    []float64  // and the groups: the sum of their largest steps
	moves   int
}

func newBounds(labels []int32, centers *mat.Dense) *bounds {
	n := len(labels)
	k, _ := centers.Dims()
	b := &bounds{labels: labels, size: k, groups: 1, centers: centers}
	if k > singleGroup {
		b.size, b.groups = groupSize, (k+groupSize-1)/groupSize
	}
	b.upper = make([]float64, n) // zero bounds hold for any centres and skip none
	b.lower = make([]float64, n*b.groups)
	b.way = make([]float64, k)
	b.most = make([]float64, b.groups)
	return b
}

// slack covers, relative to a bound, the rounding of distances in d dimensions
// and of the sums of as many moves.
func (b *bounds) slack(d int) float64 { return float64(d+16+b.moves) * 0x1p-50 }

// move takes the centres to their new places.
func (b *bounds) move(centers *mat.Dense) {
	k, d := centers.Dims()
	b.moves++
	for g := range b.groups {
		var most float64
		for c := g * b.size; c < min(k, (g+1)*b.size); c++ {
			step := math.Sqrt(num.SqDist(b.centers.RawRowView(c), centers.RawRowView(c))) * (1 + b.slack(d))
			b.way[c] += step
			most = max(most, step)
		}
		b.most[g] += most
	}
	b.centers = centers
}

// search brings the labels of the rows lo ≤ i < hi up to date and marks the
// clusters that a row has left or joined. d2 is scratch of the size of a group.
func (b *bounds) search(rows num.Rows, lo, hi int, changed []bool, d2 []float64) {
	centers := num.RowsOf(b.centers)
	grow, shrink := 1+b.slack(rows.D), 1-b.slack(rows.D)
	for i := lo; i < hi; i++ {
		own := int(b.labels[i])
		lower := b.lower[i*b.groups : (i+1)*b.groups]
		if b.beyond(lower, b.upper[i]+b.way[own]*grow, shrink) {
			continue
		}

		x := rows.Row(i)
		best, least := own, num.SqDist(x, centers.Row(own))
		dist := math.Sqrt(least) // to own
		near := dist * grow
		for g, l := range lower {
			if l*shrink-b.most[g] > near {
				continue
			}
			from := g * b.size
			run := d2[:min(b.size, centers.N-from)]
			centers.SqDists(run, x, from)
			c, first, second := num.TwoLeast(run)
			c += from
			switch {
			case c == own:
				first = second
			case first < least || first == least && c < best:
				if best != own { // it is one of the others now
					lower[best/b.size] = math.Sqrt(least) + b.most[best/b.size]
				}
				best, least, first = c, first, second
				near = math.Sqrt(least) * grow
			}
			lower[g] = math.Sqrt(first) + b.most[g]
		}
		if best != own {
			g := own / b.size
			lower[g] = min(lower[g], dist+b.most[g])
			b.labels[i] = int32(best)
			changed[own], changed[best] = true, true
		}
		b.upper[i] = near - b.way[best]
	}
}

// beyond says whether every group is farther than near for certain.
func (b *bounds) beyond(lower []float64, near, shrink float64) bool {
	for g, l := range lower {
		if !(l*shrink-b.most[g] > near) {
			return false
		}
	}
	return true
}
