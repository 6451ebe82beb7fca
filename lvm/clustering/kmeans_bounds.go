package clustering

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/internal/num"
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
// The labels are those of a full search, ties included: what is skipped is
// farther by more than every rounding in the bounds.
//
// Source: Hamerly (2010), Making k-means even faster, for one group; Ding et al.
// (2015), Yinyang k-means, for several.
type bounds struct {
	labels  []int32
	upper   []float64
	lower   []float64 // n×groups
	width   int       // centres in a group
	groups  int
	screen  *screen
	panels  panels
	centers *mat.Dense
	way     []float64 // how far each centre has gone
	most    []float64 // and the groups: the sum of their largest steps
	moves   int
}

func newBounds(labels []int32, s *screen, centers *mat.Dense) *bounds {
	n := len(labels)
	k, _ := centers.Dims()
	width, groups := groups(k)
	return &bounds{
		labels: labels, width: width, groups: groups, screen: s, centers: centers,
		upper: make([]float64, n), lower: make([]float64, n*groups), // zeros rule nothing out
		way: append(make([]float64, k), math.Inf(1)), most: make([]float64, groups),
	}
}

// slack covers, relative to a bound, the rounding of distances in double
// precision and of the sums of as many moves.
func (b *bounds) slack() float64 { return float64(b.screen.d+16+b.moves) * 0x1p-50 }

// move takes the centres to their new places.
func (b *bounds) move(centers *mat.Dense) {
	k, _ := centers.Dims()
	b.moves++
	step := make([]float64, b.groups)
	for c := range k {
		p := math.Sqrt(num.SqDist(b.centers.RawRowView(c), centers.RawRowView(c))) * (1 + b.slack())
		b.way[c] += p
		step[c/b.width] = max(step[c/b.width], p)
	}
	for g, p := range step {
		b.most[g] += p
	}
	b.centers = centers
	b.panels = b.screen.panels(num.RowsOf(centers))
}

// searcher is what one worker needs to search a block.
type searcher struct {
	*bounds
	grow, shrink float64
	own, others  [][]int32      // rows, by the group of their centre and by other groups
	found        []num.Screened // for the rows of a list
	seen         []seen         // for the rows of the block
	d2           []float64      // to the centres of a group
}

// seen is what the screen has shown of a row: distances in its unit.
type seen struct {
	best          int32
	least, second float32 // in the group of best
	other         float32 // the least in other groups
}

func (b *bounds) newSearcher() *searcher {
	s := &searcher{bounds: b, own: make([][]int32, b.groups), others: make([][]int32, b.groups)}
	s.d2 = make([]float64, b.width)
	return s
}

// search brings the labels of the rows lo ≤ i < hi up to date and appends the rows
// that have moved.
func (s *searcher) search(rows num.Rows, lo, hi int, moves []num.Move) []num.Move {
	s.grow, s.shrink = 1+s.slack(), 1-s.slack()
	if len(s.seen) < hi-lo {
		s.seen, s.found = make([]seen, hi-lo), make([]num.Screened, hi-lo)
	}
	s.list(lo, hi)
	for g, list := range s.own {
		s.lookAtOwn(g, list, lo)
	}
	if s.groups > 1 {
		for g, list := range s.others {
			s.lookAtOther(g, list, lo)
		}
	}
	for _, list := range s.own {
		for _, i := range list {
			moves = s.settle(rows, int(i), s.seen[int(i)-lo], moves)
		}
	}
	return moves
}

// list puts the rows whose bounds do not hold on the list of their own group.
func (s *searcher) list(lo, hi int) {
	for g := range s.groups {
		s.own[g], s.others[g] = s.own[g][:0], s.others[g][:0]
	}
	if s.groups == 1 {
		s.own[0] = s.listSingle(s.own[0], lo, hi)
		return
	}
	for i := lo; i < hi; i++ {
		own := s.labels[i]
		near := s.upper[i] + s.way[own]*s.grow
		for g, l := range s.lower[i*s.groups : (i+1)*s.groups] {
			if !(l*s.shrink-s.most[g] > near) {
				g := min(int(own)/s.width, s.groups-1)
				s.own[g] = append(s.own[g], int32(i))
				break
			}
		}
	}
}

