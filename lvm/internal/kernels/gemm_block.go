package kernels

import (
	"runtime"
	"unsafe"
)

// A kernel is what a path has in assembly for one type.
type kernel[T Float] struct {
	rows, cols int // of C: a tile, which the registers hold, is rows×cols
	lanes      int // columns that packColumns takes at a time

	// product updates a strip of C, which is at most cols columns wide:
	//
	//	C[i,j] ← (C[i,j] if add) + α Σ_l A[i,l]·B[l,j]    i < m, j < n, 0 ≤ l < k
	//
	// A[i,l] is at i·ars + l·acs in its tile, and a tile starts aps after the one
	// above it. Rows of B are brs apart, rows of C crs.
	product func(m, n, k int, alpha T, a *T, ars, acs, aps int, b *T, brs int, c *T, crs int, add bool)

	// packRows sets dst[l·drs+j] = weights[l·ws]·(src[l·srs+j] - mean[j]) for l < rows,
	// j < n; a nil mean is zero.
	packRows func(rows, n int, src *T, srs int, mean, weights *T, ws int, dst *T, drs int)

	// packColumns sets dst[l·drs+j] = src[l+j·scs] for l < rows, j < n, n a multiple of lanes.
	packColumns func(rows, n int, src *T, scs int, dst *T, drs int)

	// addRow sets c[j] = α·s[j], or c[j] + α·s[j] if add, for j < n.
	addRow func(n int, alpha T, s, c *T, add bool)

	// substitute solves a lower triangle of m rows for n right-hand sides, row by row:
	//
	//	B[i,j] ← (B[i,j] - Σ_l A[i,l]·B[l,j]) / A[i,i]    l = 0, 1, …, i-1
	//
	// without the division if unit. Strides may be negative: see solveLeaf.
	substitute func(m, n int, a *T, ars, acs int, b *T, brs int, unit bool)
}

// kernelOf returns the kernel of the active path.
func kernelOf[T Float]() *kernel[T] {
	if k, ok := any(kernels64[active]).(*kernel[T]); ok {
		return k
	}
	return any(kernels32[active]).(*kernel[T])
}

// A product is C ← αAB, or C + αAB if add, on one part of C.
//
// It goes slab by slab: a slab of B is copied into strips as wide as the kernel and
// a block of inner indices high, which the kernel reads from end to end; then each
// task adds that slab's share to a rectangle of C. Both phases use all processors.
// Who does what when changes no bit, because no sum is ever split.
type product[T Float] struct {
	*kernel[T]
	alpha         T
	a, b, c       Matrix[T]
	add           bool
	part          Part
	serial        bool
	mean, weights []T // if not nil, A is (A-mean), and B is weights·(B-mean): see Gram
}

const (
	slabElements = 1 << 20         // of B that are copied at a time, unless one block is more
	slabCols     = 4096            // the widest slab
	taskBytes    = 120 * block * 8 // of A per task and block: half of a second-level cache
	worthSharing = 1 << 17         // multiply-adds that pay for waking a processor
	smallResult  = 1 << 14         // elements of C below which long sums are shared out instead
)

func (p *product[T]) run() {
	m, n, k := p.a.Rows, p.b.Cols, p.a.Cols
	p.serial = p.serial || runtime.GOMAXPROCS(0) == 1 || m*n*k < worthSharing
	if !p.serial && m*n <= smallResult && k >= 8*block {
		p.runLong()
		return
	}
	for j := 0; j < n; j += slabCols {
		width := min(slabCols, n-j)
		depth := max(1, slabElements/width/block) * block
		if m*n <= smallResult {
			depth = block // C stays near the processor, and so does the copy of B
		}
		for l := 0; l < k; l += depth {
			s := slab[T]{product: p, j0: j, j1: j + width, l0: l, l1: min(l+depth, k)}
			s.run()
		}
	}
}

// runLong is for long sums into a small C: a task sums some blocks of inner indices
// on its own, then waits until its turn to add them to C.
func (p *product[T]) runLong() {
	m, n, k := p.c.Rows, p.c.Cols, p.a.Cols
	blocks := ceilDiv(k, block)
	perTask := min(ceilDiv(worthSharing, m*n*block), ceilDiv(blocks, runtime.GOMAXPROCS(0)))
	tasks := ceilDiv(blocks, perTask)
	added := make([]chan struct{}, tasks)
	for t := range added {
		added[t] = make(chan struct{})
	}
	parallel(tasks, func(t int) {
		first, last := t*perTask, min((t+1)*perTask, blocks)
		buffer := borrow[T]((last - first) * m * n)
		defer giveBack(buffer)
		sums := func(b int) Matrix[T] { return Of(m, n, (*buffer)[(b-first)*m*n:], n) }
		for b := first; b < last; b++ {
			l0, l1 := b*block, min((b+1)*block, k)
			q := *p
			q.alpha, q.add, q.serial, q.c = 1, false, true, sums(b)
			q.a, q.b = p.a.Slice(0, m, l0, l1), p.b.Slice(l0, l1, 0, n)
			q.weights = sub(p.weights, l0, l1)
			q.run()
		}
		if t > 0 {
			<-added[t-1]
		}
		for b := first; b < last; b++ {
			p.addScaled(p.alpha, sums(b), p.c, p.add || b > 0, p.part, 0)
		}
		close(added[t])
	})
}

// A slab is the share of inner indices l0 to l1 in columns j0 to j1 of C.
type slab[T Float] struct {
	*product[T]
	j0, j1, l0, l1 int
	strips         []T // the copy of B, if there is one: block after block, strip after strip
}

