package plots

import (
	"encoding/hex"
	"image/color"
	"math"

	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// okabeIto lists the eight colours of Okabe and Ito (2008), "Color Universal
// Design", in their order.
var okabeIto = [8]color.NRGBA{
	{0, 0, 0, 255},       // black
	{230, 159, 0, 255},   // orange
	{86, 180, 233, 255},  // sky blue
	{0, 158, 115, 255},   // bluish green
	{240, 228, 66, 255},  // yellow
	{0, 114, 178, 255},   // blue
	{213, 94, 0, 255},    // vermilion
	{204, 121, 167, 255}, // reddish purple
}

// order puts the strongest contrasts on white first and yellow, the weakest, near
// the end.
var order = [8]int{5, 6, 3, 7, 1, 2, 0, 4}

// grey marks what has no label.
var grey = color.NRGBA{140, 140, 140, 255}

type colors []color.Color

func (c colors) Colors() []color.Color { return c }

// OkabeIto returns the eight colours of Okabe and Ito (2008), which readers with
// any common kind of colour blindness can tell apart, in the order of [Color].
func OkabeIto() palette.Palette {
	c := make(colors, len(order))
	for k := range c {
		c[k] = Color(k)
	}
	return c
}

// Color returns the colour of category k: blue, vermilion, green, purple, orange,
// sky blue, black, yellow and again from the start. A negative k, no category, is
// grey.
func Color(k int) color.NRGBA {
	if k < 0 {
		return grey
	}
	return okabeIto[order[k%len(order)]]
}

// Light returns a tint of Color(k) that is light enough to draw on.
func Light(k int) color.NRGBA { return mix(color.NRGBA{255, 255, 255, 255}, Color(k), 0.25) }

// mix returns (1−t)a + tb.
func mix(a, b color.NRGBA, t float64) color.NRGBA {
	f := func(a, b uint8) uint8 { return uint8(math.Round((1-t)*float64(a) + t*float64(b))) }
	return color.NRGBA{f(a.R, b.R), f(a.G, b.G), f(a.B, b.B), f(a.A, b.A)}
}

var dashes = [][]vg.Length{
	nil,
	{5, 2.5},
	{1.5, 2},
	{7, 2, 1.5, 2},
	{10, 3},
	{3, 1.5, 1, 1.5, 1, 1.5},
}

// Line returns the line style of category k, with its own colour and dashes.
func Line(k int) draw.LineStyle {
	return draw.LineStyle{Color: Color(k), Width: 1.5, Dashes: dashes[max(k, 0)%len(dashes)]}
}

// Glyph returns the glyph style of category k, with its own colour and shape, all
// solid: no two of the first 64 categories look the same. No category is a grey dot.
func Glyph(k int) draw.GlyphStyle {
	n := len(shapes)
	shape := shapes[0]
	if k > 0 {
		shape = shapes[(k%n+k/n)%n]
	}
	return draw.GlyphStyle{Color: Color(k), Radius: 2.5, Shape: shape}
}

// Viridis returns the colour map viridis over [0, 1]: dark blue, green, yellow,
// with lightness growing evenly.
func Viridis() palette.ColorMap { return newRamp(table(viridisTable)...) }

// Cividis returns the colour map cividis over [0, 1]: dark blue, grey, yellow,
// which looks almost the same with and without red-green colour blindness.
func Cividis() palette.ColorMap { return newRamp(table(cividisTable)...) }

// Ramp returns a colour map over [0, 1] that passes evenly through the given
// colours, at least two.
func Ramp(cs ...color.Color) palette.ColorMap {
	if len(cs) < 2 {
		panic("plots: a ramp needs at least two colours")
	}
	stops := make([]color.NRGBA, len(cs))
	for i, c := range cs {
		stops[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	return newRamp(stops...)
}

func table(s string) []color.NRGBA {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err) // the tables are constants
	}
	cs := make([]color.NRGBA, len(b)/3)
	for i := range cs {
		cs[i] = color.NRGBA{b[3*i], b[3*i+1], b[3*i+2], 255}
	}
	return cs
}

// ramp interpolates between evenly spaced stops; it implements palette.ColorMap.
type ramp struct {
	stops           []color.NRGBA
	min, max, alpha float64
}

func newRamp(stops ...color.NRGBA) *ramp { return &ramp{stops: stops, max: 1, alpha: 1} }

func (r *ramp) At(v float64) (color.Color, error) {
	switch {
	case math.IsNaN(v):
		return nil, palette.ErrNaN
	case v < r.min:
		return nil, palette.ErrUnderflow
	case v > r.max:
		return nil, palette.ErrOverflow
	}
	t := 0.0
	if r.max > r.min {
		t = (v - r.min) / (r.max - r.min) * float64(len(r.stops)-1)
	}
	i := min(int(t), len(r.stops)-2)
	c := mix(r.stops[i], r.stops[i+1], t-float64(i))
	c.A = uint8(math.Round(float64(c.A) * r.alpha))
	return c, nil
}

func (r *ramp) Max() float64     { return r.max }
func (r *ramp) SetMax(v float64) { r.max = v }
func (r *ramp) Min() float64     { return r.min }
func (r *ramp) SetMin(v float64) { r.min = v }
func (r *ramp) Alpha() float64   { return r.alpha }
func (r *ramp) SetAlpha(a float64) {
	if !(0 <= a && a <= 1) {
		panic("plots: alpha must be between 0 and 1")
	}
	r.alpha = a
}

func (r *ramp) Palette(n int) palette.Palette {
	c := make(colors, n)
	for i := range c {
		t := 0.0
		if n > 1 {
			t = float64(i) / float64(n-1)
		}
		c[i], _ = r.At(min(max((1-t)*r.min+t*r.max, r.min), r.max))
	}
	return c
}