// listSingle is list for a single group. Whether bounds hold cannot be
// predicted, so it does not branch on it.
func (s *searcher) listSingle(list []int32, lo, hi int) []int32 {
	if cap(list) < hi-lo {
		list = make([]int32, hi-lo)
	}
	list = list[:hi-lo]
	labels, upper, lower := s.labels[lo:hi], s.upper[lo:hi], s.lower[lo:hi]
	most, n := s.most[0], 0
	for i, own := range labels {
		list[n] = int32(lo + i)
		next := n + 1
		if lower[i]*s.shrink-most > upper[i]+s.way[own]*s.grow {
			next = n
		}
		n = next
	}
	return list[:n]
}

// lookAtOwn screens rows against the group of their own centre, and lists them
// for the other groups that this does not rule out.
func (s *searcher) lookAtOwn(g int, list []int32, lo int) {
	found := s.found[:len(list)]
	num.Screen(found, s.screen.x, s.screen.d, list, s.panels.panel(g))
	first, inf := int32(g*s.width), float32(math.Inf(1))
	for n, i := range list {
		f := found[n]
		s.seen[int(i)-lo] = seen{first + f.Index, f.Least, f.Second, inf}
		if s.groups == 1 {
			continue
		}
		near := s.panels.above(f.Least) * s.grow
		for h, l := range s.lower[int(i)*s.groups : (int(i)+1)*s.groups] {
			if h != g && !(l*s.shrink-s.most[h] > near) {
				s.others[h] = append(s.others[h], i)
			}
		}
	}
}

// lookAtOther screens rows against another group. The group that does not have
// the nearest centre gets its bound here, the other one in settle.
func (s *searcher) lookAtOther(g int, list []int32, lo int) {
	found := s.found[:len(list)]
	num.Screen(found, s.screen.x, s.screen.d, list, s.panels.panel(g))
	first := int32(g * s.width)
	for n, i := range list {
		f, v := found[n], &s.seen[int(i)-lo]
		lower := s.lower[int(i)*s.groups : (int(i)+1)*s.groups]
		if f.Least < v.least {
			h := int(v.best) / s.width
			lower[h] = s.panels.below(v.least) + s.most[h]
			*v = seen{first + f.Index, f.Least, f.Second, min(v.least, v.other)}
		} else {
			lower[g] = s.panels.below(f.Least) + s.most[g]
			v.other = min(v.other, f.Least)
		}
	}
}

// settle gives a row its label, by a full search in double precision if the
// screen leaves a doubt.
func (s *searcher) settle(rows num.Rows, i int, v seen, moves []num.Move) []num.Move {
	best, near := int(v.best), s.panels.above(v.least)*s.grow
	if s.panels.below(min(v.second, v.other))*s.shrink > near {
		g := best / s.width
		s.lower[i*s.groups+g] = s.panels.below(v.second) + s.most[g]
	} else {
		best, near = s.searchAll(rows.Row(i), s.lower[i*s.groups:(i+1)*s.groups])
	}
	s.upper[i] = near - s.way[best]
	return relabel(s.labels, i, best, moves)
}

// searchAll returns the nearest centre, the lowest among equals, with an upper
// bound of its distance, and sets the lower bounds of the groups.
func (s *searcher) searchAll(x []float64, lower []float64) (best int, near float64) {
	centers := num.RowsOf(s.centers)
	least, second := math.Inf(1), math.Inf(1) // in the group of best
	for g := range lower {
		from := g * s.width
		d2 := s.d2[:min(s.width, centers.N-from)]
		centers.SqDists(d2, x, from)
		c, a, b := num.TwoLeast(d2)
		lower[g] = math.Sqrt(a) + s.most[g]
		if a < least {
			best, least, second = from+c, a, b
		}
	}
	lower[best/s.width] = math.Sqrt(second) + s.most[best/s.width]
	return best, math.Sqrt(least) * s.grow
}
