package plots

import (
	"image"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Key says where the legend goes.
type Key int

const (
	// KeyBest puts the legend in a corner where it covers no data or, when all four
	// corners are taken, to the right of the plot.
	KeyBest Key = iota
	// KeyRight puts the legend to the right of the plot.
	KeyRight
	// KeyFixed puts the legend where the fields of the plot's Legend say.
	KeyFixed
	// KeyNone draws no legend.
	KeyNone
)

// An Entry is a line of a legend.
type Entry struct {
	Name  string
	Thumb plot.Thumbnailer
}

// entries returns the legend entries of all marks, in order, each name once.
func (f *Figure) entries() []Entry {
	var es []Entry
	seen := map[string]bool{}
	add := func(e Entry) {
		if e.Name != "" && !seen[e.Name] {
			seen[e.Name] = true
			es = append(es, e)
		}
	}
	for _, m := range f.marks {
		thumb, ok := m.Plotter.(plot.Thumbnailer)
		if ok && m.name != "" {
			add(Entry{m.name, thumb})
			continue
		}
		if l, ok := m.Plotter.(interface{ Legend() []Entry }); ok {
			for _, e := range l.Legend() {
				add(e)
			}
		}
	}
	return es
}

// legend returns the plot's legend with the entries of the marks.
func (f *Figure) legend() plot.Legend {
	l := f.Plot.Legend
	if f.Key != KeyFixed {
		l.Top, l.Left, l.XOffs, l.YOffs = true, true, 0, 0
	}
	for _, e := range f.entries() {
		l.Add(e.Name, e.Thumb)
	}
	return l
}

const keyMargin = vg.Length(4)

// keySize returns the room that a legend takes, zero if it is empty.
func keySize(l plot.Legend) (w, h vg.Length) {
	s := l.Rectangle(draw.Canvas{}).Size()
	if s.Y <= 0 {
		return 0, 0
	}
	descent := l.TextStyle.FontExtents().Descent
	return s.X + 2*keyMargin, s.Y + descent + 2*keyMargin
}

// drawKey draws a legend from the top left of c.
func drawKey(l plot.Legend, c draw.Canvas) {
	w, h := keySize(l)
	if h == 0 || c.Size().X <= 0 {
		return
	}
	c.Min.Y, c.Max.X = c.Max.Y-h, c.Min.X+w
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	l.Draw(draw.Crop(c, keyMargin, -keyMargin, keyMargin, -keyMargin))
}

// keySide returns the width to keep free on the right of c for the legend, or zero
// and the box in a corner of the plot to put it into, which is empty if there is no
// legend.
func (f *Figure) keySide(p *plot.Plot, c draw.Canvas) (side vg.Length, box vg.Rectangle) {
	w, h := keySize(f.legend())
	switch {
	case f.Key == KeyRight && max(w, f.room) > 0:
		return max(w, f.room) + keyMargin, box
	case f.Key != KeyBest || h == 0:
		return 0, box
	}
	box, ok := f.emptyCorner(p, c, w, h)
	if !ok {
		return w + keyMargin, box
	}
	return 0, box
}

// emptyCorner returns the first corner of the data area, from the top right, in
// which w×h points hold nothing but background. It looks at a small drawing of
// the data, so it works for every kind of plotter.
func (f *Figure) emptyCorner(p *plot.Plot, c draw.Canvas, w, h vg.Length) (vg.Rectangle, bool) {
	q := *p
	f.equalise(&q, c)
	const inset = 2
	d := q.DataCanvas(c)
	d.Rectangle = vg.Rectangle{
		Min: vg.Point{X: d.Min.X + inset, Y: d.Min.Y + inset},
		Max: vg.Point{X: d.Max.X - inset, Y: d.Max.Y - inset},
	}
	if w > d.Size().X/2 || h > d.Size().Y/2 {
		return vg.Rectangle{}, false
	}
	const dpi = 72 // one pixel per point
	img := vgimg.NewWith(vgimg.UseWH(c.Max.X, c.Max.Y), vgimg.UseDPI(dpi))
	data := draw.Canvas{Canvas: img, Rectangle: q.DataCanvas(c).Rectangle}
	for _, m := range f.marks {
		m.Plot(data, &q)
	}
	for _, min := range []vg.Point{
		{X: d.Max.X - w, Y: d.Max.Y - h},
		{X: d.Min.X, Y: d.Max.Y - h},
		{X: d.Max.X - w, Y: d.Min.Y},
		{X: d.Min.X, Y: d.Min.Y},
	} {
		r := vg.Rectangle{Min: min, Max: min.Add(vg.Point{X: w, Y: h})}
		if blank(img.Image(), r) {
			return r, true
		}
	}
	return vg.Rectangle{}, false
}

// blank reports whether r, in points, is white on img.
func blank(img image.Image, r vg.Rectangle) bool {
	height := img.Bounds().Dy()
	for y := int(r.Min.Y); y < int(r.Max.Y)+1; y++ {
		for x := int(r.Min.X); x < int(r.Max.X)+1; x++ {
			if r, g, b, _ := img.At(x, height-1-y).RGBA(); r&g&b != 0xffff {
				return false
			}
		}
	}
	return true
}
