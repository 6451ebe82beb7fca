package plots

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Trace draws an objective against the iteration, for one run or several, such as
// restarts from different starting points. The best run is drawn last and thick.
type Trace struct {
	Runs [][]float64

	// First is the number of the first iteration, 0 by default.
	First int

	// Lower says that the objective is minimised; otherwise the best run is the one
	// that ends highest.
	Lower bool

	// Names, one per run, give every run its own colour, dashes and legend entry.
	// Without names the best run is blue and the others grey.
	Names []string
}

// NewTrace returns the course of one objective per run, which may differ in length.
func NewTrace(runs ...[]float64) (*Trace, error) {
	const mark = "trace"
	if len(runs) == 0 {
		return nil, noData(mark)
	}
	t := &Trace{}
	for i, run := range runs {
		if len(run) == 0 {
			return nil, fmt.Errorf("plots: %s: run %d: %w", mark, i, ErrNoData)
		}
		for j, v := range run {
			if !finite(v) {
				return nil, &DataError{mark, i, j, v}
			}
		}
		t.Runs = append(t.Runs, append([]float64(nil), run...))
	}
	return t, nil
}

// Best returns the number of the run with the best last value, the first of them if
// several are equal.
func (t *Trace) Best() int {
	best := 0
	for i, run := range t.Runs {
		a, b := run[len(run)-1], t.Runs[best][len(t.Runs[best])-1]
		if t.Lower && a < b || !t.Lower && a > b {
			best = i
		}
	}
	return best
}

func (t *Trace) style(run, best int) draw.LineStyle {
	sty := draw.LineStyle{Color: color.Gray{0xa0}, Width: 0.9}
	if run == best {
		sty = draw.LineStyle{Color: Color(0), Width: 2}
	}
	if t.Names != nil {
		sty.Color, sty.Dashes = Line(run).Color, Line(run).Dashes
	}
	return sty
}

// Plot implements plot.Plotter.
func (t *Trace) Plot(c draw.Canvas, p *plot.Plot) {
	best := t.Best()
	for i := range t.Runs {
		if i != best {
			t.plot(c, p, t.Runs[i], t.style(i, best))
		}
	}
	t.plot(c, p, t.Runs[best], t.style(best, best))
}

// plot draws a run as a line, with dots if there are few iterations, so that a run
// of one iteration is seen too.
func (t *Trace) plot(c draw.Canvas, p *plot.Plot, run []float64, sty draw.LineStyle) {
	x, y := p.Transforms(&c)
	pts := make([]vg.Point, len(run))
	for i, v := range run {
		pts[i] = vg.Point{X: x(float64(t.First + i)), Y: y(v)}
	}
	c.StrokeLines(sty, c.ClipLinesXY(pts)...)
	if len(run) > 30 {
		return
	}
	for _, pt := range pts {
		c.DrawGlyph(draw.GlyphStyle{Color: sty.Color, Radius: sty.Width + 0.6, Shape: draw.CircleGlyph{}}, pt)
	}
}

// DataRange implements plot.DataRanger.
func (t *Trace) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, ymin, ymax = float64(t.First), t.Runs[0][0], t.Runs[0][0]
	for _, run := range t.Runs {
		xmax = max(xmax, float64(t.First+len(run)-1))
		lo, hi := plotter.Range(plotter.Values(run))
		ymin, ymax = min(ymin, lo), max(ymax, hi)
	}
	return xmin, xmax, ymin, ymax
}

// GlyphBoxes implements plot.GlyphBoxer, so that the dots at the ends are not cut
// off.
func (t *Trace) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	r := draw.GlyphStyle{Radius: 2.6}.Rectangle()
	for _, run := range t.Runs {
		for i, v := range run {
			boxes = append(boxes, plot.GlyphBox{X: p.X.Norm(float64(t.First + i)), Y: p.Y.Norm(v), Rectangle: r})
		}
	}
	return boxes
}

// Thumbnail implements plot.Thumbnailer with the line of the best run.
func (t *Trace) Thumbnail(c *draw.Canvas) {
	best := t.Best()
	lineThumb{t.style(best, best)}.Thumbnail(c)
}

// Legend returns an entry per named run or, for several runs without names, one for
// the best and one for the others.
func (t *Trace) Legend() []Entry {
	best := t.Best()
	var es []Entry
	switch {
	case t.Names != nil:
		for i := range min(len(t.Names), len(t.Runs)) {
			es = append(es, Entry{t.Names[i], lineThumb{t.style(i, best)}})
		}
	case len(t.Runs) > 1:
		es = append(es, Entry{"best run", lineThumb{t.style(best, best)}}, Entry{"other runs", lineThumb{t.style(-1, best)}})
	}
	return es
}

// Alt returns, for example, "objective from −1380 to −1130 in 13 iterations; best
// of five runs, which end between −1250 and −1130".
func (t *Trace) Alt() string {
	course := func(run []float64) string {
		return fmt.Sprintf("from %s to %s in %s", num(run[0]), num(run[len(run)-1]), count(len(run)-1, "iteration"))
	}
	if t.Names != nil && len(t.Runs) <= 10 {
		parts := make([]string, len(t.Runs))
		for i, run := range t.Runs {
			parts[i] = course(run)
			if i < len(t.Names) {
				parts[i] = t.Names[i] + " " + parts[i]
			}
		}
		return "course of " + strings.Join(parts, "; ")
	}
	s := "objective " + course(t.Runs[t.Best()])
	if len(t.Runs) == 1 {
		return s
	}
	ends := make(plotter.Values, len(t.Runs))
	for i, run := range t.Runs {
		ends[i] = run[len(run)-1]
	}
	lo, hi := plotter.Range(ends)
	return s + fmt.Sprintf("; best of %s, which end between %s and %s", count(len(t.Runs), "run"), num(lo), num(hi))
}
