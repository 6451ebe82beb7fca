package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // a format that Image reads
	_ "image/png"  // a format that Image reads
	"io"
	"math"
	"os"

	"gonum.org/v1/gonum/mat"
)

// Pixels is a colour image as data: an observation per pixel.
type Pixels struct {
	X             *mat.Dense // (Width·Height)×3: red, green and blue from 0 to 1
	Width, Height int        // the pixel in column u of line v, from the top left, is row v·Width+u
}

// maxPixels limits an image to 400 MB as float64.
const maxPixels = 1 << 24

// Image reads a PNG or JPEG image. Grey values become equal parts of red, green
// and blue, and what is transparent shows white below. A colour v of 8 bits
// becomes v/255, so [Pixels.Image] gets an opaque 8-bit image back exactly.
//
// An image that is damaged, in another format, or larger than 2²⁴ pixels is a
// *[ParseError]. The size is checked before any pixel is decoded.
func Image(r io.Reader) (*Pixels, error) {
	in := &counter{r: bufio.NewReader(r)}
	var head bytes.Buffer
	config, _, err := image.DecodeConfig(io.TeeReader(in, &head))
	if err != nil {
		return nil, in.fault(err)
	}
	if err := checkSize(in.n, config.Width, config.Height); err != nil {
		return nil, err
	}
	again := &counter{r: bufio.NewReader(io.MultiReader(&head, in))}
	img, _, err := image.Decode(again)
	if err != nil {
		return nil, again.fault(err)
	}
	b := img.Bounds()
	if err := checkSize(again.n, b.Dx(), b.Dy()); err != nil {
		return nil, err
	}
	p := &Pixels{Width: b.Dx(), Height: b.Dy(), X: mat.NewDense(b.Dx()*b.Dy(), 3, nil)}
	values := p.X.RawMatrix().Data[:0]
	for v := b.Min.Y; v < b.Max.Y; v++ {
		for u := b.Min.X; u < b.Max.X; u++ {
			red, green, blue, alpha := img.At(u, v).RGBA() // already weighted by alpha
			white := 0xFFFF - alpha
			values = append(values, float64(red+white)/0xFFFF, float64(green+white)/0xFFFF, float64(blue+white)/0xFFFF)
		}
	}
	return p, nil
}

// ImageFile reads the image at path as [Image] does.
func ImageFile(path string) (*Pixels, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	p, err := Image(f)
	if err != nil {
		return nil, inFile(err, path)
	}
	return p, nil
}

// Image returns the pixels as an opaque image of 8 bits per colour. Values are
// rounded to the nearest of v/255, those outside 0 to 1 are clamped and NaN is
// black. It panics when X is not (Width·Height)×3.
func (p *Pixels) Image() *image.RGBA {
	if n, d := p.X.Dims(); n != p.Width*p.Height || d != 3 {
		panic(fmt.Sprintf("datasets: Pixels.Image: X is %d×%d for %d×%d pixels", n, d, p.Width, p.Height))
	}
	img := image.NewRGBA(image.Rect(0, 0, p.Width, p.Height))
	for i := range p.Width * p.Height {
		for c, v := range p.X.RawRowView(i) {
			img.Pix[4*i+c] = quantise(v)
		}
		img.Pix[4*i+3] = 0xFF
	}
	return img
}

// quantise rounds a colour from 0 to 1 to 8 bits.
func quantise(v float64) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(math.Round(255 * min(v, 1)))
}

// counter counts the bytes that a decoder has taken, and notes when it asked for
// more than there are. It has Peek so that package image does not wrap it in a
// buffer of its own.
type counter struct {
	r     *bufio.Reader
	n     int64
	ended bool
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.ended = c.ended || err == io.EOF
	return n, err
}

func (c *counter) Peek(n int) ([]byte, error) { return c.r.Peek(n) }

// fault turns the error of a decoder into a ParseError.
func (c *counter) fault(err error) error {
	e := &ParseError{Format: "image", Offset: c.n, Problem: err.Error(), Err: err}
	switch {
	case errors.Is(err, image.ErrFormat):
		e.Offset, e.Problem, e.Try = 0, "neither PNG nor JPEG", "convert the image"
	case c.ended:
		e.Problem, e.Try = "the data end in the middle of the image", "copy the file again"
	}
	return e
}

func checkSize(offset int64, width, height int) error {
	if width < 1 || height < 1 || width > maxPixels/height {
		return &ParseError{Format: "image", Offset: offset,
			Problem: fmt.Sprintf("%d×%d pixels: the size must be 1 to %d pixels", width, height, maxPixels),
			Try:     "scale the image down"}
	}
	return nil
}
