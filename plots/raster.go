package plots

import (
	"image"
	"image/color"

	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Images are drawn in whole device pixels of a PNG of resolution DPI, so that a
// backend has nothing to smooth.

func pixel(l vg.Length) int { return int(l.Dots(DPI) + 0.5) }

func length(px int) vg.Length { return vg.Length(px) * vg.Inch / DPI }

// drawImage draws img over r, each of its pixels a sharp rectangle.
func drawImage(c draw.Canvas, r vg.Rectangle, img image.Image) {
	x, y := pixel(r.Min.X), pixel(r.Min.Y)
	w, h := pixel(r.Max.X)-x, pixel(r.Max.Y)-y
	if w <= 0 || h <= 0 {
		return
	}
	var s xdraw.Scaler = xdraw.NearestNeighbor
	if b := img.Bounds(); b.Dx() > w || b.Dy() > h {
		s = xdraw.BiLinear
	}
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	s.Scale(dst, dst.Rect, img, img.Bounds(), xdraw.Src, nil)
	stamp(c, x, y, dst)
}

// drawField fills r, as far as c reaches, with the colours of a function on it; u
// and v run from 0 to 1, rightwards and upwards.
func drawField(c draw.Canvas, r vg.Rectangle, at func(u, v float64) color.NRGBA) {
	x, y := max(pixel(r.Min.X), pixel(c.Min.X)), max(pixel(r.Min.Y), pixel(c.Min.Y))
	w, h := min(pixel(r.Max.X), pixel(c.Max.X))-x, min(pixel(r.Max.Y), pixel(c.Max.Y))-y
	if w <= 0 || h <= 0 {
		return
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for j := range h {
		v := float64((length(y+j) + length(1)/2 - r.Min.Y) / r.Size().Y)
		for i := range w {
			u := float64((length(x+i) + length(1)/2 - r.Min.X) / r.Size().X)
			img.SetNRGBA(i, h-1-j, at(min(max(u, 0), 1), min(max(v, 0), 1)))
		}
	}
	stamp(c, x, y, img)
}

func stamp(c draw.Canvas, x, y int, img image.Image) {
	b := img.Bounds()
	c.DrawImage(vg.Rectangle{
		Min: vg.Point{X: length(x), Y: length(y)},
		Max: vg.Point{X: length(x + b.Dx()), Y: length(y + b.Dy())},
	}, img)
}
