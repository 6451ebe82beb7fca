package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Images draws images side by side in a grid, row by row from the top. It belongs
// into a [Bare] figure.
type Images struct {
	// Cols is the number of images in a row.
	Cols int

	// Captions are put under the images; there may be fewer than images.
	Captions []string

	// TextStyle is that of the captions.
	TextStyle text.Style

	// Border is drawn around every image.
	Border draw.LineStyle

	// Min and Max are the values shown as black and white, by default the range of
	// the data; values beyond them are shown as the nearer of the two. Invert swaps
	// black and white. Colors, if not nil, replaces the greys. None of these matters
	// for the images of NewPictures.
	Min, Max float64
	Invert   bool
	Colors   palette.ColorMap

	w, h     int         // of a cell in pixels
	values   [][]float64 // w×h each, row by row from the top, or
	pictures []image.Image
}

// NewImages returns the rows of x, n×(w·h), as grey images with w columns and h
// rows of pixels, stored row by row from the top left.
func NewImages(x mat.Matrix, w, h int) (*Images, error) {
	const mark = "images"
	if x == nil {
		return nil, noData(mark)
	}
	n, d := x.Dims()
	if n > 0 && (w < 1 || h < 1 || d != w*h) {
		return nil, &ShapeError{mark, fmt.Sprintf("%d columns are not %d×%d pixels", d, w, h)}
	}
	if err := checkMatrix(mark, x, d); err != nil {
		return nil, err
	}
	m := newImages(n, w, h)
	m.Min, m.Max = math.Inf(1), math.Inf(-1)
	for i := range n {
		row := mat.Row(nil, i, x)
		for _, v := range row {
			m.Min, m.Max = min(m.Min, v), max(m.Max, v)
		}
		m.values = append(m.values, row)
	}
	return m, nil
}

// NewPictures returns images, in colour or not, side by side. Smaller ones are
// drawn in the middle of a cell of the largest one's size.
func NewPictures(pictures ...image.Image) (*Images, error) {
	const mark = "pictures"
	if len(pictures) == 0 {
		return nil, noData(mark)
	}
	w, h := 0, 0
	for i, p := range pictures {
		if p == nil || p.Bounds().Empty() {
			return nil, fmt.Errorf("plots: %s: image %d: %w", mark, i, ErrNoData)
		}
		w, h = max(w, p.Bounds().Dx()), max(h, p.Bounds().Dy())
	}
	m := newImages(len(pictures), w, h)
	m.pictures = append(m.pictures, pictures...)
	return m, nil
}

func newImages(n, w, h int) *Images {
	house := New("", "", "")
	m := &Images{
		w: w, h: h,
		TextStyle: house.Legend.TextStyle,
		Border:    draw.LineStyle{Color: gridGrey, Width: 0.75},
	}
	m.Cols = columns(n, float64(w)/float64(h))
	m.TextStyle.XAlign, m.TextStyle.YAlign = draw.XCenter, draw.YTop
	return m
}

// columns returns the number of columns with which n images of the given aspect
// come out largest on a figure of the usual size or, if they come out nearly as
// large, that which leaves the fewest gaps.
func columns(n int, aspect float64) int {
	scale := func(cols int) float64 {
		rows := (n + cols - 1) / cols
		return min(float64(defaultWidth)/(float64(cols)*aspect), float64(defaultHeight)/float64(rows))
	}
	largest := 0.0
	for cols := 1; cols <= n; cols++ {
		largest = max(largest, scale(cols))
	}
	best := n
	gaps := func(cols int) int { return (n+cols-1)/cols*cols - n }
	for cols := n; cols >= 1; cols-- {
		if scale(cols) < 0.75*largest {
			continue
		}
		if scale(best) < 0.75*largest || gaps(cols) < gaps(best) || gaps(cols) == gaps(best) && scale(cols) > scale(best) {
			best = cols
		}
	}
	return best
}

func (m *Images) len() int { return max(len(m.values), len(m.pictures)) }

// pitch returns the distance between images in units of the axes, which are the
// images' pixels. Captions need more where the images are small on the figure.
func (m *Images) pitch() (dx, dy float64) {
	gap := 0.06 * float64(max(m.w, m.h))
	dx, dy = float64(m.w)+gap, float64(m.h)+gap
	if len(m.Captions) > 0 {
		unit := dx * float64(m.Cols) / float64(defaultWidth)
		dy += float64(m.TextStyle.Height("x")+2) * unit
	}
	return dx, dy
}

// DataRange implements plot.DataRanger.
func (m *Images) DataRange() (xmin, xmax, ymin, ymax float64) {
	dx, dy := m.pitch()
	rows := (m.len() + m.Cols - 1) / m.Cols
	return 0, dx * float64(min(m.Cols, m.len())), -dy * float64(rows), 0
}

// Plot implements plot.Plotter.
func (m *Images) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	dx, dy := m.pitch()
	for i := range m.len() {
		img := m.image(i)
		// The corner of the cell, and in it the image in the middle.
		cx := dx*float64(i%m.Cols) + (dx-float64(m.w))/2
		cy := -dy * float64(i/m.Cols)
		w, h := float64(img.Bounds().Dx()), float64(img.Bounds().Dy())
		left, top := cx+(float64(m.w)-w)/2, cy-(float64(m.h)-h)/2
		r := vg.Rectangle{
			Min: vg.Point{X: x(left), Y: y(top - h)},
			Max: vg.Point{X: x(left + w), Y: y(top)},
		}
		drawImage(c, r, img)
		if m.Border.Width > 0 {
			c.StrokeLines(m.Border, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}, r.Min})
		}
		if i < len(m.Captions) {
			c.FillText(m.TextStyle, vg.Point{X: x(cx + float64(m.w)/2), Y: y(cy-float64(m.h)) - 1}, m.Captions[i])
		}
	}
}

func (m *Images) image(i int) image.Image {
	if m.pictures != nil {
		return m.pictures[i]
	}
	img := image.NewNRGBA(image.Rect(0, 0, m.w, m.h))
	for j, v := range m.values[i] {
		img.Set(j%m.w, j/m.w, m.colour(v))
	}
	return img
}

func (m *Images) colour(v float64) color.Color {
	t := 0.5 // constant images
	if m.Max > m.Min {
		t = min(max((v-m.Min)/(m.Max-m.Min), 0), 1)
	}
	if m.Invert {
		t = 1 - t
	}
	if m.Colors == nil {
		return color.Gray{uint8(math.Round(255 * t))}
	}
	lo, hi := m.Colors.Min(), m.Colors.Max()
	c, err := m.Colors.At(min(lo+t*(hi-lo), hi))
	if err != nil {
		return grey
	}
	return c
}

// Alt returns, for example, "ten images of 8×8 pixels, values from 0 to 16: zero,
// one …".
func (m *Images) Alt() string {
	s := fmt.Sprintf("%s of %s×%s pixels", count(m.len(), "image"), strconv.Itoa(m.w), strconv.Itoa(m.h))
	if m.pictures == nil {
		s += fmt.Sprintf(", values from %s to %s", num(m.Min), num(m.Max))
	}
	if n := len(m.Captions); 0 < n && n <= 20 {
		s += ": " + list(m.Captions)
	}
	return s
}
