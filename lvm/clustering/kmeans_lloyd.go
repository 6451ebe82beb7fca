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
	bounds *bounds     // nil: search all centres
	cells  []cell      // of block b and cluster c at b·k+c
	stale  []bool      // whether the rows of that cell have changed
	d2     [][]float64 // scratch of each worker: a distance to every centre
	origin [][]int     // and the first row of every cell
}

// cell sums up the rows of one cluster in one block. Moments about the cell's
// own mean keep their digits far from the origin.
type cell struct {
	weight  float64   // Σ w
	mean    []float64 // Σ w x / Σ w
	scatter float64   // Σ w ‖x − mean‖²
}

// newLloyd returns the start of iterations that search every centre at every
// step.
func newLloyd(op string, data weighted, centers *mat.Dense) *lloyd {
	k, d := centers.Dims()
	work := &lloydWork{op: op, data: data, blocks: num.BlocksOf(data.N), labels: make([]int32, data.N)}
	work.cells = make([]cell, work.blocks.Count()*k)
	work.stale = make([]bool, len(work.cells))
	means := make([]float64, len(work.cells)*d)
	for i := range work.cells {
		work.cells[i].mean = means[i*d : (i+1)*d]
		work.stale[i] = true
	}
	for range work.blocks.Workers() {
		work.d2 = append(work.d2, make([]float64, k))
		work.origin = append(work.origin, make([]int, k))
	}
	return &lloyd{centers, work}
}

// withBounds makes the steps that follow, each from the centres of the last,
// skip what cannot have changed. The centres that they visit are the same.
func (l *lloyd) withBounds() *lloyd {
	l.bounds = newBounds(l.labels, l.centers)
	return l
}

// step returns the centres after one iteration, and −J of the receiver.
func (l *lloyd) step() (*lloyd, float64, error) {
	centers := num.RowsOf(l.centers)
	if l.bounds != nil {
		l.bounds.move(l.centers)
	}
	l.blocks.Each(func(worker, b, lo, hi int) {
		stale := l.stale[b*centers.N : (b+1)*centers.N]
		if l.bounds != nil {
			l.bounds.search(l.data.Rows, lo, hi, stale, l.d2[worker])
		} else {
			for i := lo; i < hi; i++ {
				z, _ := nearest(l.data.Row(i), centers, l.d2[worker])
				l.labels[i] = int32(z)
			}
		}
		l.fill(b, lo, hi, l.origin[worker])
	})
	inertia := l.inertia(centers)
	if math.IsInf(inertia, 0) {
		return nil, 0, &lvm.DataError{Op: l.op, Row: -1, Col: -1, Problem: "the weighted squared distances overflow", Try: "smaller weights"}
	}
	return &lloyd{l.means(), l.lloydWork}, -inertia, nil
}

// fill computes the stale cells of a block from its labels. The moments are
// taken about the first row of each cell.
func (l *lloyd) fill(b, lo, hi int, origin []int) {
	k := len(origin)
	cells, stale := l.cells[b*k:(b+1)*k], l.stale[b*k:(b+1)*k]
	if !slices.Contains(stale, true) {
		return
	}
	for c := range cells {
		if stale[c] {
			cells[c].weight, cells[c].scatter = 0, 0
			clear(cells[c].mean)
		}
	}
	for i := lo; i < hi; i++ {
		z, w := l.labels[i], l.data.w[i]
		if !stale[z] || w == 0 {
			continue
		}
		if cells[z].weight == 0 {
			origin[z] = i
		}
		cells[z].add(w, l.data.Row(i), l.data.Row(origin[z]))
	}
	for c := range cells {
		if stale[c] && cells[c].weight > 0 {
			cells[c].finish(l.data.Row(origin[c]))
		}
		stale[c] = false
	}
}

// add counts a row in, with its moments about origin.
func (c *cell) add(w float64, x, origin []float64) {
	c.weight += w
	origin, sum := origin[:len(x)], c.mean[:len(x)]
	var squares float64
	for j, v := range x {
		t := v - origin[j]
		squares += t * t
		sum[j] += w * t
	}
	c.scatter += w * squares
}

// finish turns moments about origin into the mean and the scatter about it.
func (c *cell) finish(origin []float64) {
	var shift float64
	for j, s := range c.mean {
		t := s / c.weight
		shift += t * t
		c.mean[j] = origin[j] + t
	}
	c.scatter = max(0, c.scatter-c.weight*shift)
}

// inertia returns J of the centres, by Σ w ‖x − μ‖² = scatter + W ‖mean − μ‖²
// in every cell.
func (l *lloyd) inertia(centers num.Rows) float64 {
	var sum float64
	for i, c := range l.cells {
		if c.weight > 0 {
			sum += c.scatter + c.weight*num.SqDist(c.mean, centers.Row(i%centers.N))
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
		mean := next.RawRowView(z)
		for i := z; i < len(l.cells); i += k {
			c := &l.cells[i]
			if c.weight == 0 {
				continue
			}
			if origin == nil {
				origin = c.mean
			}
			weight += c.weight
			for j, v := range c.mean {
				mean[j] += c.weight * (v - origin[j])
			}
		}
		if weight == 0 {
			empty = append(empty, z)
			copy(mean, l.centers.RawRowView(z))
			continue
		}
		for j := range mean {
			mean[j] = origin[j] + mean[j]/weight
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
