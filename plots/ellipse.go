package plots

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Ellipse draws a contour of a Gaussian in two dimensions, the points x with
//
//	(x − μ)ᵀ Σ⁻¹ (x − μ) = SD².
type Ellipse struct {
	X, Y           float64 // μ
	VarX, VarY     float64 // the diagonal of Σ
	Cov            float64 // its other element
	SD             float64 // radius in standard deviations, 2 by default
	draw.LineStyle         // solid black by default
}

// MassSD returns the radius in standard deviations within which a Gaussian in two
// dimensions has the given probability: 2.45 for 0.95.
func MassSD(p float64) float64 { return math.Sqrt(-2 * math.Log1p(-p)) }

// NewEllipse returns the ellipse of a mean of length 2 and a 2×2 covariance, which
// may be singular.
func NewEllipse(mean []float64, cov mat.Matrix) (*Ellipse, error) {
	const mark = "ellipse"
	if err := checkSlice(mark, mean); err != nil {
		return nil, err
	}
	if err := checkMatrix(mark+": covariance", cov, 2); err != nil {
		return nil, err
	}
	if r, c := cov.Dims(); len(mean) != 2 || r != 2 || c != 2 {
		return nil, &ShapeError{mark, fmt.Sprintf("mean of length %d and %d×%d covariance; choose two dimensions first", len(mean), r, c)}
	}
	e := &Ellipse{
		X: mean[0], Y: mean[1],
		VarX: cov.At(0, 0), VarY: cov.At(1, 1), Cov: cov.At(0, 1),
		SD:        2,
		LineStyle: draw.LineStyle{Color: ink, Width: 1.5},
	}
	// Rounding may leave a singular matrix slightly indefinite.
	if e.VarX < 0 || e.VarY < 0 || e.Cov*e.Cov > e.VarX*e.VarY*(1+1e-9) {
		return nil, &ShapeError{mark, fmt.Sprintf("[%v %v; %v %v] is not a covariance: it is not positive semi-definite",
			e.VarX, e.Cov, e.Cov, e.VarY)}
	}
	return e, nil
}

// Plot implements plot.Plotter.
func (e *Ellipse) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var pts []vg.Point
	for _, pt := range e.points() {
		pts = append(pts, vg.Point{X: x(pt.X), Y: y(pt.Y)})
	}
	c.StrokeLines(e.LineStyle, c.ClipLinesXY(pts)...)
}

// points returns the circle of radius SD mapped by a root of Σ, its Cholesky factor.
func (e *Ellipse) points() plotter.XYs {
	l11 := math.Sqrt(e.VarX)
	l21, l22 := 0.0, math.Sqrt(e.VarY)
	if l11 > 0 {
		l21 = e.Cov / l11
		l22 = math.Sqrt(max(e.VarY-l21*l21, 0))
	}
	const n = 120
	xy := make(plotter.XYs, n+1)
	for i := range xy {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / n)
		xy[i] = plotter.XY{X: e.X + e.SD*l11*cos, Y: e.Y + e.SD*(l21*cos+l22*sin)}
	}
	return xy
}

// DataRange implements plot.DataRanger.
func (e *Ellipse) DataRange() (xmin, xmax, ymin, ymax float64) {
	rx, ry := e.SD*math.Sqrt(e.VarX), e.SD*math.Sqrt(e.VarY)
	return e.X - rx, e.X + rx, e.Y - ry, e.Y + ry
}

// Thumbnail implements plot.Thumbnailer.
func (e *Ellipse) Thumbnail(c *draw.Canvas) { lineThumb{e.LineStyle}.Thumbnail(c) }

// Alt returns, for example, "ellipse at 2 sd around (2, 54), sd 0.3 and 6,
// correlation 0.4".
func (e *Ellipse) Alt() string {
	return fmt.Sprintf("ellipse at %s sd around %s", num(e.SD), e.moments())
}

func (e *Ellipse) moments() string {
	s := fmt.Sprintf("%s, sd %s and %s", point(e.X, e.Y), num(math.Sqrt(e.VarX)), num(math.Sqrt(e.VarY)))
	if e.Cov != 0 {
		s += ", correlation " + num(e.Cov/math.Sqrt(e.VarX*e.VarY))
	}
	return s
}

// Ellipses draws one ellipse per component of a mixture, with the colour and
// dashes of its number.
type Ellipses []*Ellipse

// NewEllipses returns the ellipses of the rows of means, k×2, and their 2×2
// covariances, of which there are k or one that all share.
func NewEllipses[M mat.Matrix](means mat.Matrix, covs []M) (Ellipses, error) {
	const mark = "ellipses"
	if err := checkMatrix(mark, means, 2); err != nil {
		return nil, err
	}
	k, d := means.Dims()
	if len(covs) != k && len(covs) != 1 {
		return nil, &ShapeError{mark, fmt.Sprintf("%d means but %d covariances; give one each or one for all", k, len(covs))}
	}
	es := make(Ellipses, k)
	for i := range es {
		e, err := NewEllipse(mat.Row(make([]float64, d), i, means), covs[min(i, len(covs)-1)])
		if err != nil {
			return nil, fmt.Errorf("component %d: %w", i, err)
		}
		e.LineStyle = Line(i)
		es[i] = e
	}
	return es, nil
}

// SetSD sets the radius of all ellipses in standard deviations.
func (es Ellipses) SetSD(sd float64) {
	for _, e := range es {
		e.SD = sd
	}
}

// Plot implements plot.Plotter.
func (es Ellipses) Plot(c draw.Canvas, p *plot.Plot) {
	for _, e := range es {
		e.Plot(c, p)
	}
}

// DataRange implements plot.DataRanger.
func (es Ellipses) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, e := range es {
		x0, x1, y0, y1 := e.DataRange()
		xmin, xmax, ymin, ymax = min(xmin, x0), max(xmax, x1), min(ymin, y0), max(ymax, y1)
	}
	return xmin, xmax, ymin, ymax
}

// Thumbnail implements plot.Thumbnailer with the first ellipse's line.
func (es Ellipses) Thumbnail(c *draw.Canvas) { es[0].Thumbnail(c) }

// Alt describes each ellipse.
func (es Ellipses) Alt() string {
	if len(es) == 0 {
		return ""
	}
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.moments()
	}
	return fmt.Sprintf("%s at %s sd: around %s",
		count(len(es), "ellipse"), num(es[0].SD), strings.Join(parts, "; around "))
}

// lineThumb is the thumbnail of a line.
type lineThumb struct{ draw.LineStyle }

func (l lineThumb) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(l.LineStyle, c.Min.X, y, c.Max.X, y)
}
