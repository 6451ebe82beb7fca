package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Picture can be shown to those who see it and told to those who do not.
type Picture interface {
	// Alt describes the picture in words.
	Alt() string

	// Image draws the picture at a resolution of DPI.
	Image() (*image.RGBA, error)
}

var _, _ Picture = (*Figure)(nil), (*Grid)(nil)

// A Figure is a gonum plot that knows its size, places its own legend and
// describes itself. Everything of the embedded plot can be set as usual:
// f.X.Min, f.Y.Scale, f.Title.TextStyle … An existing plot becomes a figure as
// &Figure{Plot: p, Key: KeyFixed}.
type Figure struct {
	*plot.Plot

	// Width and Height are the size when saved; zero means 16 cm by 10 cm or, where
	// Equal ties them together, as much of that as the content fills.
	Width, Height vg.Length

	// Equal widens one axis so that a unit has the same length on both, as it
	// should when x and y are the same kind of quantity.
	Equal bool

	// Key places the legend.
	Key Key

	// Note is put first in the alternative text; for what the data cannot tell.
	Note string

	marks []namedMark
	bare  bool
	room  vg.Length // least width of a legend to the right
}

type namedMark struct {
	name string // legend entry, may be empty
	plot.Plotter
}

const (
	defaultWidth  = 16 * vg.Centimeter
	defaultHeight = 10 * vg.Centimeter
	margin        = 4 // around everything
)

var (
	ink      = color.Gray{0x22}
	axisGrey = color.Gray{0x66}
	gridGrey = color.Gray{0xdd}
)

// New returns an empty figure in the house style. The title says the point, the
// axis labels name the quantity and its unit.
func New(title, x, y string) *Figure {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font = sans(11)
	p.Title.TextStyle.Font.Weight = xfont.WeightBold
	p.Title.TextStyle.Color = ink
	p.Title.Padding = 5
	p.Legend.TextStyle.Font = sans(9)
	p.Legend.TextStyle.Color = ink
	p.Legend.Padding = 2
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(10)
		a.Label.TextStyle.Color = ink
		a.Label.Padding = 3
		a.Tick.Label.Font = sans(9)
		a.Tick.Label.Color = ink
		a.Tick.Length = 3
		a.Tick.Color = axisGrey
		a.Tick.Marker = ticks{7}
		a.LineStyle.Color = axisGrey
		a.Padding = 3
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridGrey, gridGrey
	p.Add(grid)
	return &Figure{Plot: p}
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// Bare returns a figure without axes and with equal units, for [Images] and
// drawings.
func Bare(title string) *Figure {
	f := New(title, "", "")
	f.HideAxes()
	f.X.Padding, f.Y.Padding = 0, 0
	f.Equal, f.bare = true, true
	return f
}

// Add adds marks of this package or any other plotters. They are drawn in the
// order in which they were added and, where they have data, widen the axes. Marks
// with a Legend method write their own legend entries.
func (f *Figure) Add(ps ...plot.Plotter) {
	for _, p := range ps {
		f.AddAs("", p)
	}
}

// AddAs is Add for one mark under a name, which goes into the legend, if the mark
// has a thumbnail, and into the alternative text.
func (f *Figure) AddAs(name string, p plot.Plotter) {
	f.marks = append(f.marks, namedMark{name, p})
	f.Plot.Add(p)
}

// ShareAxes gives all figures the same ranges, the smallest that hold the data of
// each, and the same room for a legend on the right, so that panels can be compared
// and nothing jumps from frame to frame. Call it when all marks have been added.
func ShareAxes(figs ...*Figure) {
	xmin, xmax, ymin, ymax := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	var room vg.Length
	for _, f := range figs {
		xmin, xmax = min(xmin, f.X.Min), max(xmax, f.X.Max)
		ymin, ymax = min(ymin, f.Y.Min), max(ymax, f.Y.Max)
		w, _ := keySize(f.legend())
		room = max(room, w)
	}
	for _, f := range figs {
		f.X.Min, f.X.Max, f.Y.Min, f.Y.Max = xmin, xmax, ymin, ymax
		f.room = room
		if f.Key == KeyBest {
			f.Key = KeyRight
		}
	}
}

// Save writes the figure to a file in the format of its extension: png, which comes
// out small and the same every time, or another of gonum's formats such as svg.
func (f *Figure) Save(path string) error { return save(f, path) }

// Image draws the figure.
func (f *Figure) Image() (*image.RGBA, error) { return render(f) }

// A sheet is what can be put on a canvas: a figure or a grid of them.
type sheet interface {
	size() (w, h vg.Length)
	check() error
	Draw(c draw.Canvas)
}

func save(s sheet, path string) error {
	if strings.EqualFold(filepath.Ext(path), ".png") {
		img, err := render(s)
		if err != nil {
			return err
		}
		b, err := EncodePNG(img)
		if err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o666)
	}
	if err := s.check(); err != nil {
		return err
	}
	w, h := s.size()
	c, err := draw.NewFormattedCanvas(w, h, strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), "."))
	if err != nil {
		return err
	}
	s.Draw(draw.New(c))
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := c.WriteTo(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// check refuses axes on which gonum would panic or loop.
func (f *Figure) check() error {
	for _, a := range []struct {
		name string
		*plot.Axis
	}{{"x", &f.X}, {"y", &f.Y}} {
		empty := math.IsInf(a.Min, 1) && math.IsInf(a.Max, -1)
		switch _, log := a.Scale.(plot.LogScale); {
		case !empty && (!finite(a.Min) || !finite(a.Max)):
			return fmt.Errorf("plots: figure %q: the %s axis runs from %v to %v; give it finite limits", f.Title.Text, a.name, a.Min, a.Max)
		case log && (empty || a.Min <= 0):
			return fmt.Errorf("plots: figure %q: the logarithmic %s axis starts at %v; give it a positive limit", f.Title.Text, a.name, a.Min)
		}
	}
	return nil
}

func (f *Figure) size() (w, h vg.Length) {
	w, h = f.Width, f.Height
	if w == 0 {
		w = defaultWidth
	}
	if h == 0 {
		h = defaultHeight
	}
	if !f.Equal || f.Width != 0 || f.Height != 0 {
		return w, h
	}
	// Cut off what equal units would leave empty, next to a legend on the right if
	// the smaller plot has no room for it.
	p := f.titled(w - 2*margin)
	xs, ys := vg.Length(p.X.Max-p.X.Min), vg.Length(p.Y.Max-p.Y.Min)
	if !(xs > 0) || !(ys > 0) {
		return w, h
	}
	d := p.DataCanvas(sized(w, h)).Size()
	const least = 6 * vg.Centimeter
	var side vg.Length
	for range 2 {
		unit := max(xs/(d.X-side), ys/d.Y)
		w, h = max(defaultWidth-(d.X-side-xs/unit), least), max(defaultHeight-(d.Y-ys/unit), least/2)
		side, _ = f.keySide(p, sized(w, h))
	}
	return w, h
}

// sized returns a canvas without a backend, for measuring, inside the margins.
func sized(w, h vg.Length) draw.Canvas {
	return draw.Crop(draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: w, Y: h}}}, margin, -margin, margin, -margin)
}

