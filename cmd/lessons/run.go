package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"time"

	"github.com/latent-lessons/latent/internal/jupyter"
)

// atOnce is how many lessons are executed at the same time. Compiling a cell
// already keeps more than one core busy.
const atOnce = 2

// runOptions are the flags that run and check share.
type runOptions struct {
	timeout time.Duration
	verbose bool
}

func (o *runOptions) declare(flags *flag.FlagSet) {
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "give up on a cell after this `time`, such as 30s or 5m")
	flags.BoolVar(&o.verbose, "v", false, "print the time of every cell")
}

func setupRun(flags *flag.FlagSet) func(context.Context, *app, []string) error {
	var o runOptions
	o.declare(flags)
	write := flags.Bool("w", false, "write the outputs into the notebooks")
	return func(ctx context.Context, a *app, patterns []string) error {
		return a.execute(ctx, o, patterns, func(ctx context.Context, r *jupyter.Runner, l lesson, old *jupyter.Notebook) (string, error) {
			got, err := r.Run(ctx, l.path, old)
			if err != nil || !*write {
				return "", err
			}
			// What only differs by the last bit of a pixel stays as it is, so
			// that another machine does not rewrite every picture.
			jupyter.KeepEqual(old, got)
			if bytes.Equal(old.Bytes(), got.Bytes()) {
				return "unchanged", nil
			}
			return "written", got.WriteFile(l.path)
		})
	}
}

// A task does something with one lesson and says in a word or two what came of it.
type task func(context.Context, *jupyter.Runner, lesson, *jupyter.Notebook) (string, error)

// execute does a task with the lessons of the patterns, a few at a time.
func (a *app) execute(ctx context.Context, o runOptions, patterns []string, do task) error {
	todo, err := a.match(patterns)
	if err != nil {
		return err
	}
	// Read everything first: a broken file should not cost a minute of running.
	notebooks := make([]*jupyter.Notebook, len(todo))
	cells := 0
	for i, l := range todo {
		if notebooks[i], err = jupyter.ReadFile(l.path); err != nil {
			return err
		}
		for _, c := range notebooks[i].Cells {
			if c.Type == jupyter.Code {
				cells++
			}
		}
	}
	tools, err := a.toolchain(ctx)
	if err != nil {
		return err
	}
	progress := a.newProgress(cells)
	defer progress.clear()

	var failed bool
	var mu sync.Mutex // guards failed
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, l := range todo {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			start := time.Now()
			var times []cellTime
			runner := &jupyter.Runner{Toolchain: tools, Timeout: o.timeout, Progress: func(cell int, took time.Duration) {
				times = append(times, cellTime{cell, took})
				progress.step(l.name)
			}}
			note, err := do(ctx, runner, l, notebooks[i])
			if ctx.Err() != nil {
				return
			}
			progress.say(func() {
				a.report(l, time.Since(start), times, note, o.verbose, err)
			})
			if err != nil {
				mu.Lock()
				failed = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed:
		return errReported
	}
	return nil
}

type cellTime struct {
	cell int
	took time.Duration
}

// report prints the result of one lesson.
func (a *app) report(l lesson, took time.Duration, times []cellTime, note string, verbose bool, err error) {
	if err != nil {
		fmt.Fprintf(a.stdout, "FAIL  %s  (%.1f s)\n", l.name, took.Seconds())
		var cell *jupyter.CellError
		if errors.As(err, &cell) {
			fmt.Fprintf(a.stderr, "\n%v\n\n", cell)
		} else {
			fmt.Fprintf(a.stderr, "%v\n", err)
		}
		return
	}
	if note != "" {
		note = ", " + note
	}
	slowest := cellTime{}
	for _, t := range times {
		if t.took > slowest.took {
			slowest = t
		}
	}
	fmt.Fprintf(a.stdout, "ok    %s  (%d cells in %.1f s, slowest cell %d in %.1f s%s)\n",
		l.name, len(times), took.Seconds(), slowest.cell, slowest.took.Seconds(), note)
	if verbose {
		for _, t := range times {
			fmt.Fprintf(a.stdout, "      cell %2d  %6.2f s\n", t.cell, t.took.Seconds())
		}
	}
}

// toolchain is GoNB and goimports, built if need be, with the build cache warm.
func (a *app) toolchain(ctx context.Context) (*jupyter.Toolchain, error) {
	tools, err := jupyter.BuildToolchain(ctx, a.root, func(what string) { fmt.Fprintln(a.stderr, what) })
	if err != nil {
		return nil, err
	}
	slow := time.AfterFunc(time.Second, func() { fmt.Fprintln(a.stderr, "compiling what the lessons use …") })
	defer slow.Stop()
	if err := tools.Warm(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		fmt.Fprintf(a.stderr, "warning: %v\n", err) // somebody is at work on the library
	}
	return tools, nil
}
