package plots

import (
	"fmt"
	"image"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Grid is a picture made of several figures in panels of the same size with
// aligned axes and one legend. Where all panels of the grid have the same x axis
// (see [ShareAxes]) only the lowest of each column is labelled, and where they
// have the same y axis only the leftmost of each row.
type Grid struct {
	// Title, if any, is put over all panels.
	Title string

	// Cols is the number of columns; there are as many rows as needed.
	Cols int

	// Figures are the panels row by row; nil leaves a gap.
	Figures []*Figure

	// Width and Height are the size when saved; zero means 16 cm wide and as high as
	// the panels need to look well, 10 cm for up to three rows.
	Width, Height vg.Length
}

// NewGrid returns a grid of figures with the given number of columns, at least
// one.
func NewGrid(cols int, figs ...*Figure) *Grid {
	if cols < 1 {
		panic("plots: a grid needs at least one column")
	}
	return &Grid{Cols: cols, Figures: figs}
}

// Save writes the grid to a file in the format of its extension.
func (g *Grid) Save(path string) error { return save(g, path) }

// Image draws the grid.
func (g *Grid) Image() (*image.RGBA, error) { return render(g) }

// Alt describes the panels one after the other; see [Figure.Alt].
func (g *Grid) Alt() string {
	var panels []*Figure
	for _, f := range g.Figures {
		if f != nil {
			panels = append(panels, f)
		}
	}
	parts := []string{g.Title, capital(count(len(panels), "panel"))}
	if len(panels) > 0 && g.sameX() && g.sameY() {
		parts = append(parts, panels[0].altAxes())
	}
	for i, f := range panels {
		text := []string{f.Title.Text, f.Note}
		if !g.sameX() || !g.sameY() {
			text = append(text, f.altAxes())
		}
		parts = append(parts, fmt.Sprintf("Panel %d: %s", i+1, sentences(append(text, f.altMarks()...)...)))
	}
	return sentences(parts...)
}

func (g *Grid) rows() int { return (len(g.Figures) + g.Cols - 1) / g.Cols }

func (g *Grid) check() error {
	some := false
	for _, f := range g.Figures {
		if f == nil {
			continue
		}
		some = true
		if err := f.check(); err != nil {
			return err
		}
	}
	if !some {
		return noData("grid")
	}
	return nil
}

func (g *Grid) size() (w, h vg.Length) {
	w, h = g.Width, g.Height
	if w == 0 {
		w = defaultWidth
	}
	if h == 0 {
		rows := vg.Length(g.rows())
		const labels = 1.2 * vg.Centimeter // titles and axes
		h = rows*(0.75*w/vg.Length(g.Cols)+labels) + labels
		h = min(h, max(defaultHeight, rows*3.2*vg.Centimeter))
	}
	return w, h
}

// same reports whether all panels have the same axis.
func (g *Grid) same(axis func(*Figure) *plot.Axis) bool {
	var first *plot.Axis
	for _, f := range g.Figures {
		if f == nil {
			continue
		}
		a := axis(f)
		if first == nil {
			first = a
		}
		if f.bare || a.Min != first.Min || a.Max != first.Max || a.Label.Text != first.Label.Text {
			return false
		}
	}
	return true
}

func (g *Grid) sameX() bool { return g.same(func(f *Figure) *plot.Axis { return &f.X }) }
func (g *Grid) sameY() bool { return g.same(func(f *Figure) *plot.Axis { return &f.Y }) }

// Draw draws the panels, the title above and the legend below.
func (g *Grid) Draw(c draw.Canvas) {
	house := New("", "", "")
	c.SetColor(house.BackgroundColor)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	if g.Title != "" {
		sty := house.Title.TextStyle
		title := wrap(g.Title, sty, c.Size().X)
		c.FillText(sty, vg.Point{X: c.Center().X, Y: c.Max.Y + sty.FontExtents().Descent}, title)
		c.Max.Y -= sty.Rectangle(title).Size().Y + 6
	}
	c.Min.Y += g.drawKey(c, house.Legend.TextStyle)

	tiles := draw.Tiles{Rows: g.rows(), Cols: g.Cols, PadX: 8, PadY: 6}
	panels := g.panels(tiles.At(c, 0, 0).Size().X)
	canvases := plot.Align(panels, tiles, c)
	for i, f := range g.Figures {
		if f != nil {
			f.equalise(panels[i/g.Cols][i%g.Cols], canvases[i/g.Cols][i%g.Cols])
		}
	}
	canvases = plot.Align(panels, tiles, c)
	for i, row := range panels {
		var top vg.Length // of the titles, which Align puts where tick labels leave them
		for j := range row {
			top = max(top, canvases[i][j].Max.Y)
		}
		for j, p := range row {
			if p != nil {
				p.Title.Padding += top - canvases[i][j].Max.Y
				canvases[i][j].Max.Y = top
				p.Draw(canvases[i][j])
			}
		}
	}
}

// panels returns copies of the plots in panel style, without the labels that
// neighbours share.
func (g *Grid) panels(width vg.Length) [][]*plot.Plot {
	rows := make([][]*plot.Plot, g.rows())
	sameX, sameY := g.sameX(), g.sameY()
	for i := range rows {
		rows[i] = make([]*plot.Plot, g.Cols)
	}
	for i, f := range g.Figures {
		if f == nil {
			continue
		}
		p := *f.Plot
		p.Title.TextStyle.Font.Size = min(p.Title.TextStyle.Font.Size, 9)
		p.Title.Padding = min(p.Title.Padding, 3)
		p.Title.Text = wrap(p.Title.Text, p.Title.TextStyle, width)
		for _, a := range []*plot.Axis{&p.X, &p.Y} {
			a.Label.TextStyle.Font.Size = min(a.Label.TextStyle.Font.Size, 9)
			a.Tick.Label.Font.Size = min(a.Tick.Label.Font.Size, 8)
			if _, ok := a.Tick.Marker.(ticks); ok {
				a.Tick.Marker = ticks{max(4, 7-g.Cols)}
			}
		}
		below := i + g.Cols
		if sameX && below < len(g.Figures) && g.Figures[below] != nil {
			p.X.Label.Text, p.X.Tick.Label.Font.Size = "", 0
		}
		if sameY && i%g.Cols > 0 && g.Figures[i-1] != nil {
			p.Y.Label.Text, p.Y.Tick.Label.Font.Size = "", 0
		}
		rows[i/g.Cols][i%g.Cols] = &p
	}
	return rows
}

// drawKey draws the legend entries of all panels, each name once, in lines at the
// bottom of c and returns the height they take.
func (g *Grid) drawKey(c draw.Canvas, sty text.Style) vg.Length {
	const thumb, gap = 18, 12
	var lines [][]Entry
	var x vg.Length
	seen := map[string]bool{}
	width := func(e Entry) vg.Length { return thumb + 3 + sty.Width(e.Name) }
	for _, f := range g.Figures {
		if f == nil || f.Key == KeyNone {
			continue
		}
		for _, e := range f.entries() {
			if seen[e.Name] {
				continue
			}
			seen[e.Name] = true
			if w := width(e); len(lines) == 0 || x+gap+w > c.Size().X {
				lines, x = append(lines, []Entry{e}), w
			} else {
				lines[len(lines)-1] = append(lines[len(lines)-1], e)
				x += gap + w
			}
		}
	}
	height := sty.Height("x") + 3
	for i, line := range lines {
		total := vg.Length(len(line)-1) * gap
		for _, e := range line {
			total += width(e)
		}
		x, y := c.Center().X-total/2, c.Min.Y+vg.Length(len(lines)-1-i)*height+2
		for _, e := range line {
			e.Thumb.Thumbnail(&draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: x, Y: y},
				Max: vg.Point{X: x + thumb, Y: y + height - 3},
			}})
			c.FillText(sty, vg.Point{X: x + thumb + 3, Y: y + sty.FontExtents().Descent}, e.Name)
			x += width(e) + gap
		}
	}
	if len(lines) == 0 {
		return 0
	}
	return vg.Length(len(lines))*height + 6
}

// sentences joins what is not empty, each with a full stop.
func sentences(parts ...string) string {
	var out []string
	for _, p := range parts {
		p = strings.Join(strings.Fields(p), " ")
		if p == "" {
			continue
		}
		if !strings.HasSuffix(p, ".") && !strings.HasSuffix(p, "?") && !strings.HasSuffix(p, "!") {
			p += "."
		}
		out = append(out, p)
	}
	return strings.Join(out, " ")
}
