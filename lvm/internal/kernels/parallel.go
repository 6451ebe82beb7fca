package kernels

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f(0), …, f(tasks-1), each once, on as many processors as there
// are. A task must not depend on who runs it or when: it writes what no other
// task touches.
func parallel(tasks int, f func(task int)) {
	workers := min(runtime.GOMAXPROCS(0), tasks)
	if workers <= 1 {
		for t := range tasks {
			f(t)
		}
		return
	}
	var next atomic.Int64
	work := func() {
		for t := int(next.Add(1)) - 1; t < tasks; t = int(next.Add(1)) - 1 {
			f(t)
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// Buffers for packed blocks are taken from here and put back.
var pool64, pool32 sync.Pool

// borrow returns a buffer of at least n elements with unknown contents.
func borrow[T Float](n int) *[]T {
	if p, ok := pool[T]().Get().(*[]T); ok {
		if cap(*p) >= n {
			*p = (*p)[:n]
			return p
		}
	}
	s := make([]T, n)
	return &s
}

func giveBack[T Float](p *[]T) { pool[T]().Put(p) }

func pool[T Float]() *sync.Pool {
	if any(T(0)) == any(float64(0)) {
		return &pool64
	}
	return &pool32
}
