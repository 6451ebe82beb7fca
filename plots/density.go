package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A LogProber is a density in two dimensions: LogProb returns log p(x) for x of
// length 2, up to a constant.
type LogProber interface {
	LogProb(x []float64) float64
}

// LogProbFunc makes a function a LogProber.
type LogProbFunc func(x []float64) float64

// LogProb returns f(x).
func (f LogProbFunc) LogProb(x []float64) float64 { return f(x) }

// Density draws a density over a box of the plane: shading in proportion to the
// density, and contours that enclose given shares of the probability in the box.
type Density struct {
	Box

	// Colors shades the density, from 0 at its zero to 1 at its maximum; nil draws
	// no shading. The default leads from white to grey, so that points of any colour
	// show on top.
	Colors palette.ColorMap

	// Mass lists the probabilities that the contours enclose, by default 0.5, 0.8 and
	// 0.95. The region inside is the smallest with that probability.
	Mass []float64

	draw.LineStyle // of the contours

	log  []float64 // log p(x) − max log p, row by row from the bottom left
	peak [2]float64
}

// densityNodes is the number of grid nodes along each side of a density's box.
const densityNodes = 121

// NewDensity evaluates p at 121×121 points of b.
func NewDensity(p LogProber, b Box) (*Density, error) {
	const mark = "density"
	if p == nil {
		return nil, noData(mark)
	}
	if err := b.check(mark); err != nil {
		return nil, err
	}
	d := &Density{
		Box:       b,
		Colors:    Ramp(color.White, color.Gray{0xa0}),
		Mass:      []float64{0.5, 0.8, 0.95},
		LineStyle: draw.LineStyle{Color: axisGrey, Width: 0.8},
		log:       make([]float64, densityNodes*densityNodes),
	}
	top := math.Inf(-1)
	x := make([]float64, 2)
	for i := range d.log {
		x[0], x[1] = d.node(i)
		v := p.LogProb(x)
		if math.IsNaN(v) || math.IsInf(v, 1) {
			x[0], x[1] = d.node(i)
			return nil, &ValueError{mark, x, v}
		}
		if v > top {
			top = v
			d.peak[0], d.peak[1] = d.node(i)
		}
		d.log[i] = v
	}
	if math.IsInf(top, -1) {
		return nil, &ShapeError{mark, fmt.Sprintf("the density is zero in all of %v; choose a box where it is not", b)}
	}
	for i, v := range d.log {
		d.log[i] = max(v-top, -700) // exp(−700) is about the smallest number above zero
	}
	return d, nil
}

func (d *Density) node(i int) (x, y float64) {
	u, v := float64(i%densityNodes)/(densityNodes-1), float64(i/densityNodes)/(densityNodes-1)
	return d.XMin + u*(d.XMax-d.XMin), d.YMin + v*(d.YMax-d.YMin)
}

// levels returns the log densities below which the given masses end.
func (d *Density) levels() []float64 {
	sorted := slices.SortedFunc(slices.Values(d.log), func(a, b float64) int { return cmp.Compare(b, a) })
	total := 0.0
	for _, l := range sorted {
		total += math.Exp(l)
	}
	levels := make([]float64, len(d.Mass))
	for i, m := range d.Mass {
		sum := 0.0
		for _, l := range sorted {
			levels[i] = l
			if sum += math.Exp(l); sum >= m*total {
				break
			}
		}
	}
	return levels
}

// Plot implements plot.Plotter.
func (d *Density) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if d.Colors != nil {
		r := vg.Rectangle{
			Min: vg.Point{X: x(d.XMin), Y: y(d.YMin)},
			Max: vg.Point{X: x(d.XMax), Y: y(d.YMax)},
		}
		const steps = 32 // few enough for a small file
		var shades [steps]color.NRGBA
		for i, col := range d.Colors.Palette(steps).Colors() {
			shades[i] = color.NRGBAModel.Convert(col).(color.NRGBA)
		}
		drawField(c, r, func(u, v float64) color.NRGBA {
			return shades[int(d.at(u, v)*(steps-1)+0.5)]
		})
	}
	for _, level := range d.levels() {
		lines := contours(densityNodes, densityNodes, func(i, j int) float64 { return d.log[j*densityNodes+i] }, level)
		strokeContours(c, p, d.Box, densityNodes, densityNodes, lines, d.LineStyle)
	}
}

// at returns the density relative to its maximum, between the nodes by bilinear
// interpolation of its logarithm.
func (d *Density) at(u, v float64) float64 {
	x, y := u*(densityNodes-1), v*(densityNodes-1)
	i, j := min(int(x), densityNodes-2), min(int(y), densityNodes-2)
	x, y = x-float64(i), y-float64(j)
	n := j*densityNodes + i
	return math.Exp((1-y)*((1-x)*d.log[n]+x*d.log[n+1]) + y*((1-x)*d.log[n+densityNodes]+x*d.log[n+densityNodes+1]))
}

// Thumbnail implements plot.Thumbnailer.
func (d *Density) Thumbnail(c *draw.Canvas) { lineThumb{d.LineStyle}.Thumbnail(c) }

// Alt returns, for example, "density with contours around 50, 80 and 95 % of the
// probability, highest at (2, 54)".
func (d *Density) Alt() string {
	s := "density"
	if len(d.Mass) > 0 {
		percent := make([]string, len(d.Mass))
		for i, m := range d.Mass {
			percent[i] = strconv.FormatFloat(100*m, 'g', 4, 64)
		}
		s += " with contours around " + list(percent) + " % of the probability"
	}
	return s + ", highest at " + point(d.peak[:]...)
}
