package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Centres draws cluster centres as crosses with a light rim, which stay visible on
// top of their points. Add them last.
type Centres struct {
	Points plotter.XYs
	Radius vg.Length

	// Color returns the colour of a centre; by default that of its cluster,
	// darkened.
	Color func(k int) color.Color

	// Name is the legend entry, "centre" by default.
	Name string
}

// NewCentres returns the rows of centres, k×2, as crosses.
func NewCentres(centres mat.Matrix) (*Centres, error) {
	if err := checkMatrix("centres", centres, 2); err != nil {
		return nil, err
	}
	k, _ := centres.Dims()
	c := &Centres{
		Points: make(plotter.XYs, k),
		Radius: 5,
		Color:  func(k int) color.Color { return mix(Color(k), color.NRGBA{0, 0, 0, 255}, 0.4) },
		Name:   "centre",
	}
	for i := range c.Points {
		c.Points[i] = plotter.XY{X: centres.At(i, 0), Y: centres.At(i, 1)}
	}
	return c, nil
}

// Plot implements plot.Plotter.
func (c *Centres) Plot(dc draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&dc)
	for k, pt := range c.Points {
		if at := (vg.Point{X: x(pt.X), Y: y(pt.Y)}); dc.Contains(at) {
			c.cross(dc, at, c.Radius*shrink(dc), c.Color(k))
		}
	}
}

func (c *Centres) cross(dc draw.Canvas, at vg.Point, radius vg.Length, col color.Color) {
	r := radius * math.Sqrt2 / 2
	for _, sty := range []draw.LineStyle{{Color: color.White, Width: 4.5}, {Color: col, Width: 2.2}} {
		grow := sty.Width / 5 // the rim also ends outside the cross
		for _, s := range []vg.Length{1, -1} {
			dc.StrokeLine2(sty, at.X-r-grow, at.Y-s*(r+grow), at.X+r+grow, at.Y+s*(r+grow))
		}
	}
}

// DataRange implements plot.DataRanger.
func (c *Centres) DataRange() (xmin, xmax, ymin, ymax float64) { return plotter.XYRange(c.Points) }

// GlyphBoxes implements plot.GlyphBoxer.
func (c *Centres) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	boxes := make([]plot.GlyphBox, len(c.Points))
	r := draw.GlyphStyle{Radius: c.Radius}.Rectangle()
	for i, pt := range c.Points {
		boxes[i] = plot.GlyphBox{X: p.X.Norm(pt.X), Y: p.Y.Norm(pt.Y), Rectangle: r}
	}
	return boxes
}

// Thumbnail implements plot.Thumbnailer.
func (c *Centres) Thumbnail(dc *draw.Canvas) {
	c.cross(*dc, dc.Center(), min(c.Radius, dc.Size().Y/2), ink)
}

// Legend returns one entry.
func (c *Centres) Legend() []Entry { return []Entry{{c.Name, c}} }

// Alt returns, for example, "centres at (2.04, 54.5) and (4.29, 80)".
func (c *Centres) Alt() string {
	if len(c.Points) > 10 {
		return count(len(c.Points), "centre") + spread(c.Points)
	}
	parts := make([]string, len(c.Points))
	for i, p := range c.Points {
		parts[i] = point(p.X, p.Y)
	}
	if len(parts) == 1 {
		return "centre at " + parts[0]
	}
	return "centres at " + list(parts)
}
