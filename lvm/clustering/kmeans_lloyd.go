package clustering

import (
	"math"
	"slices"

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
	op     string
	data   weighted
	blocks num.Blocks
	labels []int32
	cells  cells
	bounds *bounds // nil: search all centres
	shake  float64 // how far rounding moves √J
	noise  float64 // and so the J of the last step

	// Scratch of each worker: rows to sum up, a distance to every centre, and a
	// searcher if there are bounds.
	lists     [][]int32
	d2        [][]float64
	searchers []*searcher
}

// cells sum up the rows of each cluster in each block: cluster z of block b is
// cell b·k + z. Moments about the mean of a cell keep their digits far from the
// origin, and a cell whose rows have not changed stays as it is.
type cells struct {
	d       int
	weight  []float64 // Σ w
	mean    []float64 // Σ w x / Σ w, cells×d
	scatter []float64 // Σ w ‖x − mean‖²
	first   []int32   // a row of the cell
	stale   []bool    // whether the rows have changed
}

// newLloyd returns the start of iterations that search every centre at every
// step.
func newLloyd(op string, data weighted, centers *mat.Dense) *lloyd {
	k, d := centers.Dims()
	work := &lloydWork{op: op, data: data, blocks: num.BlocksOf(data.N), labels: make([]int32, data.N)}
	n := work.blocks.Count() * k
	work.cells = cells{
		d: d, weight: make([]float64, n), mean: make([]float64, n*d), scatter: make([]float64, n),
		first: make([]int32, n), stale: make([]bool, n),
	}
	for i := range work.cells.stale {
		work.cells.stale[i] = true
	}
	work.shake = data.shake()
	work.lists = make([][]int32, work.blocks.Workers())
	for range work.blocks.Workers() {
		work.d2 = append(work.d2, make([]float64, k))
	}
	return &lloyd{centers, work}
}

// withBounds makes the steps that follow, each from the centres of the last,
// skip what cannot have changed. The centres that they visit are the same.
func (l *lloyd) withBounds(s *screen) *lloyd {
	l.bounds = newBounds(l.labels, s, l.centers)
	for range l.blocks.Workers() {
		l.searchers = append(l.searchers, l.bounds.newSearcher())
	}
	return l
}

// step returns the centres after one iteration, and −J of the receiver.
func (l *lloyd) step() (*lloyd, float64, error) {
	centers := num.RowsOf(l.centers)
	if l.bounds != nil {
		l.bounds.move(l.centers)
	}
	l.blocks.Each(func(worker, b, lo, hi int) {
		cells := l.cells.of(b, centers.N)
		if l.bounds != nil {
			l.searchers[worker].search(l.data.Rows, lo, hi, cells.stale)
		} else {
			for i := lo; i < hi; i++ {
				z, _ := nearest(l.data.Row(i), centers, l.d2[worker])
				l.labels[i] = int32(z)
			}
		}
		l.lists[worker] = cells.fill(l.data, l.labels, lo, hi, l.lists[worker])
	})
	inertia := l.inertia(centers)
	if math.IsInf(inertia, 0) {
		return nil, 0, &lvm.DataError{Op: l.op, Row: -1, Col: -1, Problem: "the weighted squared distances overflow", Try: "smaller weights"}
	}
	l.noise = l.shake * (2*math.Sqrt(inertia) + l.shake)
	return &lloyd{l.means(), l.lloydWork}, -inertia, nil
}

// shake returns how far rounding may move √J. A centre and the means that J is
// computed from are each off by a few 2⁻⁵³ of the size of the rows, and √J is the
// length of a vector that is off by √W times that.
func (d weighted) shake() float64 {
	var size, total float64
	for _, o := range d.origin {
		size = math.Hypot(size, math.Abs(o)+d.spread)
	}
	for _, w := range d.w {
		total += w
	}
	return 4 * 0x1p-53 * size * math.Sqrt(total)
}

// of returns the cells of block b.
func (c cells) of(b, k int) cells {
	lo, hi := b*k, (b+1)*k
	return cells{c.d, c.weight[lo:hi], c.mean[lo*c.d : hi*c.d], c.scatter[lo:hi], c.first[lo:hi], c.stale[lo:hi]}
}

// fill forms the stale cells of the block of rows lo ≤ i < hi again. The moments
// are taken about the first row of each cell at first. It returns list, which is
// scratch.
func (c cells) fill(data weighted, labels []int32, lo, hi int, list []int32) []int32 {
	if !slices.Contains(c.stale, true) {
		return list
	}
	for z, stale := range c.stale {
		if stale {
			c.weight[z], c.scatter[z] = 0, 0
			clear(c.mean[z*c.d : (z+1)*c.d])
		}
	}
	list = list[:0]
	for i := lo; i < hi; i++ {
		z, w := labels[i], data.w[i]
		if !c.stale[z] || w == 0 {
			continue
		}
		if c.weight[z] == 0 {
			c.first[z] = int32(i)
		}
		c.weight[z] += w
		list = append(list, int32(i))
	}
	data.AddMoments(c.mean, c.scatter, list, labels, c.first, data.w)
	for z, w := range c.weight {
		if c.stale[z] && w > 0 {
			var shift float64
			origin := data.Row(int(c.first[z]))
			for j, s := range c.mean[z*c.d : (z+1)*c.d] {
				t := s / w
				shift += t * t
				c.mean[z*c.d+j] = origin[j] + t
			}
			c.scatter[z] = max(0, c.scatter[z]-w*shift)
		}
		c.stale[z] = false
	}
	return list
}

// inertia returns J of the centres, by Σ w ‖x − μ‖² = scatter + W ‖mean − μ‖²
// in every cell.
func (l *lloyd) inertia(centers num.Rows) float64 {
	var sum float64
	c := l.cells
	for i, w := range c.weight {
		if w > 0 {
			sum += c.scatter[i] + w*num.SqDist(c.mean[i*c.d:(i+1)*c.d], centers.Row(i%centers.N))
		}
	}
	return sum
}

// means returns the mean of every cluster, put together from its cells.
func (l *lloyd) means() *mat.Dense {
	k, d := l.centers.Dims()
	next := mat.NewDense(k, d, nil)
	var empty []int
	for z := range k {
		var weight float64
		var origin []float64
		sum := next.RawRowView(z)
		for i := z; i < len(l.cells.weight); i += k {
			w, mean := l.cells.weight[i], l.cells.mean[i*d:(i+1)*d]
			if w == 0 {
				continue
			}
			if origin == nil {
				origin = mean
			}
			weight += w
			for j, v := range mean {
				sum[j] += w * (v - origin[j])
			}
		}
		if weight == 0 {
			empty = append(empty, z)
			copy(sum, l.centers.RawRowView(z))
			continue
		}
		for j, s := range sum {
			sum[j] = origin[j] + s/weight
		}
	}
	if len(empty) > 0 {
		l.reseed(next, empty)
	}
	return next
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
