package num

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	maxBlocks = 64  // enough to balance many cores, few enough to keep a result of each
	minBlock  = 256 // rows; below, starting a goroutine costs more than it saves
)

// Blocks is a fixed partition of n rows. It depends on n alone, so that sums
// formed block by block and added in block order have the same bits however
// many cores worked on them.
type Blocks struct{ n, size, count, workers int }

// BlocksOf returns the partition of n rows.
func BlocksOf(n int) Blocks {
	size := max(minBlock, (n+maxBlocks-1)/maxBlocks)
	count := (n + size - 1) / size
	return Blocks{n: n, size: size, count: count, workers: max(1, min(runtime.GOMAXPROCS(0), count))}
}

// Count returns the number of blocks.
func (b Blocks) Count() int { return b.count }

// Range returns the rows lo ≤ i < hi of a block.
func (b Blocks) Range(block int) (lo, hi int) {
	return block * b.size, min(b.n, (block+1)*b.size)
}

// Each calls f for every block with its index and its rows lo ≤ i < hi, on as
// many goroutines as there are processors. A worker index below Workers is
// handed along for scratch space. Blocks run in any order; f must write only
// to what belongs to its block or its worker.
func (b Blocks) Each(f func(worker, block, lo, hi int)) {
	if b.workers == 1 {
		for i := range b.count {
			lo, hi := b.Range(i)
			f(0, i, lo, hi)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range b.workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.count {
					return
				}
				lo, hi := b.Range(i)
				f(w, i, lo, hi)
			}
		})
	}
	wg.Wait()
}

// Workers returns the number of goroutines that Each uses, at least 1.
func (b Blocks) Workers() int { return b.workers }