func (s *slab[T]) run() {
	m, depth, width := s.a.Rows, s.l1-s.l0, ceilDiv(s.j1-s.j0, s.cols)*s.cols
	// A copy pays if B is used often and does not lie in the first-level cache anyway.
	if s.mean != nil || s.weights != nil || s.b.ColStride != 1 || m > 4*s.rows && depth*s.b.RowStride > 1<<14 {
		buffer := borrow[T](width * depth)
		defer giveBack(buffer)
		s.strips = *buffer
		s.each(ceilDiv(depth, block), func(t int) {
			l0 := s.l0 + t*block
			l1 := min(l0+block, s.l1)
			b := s.b.Slice(l0, l1, s.j0, s.j1)
			s.pack(b, s.cols, sub(s.mean, s.j0, s.j1), sub(s.weights, l0, l1), s.strips[(l0-s.l0)*width:])
		})
	}

	height := taskBytes / block / int(unsafe.Sizeof(s.alpha))
	down, across := ceilDiv(m, height), 1
	if !s.serial {
		across = min(width/s.cols, ceilDiv(3*runtime.GOMAXPROCS(0), down))
	}
	step := ceilDiv(width/s.cols, across) * s.cols
	s.each(down*across, func(t int) {
		i, j := t/across*height, s.j0+t%across*step
		if j < s.j1 {
			s.rectangle(i, min(i+height, m), j, min(j+step, s.j1))
		}
	})
}

func (s *slab[T]) each(tasks int, f func(task int)) {
	if s.serial {
		for t := range tasks {
			f(t)
		}
		return
	}
	parallel(tasks, f)
}

// rectangle adds the slab's share to rows i0 to i1 and columns j0 to j1 of C.
func (s *slab[T]) rectangle(i0, i1, j0, j1 int) {
	r := rectangle[T]{slab: s, i0: i0, i1: i1}
	// Rows of A that lie in pieces are worth a copy if they are used often.
	if s.mean != nil || s.a.ColStride != 1 && j1-j0 >= 12*s.cols {
		buffer := borrow[T](ceilDiv(i1-i0, s.rows) * s.rows * block)
		defer giveBack(buffer)
		r.tiles = *buffer
	}
	if s.part != All {
		buffer := borrow[T]((s.cols + 2*s.rows) * s.cols)
		defer giveBack(buffer)
		r.corner = *buffer
	}
	for l := s.l0; l < s.l1; l += block {
		r.l0, r.l1 = l, min(l+block, s.l1)
		if r.tiles != nil {
			s.pack(s.a.Slice(i0, i1, r.l0, r.l1).T(), s.rows, sub(s.mean, i0, i1), nil, r.tiles)
		}
		for j := j0; j < j1; j += s.cols {
			r.strip(j, min(j+s.cols, j1))
		}
	}
}

// A rectangle is a slab's share of rows i0 to i1, one block at a time.
type rectangle[T Float] struct {
	*slab[T]
	i0, i1, l0, l1 int
	tiles          []T // the copy of A, if there is one
	corner         []T // for sums that are only partly in the part
}

// strip updates columns j0 to j1, one strip.
func (r *rectangle[T]) strip(j0, j1 int) {
	switch r.part {
	case All:
		r.update(r.i0, r.i1, j0, j1)
	case Upper:
		cross := min(r.tileTop(j0+1), r.i1)
		r.update(r.i0, cross, j0, j1)
		r.updatePart(cross, min(j1, r.i1), j0, j1)
	case Lower:
		cross, below := min(r.tileTop(j0), r.i1), min(r.tileTop(j1+r.rows-1), r.i1)
		r.updatePart(cross, below, j0, j1)
		r.update(below, r.i1, j0, j1)
	}
}

// tileTop returns the first row of the tile that row i is in; i0 if i is above.
func (r *rectangle[T]) tileTop(i int) int { return r.i0 + max(0, i-r.i0)/r.rows*r.rows }

func (r *rectangle[T]) update(i0, i1, j0, j1 int) {
	if i0 < i1 {
		r.sum(i0, i1, j0, j1, r.alpha, r.c.at(i0, j0), r.c.RowStride, r.add || r.l0 > 0)
	}
}

func (r *rectangle[T]) updatePart(i0, i1, j0, j1 int) {
	if i0 < i1 {
		r.sum(i0, i1, j0, j1, 1, &r.corner[0], r.cols, false)
		r.addScaled(r.alpha, Of(i1-i0, j1-j0, r.corner, r.cols), r.c.Slice(i0, i1, j0, j1), r.add || r.l0 > 0, r.part, i0-j0)
	}
}

// sum runs the kernel on rows i0, where a tile starts, to i1 and columns j0 to j1.
func (r *rectangle[T]) sum(i0, i1, j0, j1 int, alpha T, c *T, crs int, add bool) {
	var a, b *T
	depth := r.l1 - r.l0
	ars, acs, aps, brs := r.a.RowStride, r.a.ColStride, r.rows*r.a.RowStride, r.b.RowStride
	if r.tiles == nil {
		a = r.a.at(i0, r.l0)
	} else {
		a, ars, acs, aps = &r.tiles[(i0-r.i0)*depth], 1, r.rows, r.rows*depth
	}
	if r.strips == nil {
		b = r.b.at(r.l0, j0)
	} else {
		width := ceilDiv(r.slab.j1-r.slab.j0, r.cols) * r.cols
		b, brs = &r.strips[(r.l0-r.slab.l0)*width+(j0-r.slab.j0)*depth], r.cols
	}
	r.product.product(i1-i0, j1-j0, depth, alpha, a, ars, acs, aps, b, brs, c, crs, add)
}

// sub returns s[i:j], or nil for nil.
func sub[T Float](s []T, i, j int) []T {
	if s == nil {
		return nil
	}
	return s[i:j]
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
