package clustering

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// lloyd is a set of centres on its way through Lloyd's iterations.
type lloyd struct {
	centers *mat.Dense
	*lloydWork
}

// lloydWork is what the iterations of one restart share.
type lloydWork struct {
	op      string
	data    weighted
	blocks  num.Blocks
	labels  []int32 // k, the cluster of no centre, at first
	tally   tally   // of the labels
	rough   bool    // whether it may have lost digits that matter
	workers []lloydWorker
	bounds  *bounds // nil: search all centres
	shake   float64 // how far rounding moves √J
	noise   float64 // and so the J of the last step
}

// lloydWorker is what one goroutine needs to label a block.
type lloydWorker struct {
	moves    []num.Move
	tally    tally // what the moves of this step change
	d2       []float64
	searcher *searcher // nil: search all centres
}

// newLloyd returns the start of iterations that search every centre at every
// step.
func newLloyd(op string, data weighted, centers *mat.Dense) *lloyd {
	k, _ := centers.Dims()
	work := &lloydWork{op: op, data: data, blocks: num.BlocksOf(data.N), labels: make([]int32, data.N), shake: data.shake()}
	for i := range work.labels {
		work.labels[i] = int32(k)
	}
	cut := data.cut()
	work.tally, work.rough = newTally(data, cut, k+1), isRough(data, cut)
	for range work.blocks.Workers() {
		work.workers = append(work.workers, lloydWorker{tally: newTally(data, cut, k+1), d2: make([]float64, k)})
	}
	return &lloyd{centers, work}
}

// withBounds makes the steps that follow, each from the centres of the last,
// skip what cannot have changed. The centres that they visit are the same.
func (l *lloyd) withBounds(s *screen) *lloyd {
	l.bounds = newBounds(l.labels, s, l.centers)
	for w := range l.workers {
		l.workers[w].searcher = l.bounds.newSearcher()
	}
	return l
}

// step returns the centres after one iteration, and −J of the receiver.
func (l *lloyd) step() (*lloyd, float64, error) {
	l.assign()
	next, empty, inertia := l.moments()
	if math.IsInf(inertia, 0) {
		return nil, 0, &lvm.DataError{Op: l.op, Row: -1, Col: -1, Problem: "the weighted squared distances overflow", Try: "smaller weights"}
	}
	l.noise = l.shake * (2*math.Sqrt(inertia) + l.shake)
	if len(empty) > 0 {
		l.reseed(next, empty)
	}
	return &lloyd{next, l.lloydWork}, -inertia, nil
}

// assign brings the labels and their tally up to date.
func (l *lloyd) assign() {
	centers := num.RowsOf(l.centers)
	if l.bounds != nil {
		l.bounds.move(l.centers)
	}
	l.blocks.Each(func(worker, _, lo, hi int) {
		w := &l.workers[worker]
		w.moves = w.moves[:0]
		if w.searcher != nil {
			w.moves = w.searcher.search(l.data.Rows, lo, hi, w.moves)
		} else {
			for i := lo; i < hi; i++ {
				z, _ := nearest(l.data.Row(i), centers, w.d2)
				w.moves = relabel(l.labels, int32(i), int32(z), w.moves)
			}
		}
		w.tally.move(l.data, w.moves)
	})
	for _, w := range l.workers {
		l.tally.drain(w.tally)
	}
}

// relabel gives row i the label z, and appends the move if there is one.
func relabel(labels []int32, i, z int32, moves []num.Move) []num.Move {
	if own := labels[i]; own != z {
		labels[i] = z
		moves = append(moves, num.Move{Row: i, From: own, To: z})
	}
	return moves
}

// shake returns how far rounding may move √J. A centre and the means that J is
// computed from are each off by a few 2⁻⁵³ of the size of the rows, and √J is the
// length of a vector that is off by √W times that.
func (d weighted) shake() float64 {
	var size float64
	for _, o := range d.origin {
		size = math.Hypot(size, math.Abs(o)+d.spread)
	}
	return 4 * 0x1p-53 * size * math.Sqrt(d.total)
}

// reseed moves the empty centres, one by one, to the row of positive weight
// that is farthest from its own centre and the rows already taken.
func (l *lloyd) reseed(next *mat.Dense, empty []int) {
	gap := make([]float64, l.data.N)
	far := l.farthest(func(i int) float64 {
		gap[i] = 0
		if l.data.w[i] > 0 {
			gap[i] = num.SqDist(l.data.Row(i), l.centers.RawRowView(int(l.labels[i])))
		}
		return gap[i]
	})
	for _, z := range empty {
		if gap[far] == 0 {
			return // every row is on a centre
		}
		row := l.data.Row(far)
		copy(next.RawRowView(z), row)
		far = l.farthest(func(i int) float64 {
			if gap[i] > 0 {
				gap[i] = min(gap[i], num.SqDist(l.data.Row(i), row))
			}
			return gap[i]
		})
	}
}

// farthest returns the first row at which f is largest.
func (l *lloyd) farthest(f func(i int) float64) int {
	type peak struct {
		row    int
		height float64
	}
	peaks := make([]peak, l.blocks.Count())
	l.blocks.Each(func(_, b, lo, hi int) {
		top := peak{lo, math.Inf(-1)}
		for i := lo; i < hi; i++ {
			if h := f(i); h > top.height {
				top = peak{i, h}
			}
		}
		peaks[b] = top
	})
	best := peaks[0]
	for _, p := range peaks {
		if p.height > best.height {
			best = p
		}
	}
	return best.row
}
