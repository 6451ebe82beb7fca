package plots

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// A Describer says in a sentence or two what it shows. All marks of this package
// are describers; [Figure.Alt] also knows gonum's common plotters.
type Describer interface {
	Alt() string
}

// Alt describes the figure in words: title, axes and what each mark shows, with
// numbers from the data. Notebooks carry it for readers who cannot see the
// picture.
func (f *Figure) Alt() string {
	parts := append([]string{f.Title.Text, f.Note, f.altAxes()}, f.altMarks()...)
	return sentences(parts...)
}

func (f *Figure) altAxes() string {
	if f.bare {
		return ""
	}
	axis := func(name string, a *plot.Axis) string {
		s := name + " axis"
		if a.Label.Text != "" {
			s += ": " + a.Label.Text
		}
		if a.Min <= a.Max {
			s += fmt.Sprintf(", %s to %s", num(a.Min), num(a.Max))
		}
		return s
	}
	return axis("Horizontal", &f.X) + "; " + axis("vertical", &f.Y)
}

func (f *Figure) altMarks() []string {
	var parts []string
	for _, m := range f.marks {
		s := describe(m.Plotter)
		switch {
		case s == "":
			s = m.name
		case m.name != "":
			s = m.name + ": " + s
		}
		parts = append(parts, capital(s))
	}
	return parts
}

func describe(p plot.Plotter) string {
	switch p := p.(type) {
	case Describer:
		return p.Alt()
	case *plotter.Line:
		return altLine(p.XYs)
	case *plotter.Scatter:
		return altScatter(p.XYs)
	case *plotter.Histogram:
		return altHistogram(p)
	case *plotter.BarChart:
		return altBars(p.Values)
	}
	return ""
}

func altLine(xy plotter.XYs) string {
	if len(xy) == 0 {
		return ""
	}
	lo, hi := xy[0], xy[0]
	for _, p := range xy {
		if p.Y < lo.Y {
			lo = p
		}
		if p.Y > hi.Y {
			hi = p
		}
	}
	first, last := xy[0], xy[len(xy)-1]
	return fmt.Sprintf("line of %s from (%s, %s) to (%s, %s), lowest %s at %s, highest %s at %s", count(len(xy), "point"),
		num(first.X), num(first.Y), num(last.X), num(last.Y), num(lo.Y), num(lo.X), num(hi.Y), num(hi.X))
}

func altScatter(xy plotter.XYs) string {
	if len(xy) == 0 {
		return ""
	}
	xmin, xmax, ymin, ymax := plotter.XYRange(xy)
	return fmt.Sprintf("%s, x from %s to %s, y from %s to %s", count(len(xy), "point"),
		num(xmin), num(xmax), num(ymin), num(ymax))
}

func altHistogram(h *plotter.Histogram) string {
	if len(h.Bins) == 0 {
		return ""
	}
	top := h.Bins[0]
	for _, b := range h.Bins {
		if b.Weight > top.Weight {
			top = b
		}
	}
	return fmt.Sprintf("histogram of %s from %s to %s, highest %s between %s and %s", count(len(h.Bins), "bin"),
		num(h.Bins[0].Min), num(h.Bins[len(h.Bins)-1].Max), num(top.Weight), num(top.Min), num(top.Max))
}

func altBars(v plotter.Values) string {
	if len(v) <= 12 {
		return fmt.Sprintf("%s: %s", count(len(v), "bar"), nums(v))
	}
	lo, hi := plotter.Range(v)
	return fmt.Sprintf("%s between %s and %s", count(len(v), "bar"), num(lo), num(hi))
}

var words = [...]string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// count returns "two clusters", "one point", "272 points".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	if 0 <= n && n < len(words) {
		return words[n] + " " + noun
	}
	return strconv.Itoa(n) + " " + noun
}

// num returns v with three digits or, if larger, as a whole number.
func num(v float64) string {
	var s string
	if a := math.Abs(v); a >= 1000 && a < 1e6 {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	} else {
		s = strconv.FormatFloat(v, 'g', 3, 64)
	}
	if s == "-0" {
		s = "0"
	}
	return strings.Replace(s, "-", "−", 1)
}

// nums returns "1, 2 and 3".
func nums(v []float64) string {
	s := make([]string, len(v))
	for i := range v {
		s[i] = num(v[i])
	}
	return list(s)
}

func list(s []string) string {
	if len(s) < 2 {
		return strings.Join(s, "")
	}
	return strings.Join(s[:len(s)-1], ", ") + " and " + s[len(s)-1]
}

// point returns "(1, 2)".
func point(x ...float64) string {
	s := make([]string, len(x))
	for i := range x {
		s[i] = num(x[i])
	}
	return "(" + strings.Join(s, ", ") + ")"
}

func capital(s string) string {
	if s == "" || s[0] >= 0x80 {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
