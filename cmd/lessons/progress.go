package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// progress is a bar at the bottom of a terminal. Where there is no terminal it
// draws nothing.
type progress struct {
	mu          sync.Mutex
	w           io.Writer // nil: no terminal
	done, total int
	last        string
}

func (a *app) newProgress(total int) *progress {
	p := &progress{total: total}
	if f, ok := a.stderr.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.w = f
		}
	}
	p.say(func() {})
	return p
}

// step counts one cell.
func (p *progress) step(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.last = name
	p.draw()
}

// say prints something above the bar.
func (p *progress) say(print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	print()
	p.draw()
}

func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.w = nil
}

func (p *progress) draw() {
	if p.w == nil || p.total == 0 {
		return
	}
	const width = 30
	full := width * min(p.done, p.total) / p.total // check adds the solutions
	fmt.Fprintf(p.w, "\r\x1b[K%s%s %d/%d cells  %s", strings.Repeat("█", full), strings.Repeat("░", width-full), p.done, p.total, p.last)
}

func (p *progress) erase() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
