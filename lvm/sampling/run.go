package sampling

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// RunOptions are the settings of [Run] and [RunChains].
type RunOptions struct {
	// BurnIn is the number of steps taken before the first draw is kept.
	// Kernels that adapt do so here and only here. 0 means none.
	BurnIn int

	// Thin keeps every Thin-th state after burn-in. 0 means 1, every state.
	Thin int

	// Context stops the run early; the draws so far are kept. nil means that
	// nothing does.
	Context context.Context

	// Progress, if not nil, is called about a hundred times with the steps
	// taken and the steps to take, over all chains, burn-in included. Calls
	// do not overlap.
	Progress func(done, total int)
}

// Chain holds the draws of one run.
type Chain[S any] struct {
	// States are the states kept, in order. A step whose proposal was
	// rejected repeats its state, and the repetition is kept like any other:
	// leaving it out would change the distribution.
	States []S

	// Infos[i] is what the kernel told about the step that ended in States[i];
	// its Proposal is nil.
	Infos []Info

	// Steps counts the steps after burn-in, also those thinned out. The
	// other fields sum up over them.
	Steps       int
	Acceptance  float64 // mean Info.Acceptance, 0 without steps
	Evaluations int     // calls of the log density or its gradient
	Divergences int     // steps with Info.Divergent
	Invalid     int     // steps with Info.Invalid
}

// Run runs the kernel from start and keeps n draws.
//
// Cost: BurnIn + n·Thin steps, and storage for n states.
//
// The error is that of the step that could not go on, or the cause of the
// context that ended the run. In either case the chain holds the draws so
// far. Run panics if n, BurnIn or Thin is negative.
func Run[S any](rng *rand.Rand, k Kernel[S], start S, n int, opts *RunOptions) (*Chain[S], error) {
	checkRand("Run", rng)
	o := opts.or(n)
	c, err := run(rng, k, start, n, o, newTicker(o, n, 1))
	if err != nil {
		return c, fmt.Errorf("sampling.Run: %w", err)
	}
	return c, nil
}

// RunChains runs one chain from each start, in parallel, each with its own
// kernel from newKernel, which is called in order before any chain begins.
// The generators of the chains are split from rng in order too, so the draws
// have the same bits for every value of GOMAXPROCS.
//
//	newKernel := func() *sampling.NUTS { return &sampling.NUTS{Gradient: f} }
//	chains, err := sampling.RunChains(rng, newKernel, starts, 1000, opts)
//
// The error is that of the first chain in order that has one; all chains
// come back with the draws they have, nil for none of them.
func RunChains[S any, K Kernel[S]](rng *rand.Rand, newKernel func() K, starts []S, n int, opts *RunOptions) ([]*Chain[S], error) {
	checkRand("RunChains", rng)
	o := opts.or(n)
	tick := newTicker(o, n, len(starts))
	rngs, kernels := make([]*rand.Rand, len(starts)), make([]K, len(starts))
	for i := range starts {
		rngs[i], kernels[i] = num.Split(rng), newKernel()
	}

	chains, errs := make([]*Chain[S], len(starts)), make([]error, len(starts))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range starts {
		slots <- struct{}{}
		wg.Go(func() {
			chains[i], errs[i] = run(rngs[i], kernels[i], starts[i], n, o, tick)
			<-slots
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return chains, fmt.Errorf("sampling.RunChains: chain %d: %w", i, err)
		}
	}
	return chains, nil
}

func run[S any](rng *rand.Rand, k Kernel[S], start S, n int, o RunOptions, tick *ticker) (*Chain[S], error) {
	c := &Chain[S]{}
	pace := &pace{ctx: o.Context, tick: tick}
	defer pace.flush()
	s, err := burnIn(rng, k, start, o.BurnIn, pace)
	if err != nil {
		return c, err
	}

	c.States, c.Infos = make([]S, 0, n), make([]Info, 0, n)
	var accepted float64
	keep := keeper[S](n)
	for c.Steps < n*o.Thin {
		if err := pace.stop(); err != nil {
			return c, fmt.Errorf("stopped with %d of %d draws: %w", len(c.States), n, err)
		}
		var info Info
		s, info = k.Step(rng, s)
		if info.Err != nil {
			return c, fmt.Errorf("step %d after burn-in: %w", c.Steps+1, info.Err)
		}
		pace.step()
		c.Steps++
		accepted += info.Acceptance
		c.Acceptance = accepted / float64(c.Steps)
		c.Evaluations += info.Evaluations
		if info.Divergent {
			c.Divergences++
		}
		if info.Invalid {
			c.Invalid++
		}
		if c.Steps%o.Thin == 0 {
			info.Proposal = nil
			c.States, c.Infos = append(c.States, keep(s)), append(c.Infos, info)
		}
	}
	return c, nil
}

// keeper returns Copy, for vectors with one block of storage for n of them.
func keeper[S any](n int) func(S) S {
	var block []float64
	return func(s S) S {
		v, ok := any(s).([]float64)
		if !ok {
			return Copy(s)
		}
		if block == nil {
			block = make([]float64, 0, n*len(v))
		}
		at := len(block)
		block = append(block, v...)
		return any(block[at:len(block):len(block)]).(S)
	}
}

// or returns the options with their defaults, after checking them.
func (o *RunOptions) or(n int) RunOptions {
	var r RunOptions
	if o != nil {
		r = *o
	}
	if n < 0 || r.BurnIn < 0 || r.Thin < 0 {
		panic(fmt.Sprintf("sampling: %d draws, burn-in %d, thinning %d: none may be negative", n, r.BurnIn, r.Thin))
	}
	r.Thin = max(r.Thin, 1)
	if r.Context == nil {
		r.Context = context.Background()
	}
	return r
}

// ticker sums the steps of all chains and reports them.
type ticker struct {
	mu          sync.Mutex
	done, total int
	every       int
	report      func(done, total int)
}

func newTicker(o RunOptions, n, chains int) *ticker {
	if o.Progress == nil {
		return nil
	}
	total := chains * (o.BurnIn + n*o.Thin)
	return &ticker{total: total, every: max(1, total/100), report: o.Progress}
}

// pace watches over one chain: it says when to stop, and counts steps and
// passes them on in bundles.
type pace struct {
	ctx     context.Context
	tick    *ticker
	pending int
}

// stop returns the cause for which the chain should end before its next step.
func (p *pace) stop() error {
	select {
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	default:
		return nil
	}
}

// step counts a step.
func (p *pace) step() {
	if p.tick == nil {
		return
	}
	if p.pending++; p.pending >= p.tick.every {
		p.flush()
	}
}

func (p *pace) flush() {
	if p.tick == nil || p.pending == 0 {
		return
	}
	t := p.tick
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done += p.pending
	p.pending = 0
	t.report(t.done, t.total)
}
