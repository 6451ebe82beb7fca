package show

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"strings"
	"text/template"

	"github.com/latent-lessons/latent/plots"
)

// Frames shows pictures one at a time, with a slider and a button to play them. The
// label names what the slider counts, from 0: "iteration". Figures of one animation
// should have the same axes; see [plots.ShareAxes].
//
// The HTML needs nothing but itself: it works in Jupyter, in VS Code, on nbviewer and
// in exported HTML and slides, with the keyboard too, and every frame has its own
// description. Where scripts do not run, as in a notebook that is not trusted, the
// first frame is seen. Each frame holds only what has changed since the one before.
func Frames[P plots.Picture](label string, frames ...P) {
	pictures := make([]plots.Picture, len(frames))
	for i, f := range frames {
		pictures[i] = f
	}
	html, text, err := framesHTML(label, pictures)
	if err != nil {
		panic(err)
	}
	HTML(html, text)
}

//go:embed frames.html
var framesSource string

var framesTemplate = template.Must(template.New("frames").Funcs(template.FuncMap{
	"html": template.HTMLEscapeString,
	"js":   template.JSEscapeString,
}).Parse(framesSource))

type frame struct {
	Alt, PNG string // base64
}

func framesHTML[P plots.Picture](label string, frames []P) (html, text string, err error) {
	if len(frames) == 0 {
		return "", "", fmt.Errorf("show: frames: %w", plots.ErrNoData)
	}
	images := make([]*image.RGBA, len(frames))
	var size image.Rectangle
	for i, f := range frames {
		if images[i], err = f.Image(); err != nil {
			return "", "", fmt.Errorf("show: frame %d: %w", i, err)
		}
		size = size.Union(images[i].Rect)
	}
	data := struct {
		ID, Label     string
		Width, Height int
		Last          int
		Frames        []frame
	}{Label: label, Width: size.Dx(), Height: size.Dy(), Last: len(frames) - 1}
	hash := sha256.New()
	fmt.Fprintln(hash, label)
	var before *image.RGBA
	for i, img := range images {
		img = extend(img, size)
		full := img
		if i > 0 {
			img = changes(before, full)
		}
		before = full
		png, err := plots.EncodePNG(img)
		if err != nil {
			return "", "", err
		}
		alt := frames[i].Alt()
		hash.Write(png)
		fmt.Fprintln(hash, alt)
		data.Frames = append(data.Frames, frame{alt, base64.StdEncoding.EncodeToString(png)})
	}
	data.ID = fmt.Sprintf("frames-%x", hash.Sum(nil)[:6])
	var b bytes.Buffer
	if err := framesTemplate.Execute(&b, data); err != nil {
		return "", "", err
	}
	text = fmt.Sprintf("Slider over %d pictures, %s 0 to %d. First: %s", len(frames), label, data.Last, data.Frames[0].Alt)
	if data.Last > 0 {
		text += " Last: " + data.Frames[data.Last].Alt
	}
	return strings.TrimSpace(b.String()), text, nil
}

// extend returns img on white if it is smaller than size.
func extend(img *image.RGBA, size image.Rectangle) *image.RGBA {
	if img.Rect == size {
		return img
	}
	out := image.NewRGBA(size)
	draw.Draw(out, size, image.White, image.Point{}, draw.Src)
	draw.Draw(out, img.Rect, img, img.Rect.Min, draw.Src)
	return out
}

// changes returns the pixels of b that differ from a, on transparent ground.
func changes(a, b *image.RGBA) *image.RGBA {
	out := image.NewRGBA(b.Rect)
	for y := b.Rect.Min.Y; y < b.Rect.Max.Y; y++ {
		for x := b.Rect.Min.X; x < b.Rect.Max.X; x++ {
			c := b.RGBAAt(x, y)
			if c == a.RGBAAt(x, y) {
				c = color.RGBA{}
			}
			out.SetRGBA(x, y, c)
		}
	}
	return out
}
