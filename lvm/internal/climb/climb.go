// Package climb holds the one fitting loop of the library: restarts in
// parallel with split generators, stopping on relative change, best of, and
// the check that the objective never falls.
package climb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// slack is how far, relative to its size, an objective may fall in one step
// before that counts as a fall: sums over many rows round differently at
// every step.
const slack = 1e-9

// Problem is a model with a start and a step.
type Problem[M any] struct {
	// Op names the fit in errors, such as "clustering.FitGMM".
	Op string

	// Start makes the model that one restart begins with.
	Start func(rng *rand.Rand) (M, error)

	// Step returns the next model and the objective of m, larger is better.
	// It may reuse scratch that hangs on m, but must leave the parameters of
	// m alone: m is returned if the climb ends here.
	Step func(m M) (next M, objective float64, err error)

	// Noise returns how far rounding may have moved the objective that the last
	// Step from m returned, where that can be more than a few digits: models that
	// are close to singular. A fall within the noise is no fall, and a climb that
	// moves by no more than the noise has converged. nil means none.
	Noise func(m M) float64

	// MayFall says that theory allows the objective to fall, as it does for
	// stochastic steps.
	MayFall bool
}

// Fit climbs from opts.Restarts starts and returns the best model with its
// trace. Every field of opts must have its final value; it panics if MaxIter or
// Restarts is negative or zero. A restart that ends in an error is left out; if
// all do, Fit returns the error of the first.
//
// The generators of the restarts are split from rng in order before any
// restart begins, so the result does not depend on how they are scheduled.
func Fit[M any](rng *rand.Rand, opts lvm.Options, p Problem[M]) (M, lvm.Trace, error) {
	if opts.MaxIter < 1 || opts.Restarts < 1 {
		pkg, name, _ := strings.Cut(p.Op, ".")
		panic(fmt.Sprintf("%s: %s with MaxIter %d and Restarts %d", pkg, name, opts.MaxIter, opts.Restarts))
	}
	runs := make([]run[M], opts.Restarts)
	rngs := make([]*rand.Rand, opts.Restarts)
	for i := range rngs {
		rngs[i] = num.Split(rng)
	}

	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range runs {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer wg.Done()
			runs[i] = climb(rngs[i], opts, p)
			<-slots
		}()
	}
	wg.Wait()

	best, finals := -1, make([]float64, len(runs))
	for i, r := range runs {
		finals[i] = math.NaN()
		if r.err != nil {
			continue
		}
		finals[i] = r.trace.Final()
		if best < 0 || finals[i] > finals[best] {
			best = i
		}
	}
	if best < 0 {
		r := runs[0]
		r.trace.Finals = finals
		return r.model, r.trace, r.err
	}
	r := runs[best]
	r.trace.Restart, r.trace.Finals = best, finals
	return r.model, r.trace, nil
}

type run[M any] struct {
	model M
	trace lvm.Trace
	err   error
}

// climb follows one restart. After an error, model and trace hold the last
// good model and the path to it.
func climb[M any](rng *rand.Rand, opts lvm.Options, p Problem[M]) (r run[M]) {
	r.trace.Status = lvm.IterationLimit
	r.model, r.err = p.Start(rng)
	if r.err != nil {
		return r
	}
	for t := 0; ; t++ {
		next, objective, err := p.Step(r.model)
		if err == nil && math.IsNaN(objective) {
			err = fmt.Errorf("%s: the objective is not a number after %d steps", p.Op, t)
		}
		if err != nil {
			r.err = err
			return r
		}
		path := append(r.trace.Objective, objective)
		r.trace.Objective = path
		if t > 0 {
			change, noise := objective-path[t-1], 0.0
			if p.Noise != nil {
				noise = p.Noise(r.model)
			}
			if !p.MayFall && change < -slack*math.Abs(objective)-noise {
				r.err = fmt.Errorf("%s: %w from %g to %g in step %d; please report it with the data", p.Op, lvm.ErrObjectiveFell, path[t-1], objective, t)
				return r
			}
			if opts.Tol >= 0 && math.Abs(change) <= max(opts.Tol*math.Abs(objective), noise) {
				r.trace.Status = lvm.Converged
				return r
			}
		}
		if t == opts.MaxIter {
			return r
		}
		r.model = next
	}
}
