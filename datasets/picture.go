package datasets

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Picture draws a colour picture of 160×120 pixels, a sunset over a mountain lake
// with a sailing boat: many soft shades and a few strong colours, for lessons that
// need a photograph. It is computed, not stored, and always the same. Like a
// photograph's, its colours are multiples of 1/255.
func Picture() *Pixels {
	const width, height = 160, 120
	const fine = 3 // each pixel is the mean of fine×fine points
	p := &Pixels{Width: width, Height: height, X: mat.NewDense(width*height, 3, nil)}
	for i := range width * height {
		var sum colour
		for s := range fine * fine {
			x := float64(i%width) + (float64(s%fine)+0.5)/fine
			y := float64(i/width) + (float64(s/fine)+0.5)/fine
			sum = sum.plus(landscape(x/height, y/height), 1)
		}
		row := p.X.RawRowView(i)
		for c := range row {
			row[c] = float64(quantise(sum[c]/(fine*fine))) / 255
		}
	}
	return p
}

// colour is red, green and blue from 0 to 1.
type colour [3]float64

// plus returns c + w·d.
func (c colour) plus(d colour, w float64) colour {
	for i := range c {
		c[i] += w * d[i]
	}
	return c
}

// mix goes from c at t = 0 to d at t = 1 in a straight line.
func (c colour) mix(d colour, t float64) colour {
	t = min(max(t, 0), 1)
	for i := range c {
		c[i] = (1-t)*c[i] + t*d[i]
	}
	return c
}

// The scene is 4/3 wide and 1 high, y goes down.
const (
	shore = 0.62 // the far end of the lake
	sunX  = 0.86
	sunY  = 0.44
)

// landscape returns the colour at the point (x, y).
func landscape(x, y float64) colour {
	if c, ok := boat(x, y); ok {
		return c
	}
	if y < shore {
		return mountains(x, y)
	}
	return lake(x, y)
}

// sky goes from dark blue over violet and orange to yellow, with the sun's glow.
func sky(x, y float64) colour {
	bands := []struct {
		y float64
		c colour
	}{
		{0.00, colour{0.10, 0.13, 0.34}},
		{0.22, colour{0.36, 0.27, 0.54}},
		{0.38, colour{0.84, 0.45, 0.46}},
		{0.50, colour{0.98, 0.68, 0.38}},
		{0.62, colour{1.00, 0.86, 0.56}},
	}
	c := bands[0].c
	for i, b := range bands[1:] {
		c = c.mix(b.c, (y-bands[i].y)/(b.y-bands[i].y))
	}
	wisp := math.Sin(9*x+3*math.Sin(5*x)+60*y) * math.Exp(-80*(y-0.2)*(y-0.2))
	c = c.mix(colour{0.95, 0.62, 0.62}, 0.35*max(wisp, 0))
	r := math.Hypot(x-sunX, y-sunY)
	c = c.mix(colour{1, 0.88, 0.60}, 0.8*math.Exp(-r*r/0.02))
	if r < 0.055 {
		return colour{1, 0.97, 0.84}
	}
	return c
}

// mountains stand in three chains before the sky, the nearer the darker.
func mountains(x, y float64) colour {
	chains := []struct {
		height, wide, rough float64
		phase               float64
		top, foot           colour
	}{
		{0.17, 4.1, 0.030, 0.3, colour{0.55, 0.42, 0.58}, colour{0.86, 0.62, 0.56}},
		{0.11, 6.3, 0.022, 2.1, colour{0.31, 0.29, 0.47}, colour{0.56, 0.43, 0.50}},
		{0.05, 9.7, 0.012, 4.0, colour{0.09, 0.17, 0.20}, colour{0.18, 0.25, 0.26}},
	}
	c := sky(x, y)
	for _, m := range chains {
		ridge := m.height*(0.62+0.38*math.Sin(m.wide*x+m.phase)) +
			m.rough*(math.Abs(math.Sin(4.3*m.wide*x))+0.5*math.Sin(11.9*m.wide*x+1))
		if h := shore - y; h < ridge {
			c = m.foot.mix(m.top, h/ridge)
		}
	}
	return c
}

// lake mirrors what is above it, broken by waves that grow towards the viewer.
func lake(x, y float64) colour {
	depth := (y - shore) / (1 - shore)
	wave := math.Sin(260*math.Pow(depth+0.03, 0.6)+5*math.Sin(7*x)) + 0.6*math.Sin(41*x+130*depth)
	mirrored := mountains(x+0.012*depth*wave, max(shore-1.5*(y-shore)-0.010*wave*(0.3+depth), 0))
	c := mirrored.mix(colour{0.07, 0.16, 0.30}, 0.22+0.45*depth)
	width := 0.035 + 0.10*depth
	glitter := math.Exp(-(x - sunX) * (x - sunX) / (width * width))
	return c.mix(colour{1, 0.85, 0.55}, 0.75*glitter*max(0.25+0.5*wave, 0))
}

// boat is a hull with a red and a white sail, and their reflection.
func boat(x, y float64) (colour, bool) {
	const mast, water = 0.34, 0.78
	u, h := x-mast, water-y
	ripple := 1.0
	if h < 0 { // below the water line: the mirror image, shorter and swaying
		u += 0.006 * math.Sin(190*y)
		h *= -1.6
		ripple = 0.45
	}
	var c colour
	switch {
	case h < 0.035 && math.Abs(u) < 0.085+0.9*h:
		c = colour{0.24, 0.12, 0.09}.mix(colour{0.45, 0.24, 0.14}, h/0.035)
	case h > 0.05 && h < 0.30 && u > 0.006 && u < 0.105*(0.30-h)/0.25:
		c = colour{0.80, 0.13, 0.12}.mix(colour{0.95, 0.34, 0.20}, u/0.105)
	case h > 0.05 && h < 0.26 && u < -0.006 && u > -0.075*(0.26-h)/0.21:
		c = colour{0.97, 0.94, 0.88}.mix(colour{0.78, 0.74, 0.78}, -u/0.075)
	case h < 0.31 && math.Abs(u) < 0.005:
		c = colour{0.20, 0.11, 0.09}
	default:
		return c, false
	}
	if ripple < 1 {
		c = lake(x, y).mix(c, ripple)
	}
	return c, true
}
