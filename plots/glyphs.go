package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shapes are solid, as outlines are hard to see when small.
var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	star(90, 1.25, 1.25, 1.25),      // triangle
	star(45, 1.2, 1.2, 1.2, 1.2),    // square
	star(0, 1.25, 1.25, 1.25, 1.25), // diamond
	star(-90, 1.25, 1.25, 1.25),
	plus(0),
	plus(45),
	star(90, 1.4, 0.6, 1.4, 0.6, 1.4, 0.6, 1.4, 0.6, 1.4, 0.6),
}

// polygon is a solid glyph with the given corners for a radius of one.
type polygon []vg.Point

// DrawGlyph implements draw.GlyphDrawer.
func (g polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	var p vg.Path
	for i, corner := range g {
		at := pt.Add(corner.Scale(sty.Radius))
		if i == 0 {
			p.Move(at)
		} else {
			p.Line(at)
		}
	}
	p.Close()
	c.Fill(p)
}

// star returns the polygon whose corners lie at equal angles, the first at the given
// angle in degrees, and at the given distances from the centre.
func star(angle float64, radii ...float64) polygon {
	var g polygon
	for i, r := range radii {
		sin, cos := math.Sincos(angle*math.Pi/180 + 2*math.Pi*float64(i)/float64(len(radii)))
		g = append(g, vg.Point{X: vg.Length(r * cos), Y: vg.Length(r * sin)})
	}
	return g
}

// plus returns a cross with thick arms, turned by an angle in degrees.
func plus(angle float64) polygon {
	const long, wide = 1.2, 0.42
	sin, cos := math.Sincos(angle * math.Pi / 180)
	var g polygon
	for _, p := range [][2]float64{
		{long, -wide}, {long, wide}, {wide, wide}, {wide, long}, {-wide, long}, {-wide, wide},
		{-long, wide}, {-long, -wide}, {-wide, -wide}, {-wide, -long}, {wide, -long}, {wide, -wide},
	} {
		g = append(g, vg.Point{X: vg.Length(cos*p[0] - sin*p[1]), Y: vg.Length(sin*p[0] + cos*p[1])})
	}
	return g
}
