package show

import (
	"fmt"
	"html"
	"iter"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Progress counts 0, 1, …, n−1 for a loop that takes long and shows a bar with the
// time left while it runs:
//
//	for i := range show.Progress("Gibbs", 10_000) {
//		…
//	}
//
// What stays in the notebook does not depend on the time: "Gibbs: 10000 of 10000", or
// fewer if the loop ends early. Outside a notebook Progress only counts.
func Progress(label string, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		b := &bar{label: label, n: n, start: time.Now(), id: "progress-" + gonbui.UniqueId()}
		done := 0
		b.update(0)
		defer func() { b.finish(done) }()
		for i := range n {
			if !yield(i) {
				return
			}
			done = i + 1
			if now := time.Now(); now.Sub(b.last) >= 200*time.Millisecond {
				b.last = now
				b.update(done)
			}
		}
	}
}

type bar struct {
	label       string
	n           int
	start, last time.Time
	id          string // of the output to replace; it is not saved with the notebook
}

func (b *bar) count(done int) string { return fmt.Sprintf("%s: %d of %d", b.label, done, b.n) }

func (b *bar) update(done int) {
	text := b.count(done)
	if done > 0 {
		left := time.Since(b.start) / time.Duration(done) * time.Duration(b.n-done)
		text += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	b.send(fmt.Sprintf(`<label><progress value="%d" max="%d"></progress> %s</label>`, done, b.n, html.EscapeString(text)), text)
}

func (b *bar) finish(done int) { b.send("<p>"+html.EscapeString(b.count(done))+"</p>", b.count(done)) }

func (b *bar) send(html, text string) {
	send(protocol.DisplayData{
		Data:      map[protocol.MIMEType]any{protocol.MIMETextHTML: html, protocol.MIMETextPlain: text},
		DisplayID: b.id,
	})
}