// titled returns a copy of the plot without its legend and with its title broken
// into lines that fit.
func (f *Figure) titled(width vg.Length) *plot.Plot {
	p := *f.Plot
	p.Legend = plot.NewLegend()
	p.Title.Text = wrap(p.Title.Text, p.Title.TextStyle, width)
	return &p
}

// wrap breaks txt into lines of at most the given width, where it has spaces.
func wrap(txt string, sty text.Style, width vg.Length) string {
	var lines []string
	for para := range strings.SplitSeq(txt, "\n") {
		line := ""
		for word := range strings.FieldsSeq(para) {
			longer := strings.TrimSpace(line + " " + word)
			if line != "" && sty.Width(longer) > width {
				lines, longer = append(lines, line), word
			}
			line = longer
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Draw draws the figure with its legend on c.
func (f *Figure) Draw(c draw.Canvas) {
	if f.BackgroundColor != nil {
		c.SetColor(f.BackgroundColor)
		c.Fill(c.Rectangle.Path())
	}
	c = draw.Crop(c, margin, -margin, margin, -margin)
	p := f.titled(c.Size().X)
	if f.Key == KeyFixed {
		p.Legend = f.legend()
		f.equalise(p, c)
		p.Draw(c)
		return
	}
	key := f.legend()
	side, box := f.keySide(p, c)
	if side > 0 {
		body := draw.Crop(c, 0, -side, 0, 0)
		p = f.titled(body.Size().X)
		f.equalise(p, body)
		box = vg.Rectangle{Min: vg.Point{X: body.Max.X + keyMargin, Y: c.Min.Y}, Max: vg.Point{X: c.Max.X, Y: p.DataCanvas(body).Max.Y}}
		p.Draw(body)
	} else {
		f.equalise(p, c)
		p.Draw(c)
	}
	drawKey(key, draw.Canvas{Canvas: c.Canvas, Rectangle: box})
}

// equalise widens the range of one axis of p around its centre until units have
// the same length on both, if the figure asks for that.
func (f *Figure) equalise(p *plot.Plot, c draw.Canvas) {
	if !f.Equal {
		return
	}
	// The room for the data depends a little on the tick labels, which depend on
	// the range: a few rounds settle it.
	for range 3 {
		d := p.DataCanvas(c).Size()
		xs, ys := p.X.Max-p.X.Min, p.Y.Max-p.Y.Min
		if d.X <= 0 || d.Y <= 0 || !(xs > 0) || !(ys > 0) {
			return
		}
		unit := max(xs/float64(d.X), ys/float64(d.Y))
		widen(&p.X, unit*float64(d.X))
		widen(&p.Y, unit*float64(d.Y))
	}
}

func widen(a *plot.Axis, span float64) {
	mid := a.Min + (a.Max-a.Min)/2
	a.Min, a.Max = mid-span/2, mid+span/2
}
