package show

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/draw"
	"strconv"
	"strings"

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
	if !active() {
		return
	}
	page, text, err := framesHTML(label, frames)
	if err != nil {
		panic(err)
	}
	HTML(page, text)
}

// framesPage has places for what is in capitals. (A template engine would make every
// cell slower to link.)
//
//go:embed frames.html
var framesPage string

type frame struct {
	Alt string `json:"alt"`
	PNG string `json:"png"` // base64
}

func framesHTML[P plots.Picture](label string, frames []P) (page, text string, err error) {
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
	hash := sha256.New()
	fmt.Fprintln(hash, label)
	var all []frame
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
		all = append(all, frame{alt, base64.StdEncoding.EncodeToString(png)})
	}
	first, last := all[0], len(all)-1
	layers := append([]frame{{Alt: first.Alt}}, all[1:]...)
	script, err := json.Marshal(layers) // escapes < and >, so the script does not end early
	if err != nil {
		return "", "", err
	}
	title, err := json.Marshal(label)
	if err != nil {
		return "", "", err
	}
	page = strings.NewReplacer(
		"ID", fmt.Sprintf("frames-%x", hash.Sum(nil)[:6]),
		"WIDTH", strconv.Itoa(size.Dx()),
		"HEIGHT", strconv.Itoa(size.Dy()),
		"LAST", strconv.Itoa(last),
		"FIRST_PNG", first.PNG,
		"FIRST_ALT", html.EscapeString(first.Alt),
		"LABEL_HTML", html.EscapeString(label),
		"LABEL_JS", string(title),
		"FRAMES", string(script),
	).Replace(strings.TrimSpace(framesPage))
	text = fmt.Sprintf("Slider over %d pictures, %s 0 to %d. First: %s", len(all), label, last, first.Alt)
	if last > 0 {
		text += " Last: " + all[last].Alt
	}
	return page, text, nil
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
