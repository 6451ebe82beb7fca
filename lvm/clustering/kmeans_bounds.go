package clustering

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// bounds finds the nearest centre of every row again and again while the
// centres move, and skips the rows that the triangle inequality rules out: a
// centre that has moved by p is nearer or farther by p at most.
//
// When a row is looked at, its own centre z is nearer than any other one by some
// gap. Later z may have gone way_z farther and another centre may have come
// most_z nearer. Until way_z + most_z has grown by the gap, z stays the nearest.
// So a row whose gap holds is not touched.
//
// The labels are those of a full search, ties included: what is skipped is
// farther by more than every rounding in the gap.
//
// Source: Hamerly (2010), Making k-means even faster. Its two bounds for a row
// are only ever compared, so that one number can stand for both.
type bounds struct {
	labels  []int32
	screen  *screen
	centers *mat.Dense
	panels  []*num.Panels

	// Lengths in the unit of the screen, and the same for the cluster of no
	// centre, whose drift is infinite.
	way   []float64 // how far each centre has gone
	most  []float64 // and the others: the sum of their largest steps
	drift []float32 // the sum of both
	gap   []float32 // of each row, plus the drift when it was measured
}

// margin covers the rounding of a gap and of a drift to single precision, and of
// the sums of a million steps in a million columns before.
const margin = 0x1p-20

func newBounds(labels []int32, s *screen, centers *mat.Dense) *bounds {
	k, _ := centers.Dims()
	b := &bounds{labels: labels, screen: s, centers: centers, gap: make([]float32, len(labels))}
	b.way, b.most, b.drift = make([]float64, k+1), make([]float64, k+1), make([]float32, k+1)
	b.drift[k] = float32(math.Inf(1))
	return b
}

// move takes the centres to their new places.
func (b *bounds) move(centers *mat.Dense) {
	k, _ := centers.Dims()
	steps := make([]float64, k)
	var first, second float64 // the largest
	for z := range k {
		p := math.Sqrt(num.SqDist(b.centers.RawRowView(z), centers.RawRowView(z))) / b.screen.unit
		steps[z] = p
		if p > first {
			first, second = p, first
		} else if p > second {
			second = p
		}
	}
	for z, p := range steps {
		b.way[z] += p
		if p == first {
			b.most[z] += second
		} else {
			b.most[z] += first
		}
		b.drift[z] = float32((b.way[z] + b.most[z]) * (1 + margin))
	}
	b.centers = centers
	b.panels = b.screen.panels(num.RowsOf(centers))
}

// searcher is what one worker needs to search a block.
type searcher struct {
	*bounds
	list  []int32   // the rows whose gap does not hold
	index []int32   // the centres nearest to them
	gaps  []float32 // and how much nearer those are
	d2    []float64
}

func (b *bounds) newSearcher() *searcher {
	k, _ := b.centers.Dims()
	return &searcher{bounds: b, d2: make([]float64, k)}
}

// search brings the labels of the rows lo ≤ i < hi up to date and appends the rows
// that have moved. A row that one screen leaves in doubt goes to the next, and from
// the last to a search in double precision.
func (s *searcher) search(rows num.Rows, lo, hi int, moves []num.Move) []num.Move {
	if len(s.list) < hi-lo {
		s.list, s.index, s.gaps = make([]int32, hi-lo), make([]int32, hi-lo), make([]float32, hi-lo)
	}
	list := s.list[:s.choose(lo, hi)]
	for _, p := range s.panels {
		index, gaps := s.index[:len(list)], s.gaps[:len(list)]
		p.Screen(index, gaps, s.screen.x, s.screen.norms, list)
		doubts := 0
		for n, i := range list {
			if gap := gaps[n]; gap > 0 {
				moves = s.settle(i, index[n], gap, moves)
			} else {
				list[doubts] = i
				doubts++
			}
		}
		list = list[:doubts]
	}
	for _, i := range list {
		z, gap := s.searchAll(rows.Row(int(i)))
		moves = s.settle(i, int32(z), float32(gap), moves)
	}
	return moves
}

// settle gives row i the label z and its gap.
func (b *bounds) settle(i, z int32, gap float32, moves []num.Move) []num.Move {
	b.gap[i] = (gap + b.drift[z]*(1-4*margin)) * (1 - margin)
	return relabel(b.labels, i, z, moves)
}

// choose lists the rows whose gaps do not hold, and returns how many there are.
// Whether one holds cannot be predicted, so it does not branch on it.
func (s *searcher) choose(lo, hi int) int {
	list, labels, gap, drift := s.list[:hi-lo], s.labels[lo:hi], s.gap[lo:hi], s.drift
	n := 0
	for i, z := range labels {
		list[n] = int32(lo + i)
		next := n + 1
		if gap[i] > drift[z] {
			next = n
		}
		n = next
	}
	return n
}

// searchAll returns the nearest centre, the lowest among equals, and its gap, by a
// search in double precision.
func (s *searcher) searchAll(x []float64) (z int, gap float64) {
	num.RowsOf(s.centers).SqDists(s.d2, x, 0)
	z, least, second := num.TwoLeast(s.d2)
	return z, (math.Sqrt(second)*(1-margin) - math.Sqrt(least)*(1+margin)) / s.screen.unit
}
