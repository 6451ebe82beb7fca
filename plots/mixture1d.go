package plots

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Mixture1D draws a mixture density in one dimension,
//
//	p(x) = Σ_k π_k p_k(x),
//
// its weighted components π_k p_k(x), and if wanted a histogram of data below.
type Mixture1D struct {
	Total      draw.LineStyle
	Components []draw.LineStyle // one per component, by default those of [Line]

	// Names are the legend entries of the components; nil means "component 0" and so
	// on. With more than ten components only the sum has an entry.
	Names []string

	// Bars fills the histogram.
	Bars color.Color

	weights []float64
	curves  []plotter.XYs // π_k p_k
	total   plotter.XYs
	data    int
	hist    []plotter.HistogramBin
}

// Normals returns Gaussian densities, for [NewMixture1D], with the given means and
// standard deviations. It panics if there are more of one than of the other.
func Normals(means, sds []float64) func(k int, x float64) float64 {
	if len(means) != len(sds) {
		panic(fmt.Sprintf("plots: Normals with %d means and %d standard deviations", len(means), len(sds)))
	}
	return func(k int, x float64) float64 {
		z := (x - means[k]) / sds[k]
		return math.Exp(-z*z/2) / (sds[k] * math.Sqrt(2*math.Pi))
	}
}

// NewMixture1D evaluates the density of every component k, which is to be
// normalised, at 401 points from lo to hi.
func NewMixture1D(weights []float64, component func(k int, x float64) float64, lo, hi float64) (*Mixture1D, error) {
	const mark = "mixture"
	if err := checkSlice(mark, weights); err != nil {
		return nil, err
	}
	if !finite(lo) || !finite(hi) || lo >= hi {
		return nil, &ShapeError{mark, fmt.Sprintf("the range from %v to %v is empty; give lo < hi", lo, hi)}
	}
	m := &Mixture1D{
		Total:   draw.LineStyle{Color: ink, Width: 2},
		Bars:    color.Gray{0xdd},
		weights: append([]float64(nil), weights...),
	}
	const n = 401
	m.total = make(plotter.XYs, n)
	for k, w := range weights {
		m.Components = append(m.Components, Line(k))
		curve := make(plotter.XYs, n)
		for i := range curve {
			x := lo + (hi-lo)*float64(i)/(n-1)
			v := w * component(k, x)
			if !finite(v) || v < 0 {
				return nil, &ValueError{fmt.Sprintf("%s: component %d", mark, k), []float64{x}, v}
			}
			curve[i] = plotter.XY{X: x, Y: v}
			m.total[i].X = x
			m.total[i].Y += v
		}
		m.curves = append(m.curves, curve)
	}
	return m, nil
}

// Histogram adds a histogram of data, scaled to area one, with the given number of
// bins.
func (m *Mixture1D) Histogram(data []float64, bins int) error {
	const mark = "mixture: histogram"
	if err := checkSlice(mark, data); err != nil {
		return err
	}
	if bins < 1 {
		return &ShapeError{mark, fmt.Sprintf("%d bins; give at least one", bins)}
	}
	h, err := plotter.NewHist(plotter.Values(data), bins)
	if err != nil {
		return fmt.Errorf("plots: %s: %w", mark, err)
	}
	h.Normalize(1)
	m.data, m.hist = len(data), h.Bins
	return nil
}

// Plot implements plot.Plotter.
func (m *Mixture1D) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, b := range m.hist {
		// The gap keeps bars of equal height apart.
		const gap = 0.4
		bar := []vg.Point{
			{X: x(b.Min) + gap, Y: y(0)}, {X: x(b.Max) - gap, Y: y(0)},
			{X: x(b.Max) - gap, Y: y(b.Weight)}, {X: x(b.Min) + gap, Y: y(b.Weight)},
		}
		c.FillPolygon(m.Bars, c.ClipPolygonXY(bar))
	}
	stroke := func(sty draw.LineStyle, xy plotter.XYs) {
		pts := make([]vg.Point, len(xy))
		for i, v := range xy {
			pts[i] = vg.Point{X: x(v.X), Y: y(v.Y)}
		}
		c.StrokeLines(sty, c.ClipLinesXY(pts)...)
	}
	stroke(m.Total, m.total)
	for k, curve := range m.curves {
		stroke(m.Components[k], curve)
	}
}

// DataRange implements plot.DataRanger. The density axis starts at zero.
func (m *Mixture1D) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, _, ymax = plotter.XYRange(m.total)
	for _, b := range m.hist {
		xmin, xmax, ymax = min(xmin, b.Min), max(xmax, b.Max), max(ymax, b.Weight)
	}
	return xmin, xmax, 0, ymax
}

// Legend returns an entry for the sum and for each component.
func (m *Mixture1D) Legend() []Entry {
	es := []Entry{{"mixture", lineThumb{m.Total}}}
	if len(m.curves) <= 10 {
		for k := range m.curves {
			name := "component " + strconv.Itoa(k)
			if m.Names != nil {
				name = ""
				if k < len(m.Names) {
					name = m.Names[k]
				}
			}
			es = append(es, Entry{name, lineThumb{m.Components[k]}})
		}
	}
	return es
}

// Thumbnail implements plot.Thumbnailer with the line of the sum.
func (m *Mixture1D) Thumbnail(c *draw.Canvas) { lineThumb{m.Total}.Thumbnail(c) }

// Alt returns, for example, "mixture of two components with weights 0.3 and 0.7,
// peaks of 0.2 at −1 and 0.3 at 2; histogram of 200 values".
func (m *Mixture1D) Alt() string {
	s := "mixture of " + count(len(m.weights), "component")
	if len(m.weights) <= 10 {
		s += " with weights " + nums(m.weights)
	}
	var peaks []string
	for i := 1; i < len(m.total)-1; i++ {
		if v := m.total[i]; m.total[i-1].Y < v.Y && v.Y >= m.total[i+1].Y {
			peaks = append(peaks, num(v.Y)+" at "+num(v.X))
		}
	}
	switch {
	case len(peaks) == 1:
		s += ", peak of " + peaks[0]
	case len(peaks) > 1:
		s += ", peaks of " + list(peaks)
	}
	if m.data > 0 {
		s += fmt.Sprintf("; histogram of %d values", m.data)
	}
	return s
}
