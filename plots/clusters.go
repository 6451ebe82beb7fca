package plots

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Clusters draws the points of a data set, each with the colour and shape of its
// label.
type Clusters struct {
	Points plotter.XYs
	Labels []int // −1 = none, drawn grey

	// Names are the legend entries of labels 0, 1, …; nil means "cluster 0" and so
	// on. With one label or more than ten there is no legend.
	Names []string

	// Radius of the glyphs on a figure of the usual size, smaller by default the more
	// points there are. On smaller panels the glyphs shrink.
	Radius vg.Length

	// Glyph returns the style of a label, by default that of [Glyph].
	Glyph func(label int) draw.GlyphStyle

	colours []color.NRGBA // one per point instead of the labels' colours, or nil
}

// NewClusters returns the points of x, n×2 (of further columns see [Columns]), in
// the colours of their labels. Labels count from zero; −1 is no label, and nil
// labels are all −1.
func NewClusters(x mat.Matrix, labels []int) (*Clusters, error) {
	const mark = "clusters"
	if err := checkMatrix(mark, x, 2); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	if labels != nil && len(labels) != n {
		return nil, &ShapeError{mark, fmt.Sprintf("%d rows but %d labels; give one label per row", n, len(labels))}
	}
	c := &Clusters{
		Points: make(plotter.XYs, n),
		Labels: make([]int, n),
		Radius: vg.Length(min(max(45/math.Sqrt(float64(n)), 1.5), 2.8)),
		Glyph:  Glyph,
	}
	for i := range n {
		c.Points[i] = plotter.XY{X: x.At(i, 0), Y: x.At(i, 1)}
		c.Labels[i] = -1
		if labels != nil {
			c.Labels[i] = labels[i]
		}
		if c.Labels[i] < -1 {
			return nil, &ShapeError{mark, fmt.Sprintf("row %d has label %d; labels count from 0, and −1 is none", i, labels[i])}
		}
	}
	return c, nil
}

// NewSoftClusters returns the points of x, n×2, with the shape of their most
// probable cluster and the colours of all clusters mixed in proportion to the
// posterior, n×k.
func NewSoftClusters(x, posterior mat.Matrix) (*Clusters, error) {
	const mark = "soft clusters"
	if err := checkMatrix(mark, x, 2); err != nil {
		return nil, err
	}
	if posterior == nil {
		return nil, noData(mark)
	}
	n, _ := x.Dims()
	m, k := posterior.Dims()
	if m != n {
		return nil, &ShapeError{mark, fmt.Sprintf("%d rows but %d rows of posterior", n, m)}
	}
	if err := checkMatrix(mark+": posterior", posterior, k); err != nil {
		return nil, err
	}
	labels := make([]int, n)
	colours := make([]color.NRGBA, n)
	for i := range n {
		var rgb [3]float64
		total := 0.0
		for j := range k {
			p := posterior.At(i, j)
			if p < 0 {
				return nil, &ShapeError{mark, fmt.Sprintf("row %d, column %d of the posterior is %v; probabilities are not negative", i, j, p)}
			}
			if p > posterior.At(i, labels[i]) {
				labels[i] = j
			}
			c := Color(j)
			rgb[0] += p * float64(c.R)
			rgb[1] += p * float64(c.G)
			rgb[2] += p * float64(c.B)
			total += p
		}
		if total == 0 {
			return nil, &ShapeError{mark, fmt.Sprintf("row %d of the posterior is all zero", i)}
		}
		u := func(v float64) uint8 { return uint8(math.Round(v / total)) }
		colours[i] = color.NRGBA{u(rgb[0]), u(rgb[1]), u(rgb[2]), 255}
	}
	c, err := NewClusters(x, labels)
	if err != nil {
		return nil, err
	}
	c.colours = colours
	return c, nil
}

// Plot implements plot.Plotter. Points are drawn in the order of the rows, so no
// cluster lies on top of another as a whole.
func (c *Clusters) Plot(dc draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&dc)
	shrink := shrink(dc)
	for i, pt := range c.Points {
		sty := c.style(c.Labels[i])
		sty.Radius *= shrink
		if c.colours != nil {
			sty.Color = c.colours[i]
		}
		dc.DrawGlyph(sty, vg.Point{X: x(pt.X), Y: y(pt.Y)})
	}
}

// shrink returns the factor for the size of glyphs on c.
func shrink(c draw.Canvas) vg.Length {
	s := c.Size()
	area := float64(s.X * s.Y / (defaultWidth * defaultHeight))
	return vg.Length(min(max(math.Sqrt(area)*1.2, 0.6), 1))
}

func (c *Clusters) style(label int) draw.GlyphStyle {
	sty := c.Glyph(label)
	sty.Radius = c.Radius
	return sty
}

// DataRange implements plot.DataRanger.
func (c *Clusters) DataRange() (xmin, xmax, ymin, ymax float64) { return plotter.XYRange(c.Points) }

// GlyphBoxes implements plot.GlyphBoxer, so that no glyph is cut off.
func (c *Clusters) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	boxes := make([]plot.GlyphBox, len(c.Points))
	r := c.style(-1).Rectangle()
	for i, pt := range c.Points {
		boxes[i] = plot.GlyphBox{X: p.X.Norm(pt.X), Y: p.Y.Norm(pt.Y), Rectangle: r}
	}
	return boxes
}

// sizes returns the number of points with each label 0, 1, … and with none.
func (c *Clusters) sizes() (sizes []int, none int) {
	for _, l := range c.Labels {
		if l < 0 {
			none++
			continue
		}
		for l >= len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[l]++
	}
	return sizes, none
}

// Legend returns an entry per label.
func (c *Clusters) Legend() []Entry {
	sizes, none := c.sizes()
	if len(sizes) < 2 || len(sizes) > 10 {
		return nil
	}
	var es []Entry
	for k, n := range sizes {
		if n > 0 {
			es = append(es, Entry{c.name(k), c.thumb(k)})
		}
	}
	if none > 0 {
		es = append(es, Entry{"none", c.thumb(-1)})
	}
	return es
}

func (c *Clusters) name(label int) string {
	if c.Names != nil {
		if label < len(c.Names) {
			return c.Names[label]
		}
		return ""
	}
	return "cluster " + strconv.Itoa(label)
}

func (c *Clusters) thumb(label int) plot.Thumbnailer {
	sty := c.Glyph(label)
	sty.Radius = max(c.Radius, 2.2)
	return glyphThumb{sty}
}

// glyphThumb is the thumbnail of a single glyph.
type glyphThumb struct{ draw.GlyphStyle }

func (g glyphThumb) Thumbnail(c *draw.Canvas) { c.DrawGlyphNoClip(g.GlyphStyle, c.Center()) }

// Thumbnail implements plot.Thumbnailer with the glyphs of the first labels.
func (c *Clusters) Thumbnail(dc *draw.Canvas) {
	sizes, _ := c.sizes()
	n := min(max(len(sizes), 1), 3)
	for k := range n {
		label := k
		if len(sizes) == 0 {
			label = -1
		}
		w := dc.Size().X
		dc.DrawGlyphNoClip(c.style(label), vg.Point{X: dc.Min.X + w*(vg.Length(k)+0.5)/vg.Length(n), Y: dc.Center().Y})
	}
}

// Alt returns, for example, "272 points in two clusters of 97 and 175".
func (c *Clusters) Alt() string {
	sizes, none := c.sizes()
	s := count(len(c.Points), "point")
	if len(sizes) == 0 {
		return s + spread(c.Points)
	}
	parts := []string{}
	for k, n := range sizes {
		part := strconv.Itoa(n)
		if c.Names != nil {
			part = c.name(k) + " (" + part + ")"
		}
		parts = append(parts, part)
	}
	switch {
	case len(sizes) > 10:
		s += " in " + count(len(sizes), "cluster")
	default:
		s += " in " + count(len(sizes), "cluster") + " of " + list(parts)
	}
	if none > 0 {
		s += fmt.Sprintf("; %d without label", none)
	}
	if c.colours != nil {
		s += ", colours mixed by posterior probability"
	}
	return s
}

func spread(xy plotter.XYs) string {
	xmin, xmax, ymin, ymax := plotter.XYRange(xy)
	return fmt.Sprintf(", x from %s to %s, y from %s to %s", num(xmin), num(xmax), num(ymin), num(ymax))
}
