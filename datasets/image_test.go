package datasets_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
)

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodeJPEG(t testing.TB, img image.Image, quality int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImageKinds(t *testing.T) {
	bounds := image.Rect(0, 0, 2, 1)
	fill := func(img interface {
		image.Image
		Set(x, y int, c color.Color)
	}, left, right color.Color) image.Image {
		img.Set(0, 0, left)
		img.Set(1, 0, right)
		return img
	}
	red := color.NRGBA{R: 255, A: 255}
	for _, test := range []struct {
		name string
		img  image.Image
		want []float64 // of the two pixels
	}{
		{"8 bits", fill(image.NewNRGBA(bounds), color.NRGBA{10, 20, 30, 255}, red),
			[]float64{10. / 255, 20. / 255, 30. / 255, 1, 0, 0}},
		{"16 bits", fill(image.NewNRGBA64(bounds), color.NRGBA64{1000, 2000, 3000, 65535}, red),
			[]float64{1000. / 65535, 2000. / 65535, 3000. / 65535, 1, 0, 0}},
		{"grey", fill(image.NewGray(bounds), color.Gray{51}, color.Gray{255}), []float64{0.2, 0.2, 0.2, 1, 1, 1}},
		{"palette", fill(image.NewPaletted(bounds, color.Palette{color.Black, red}), color.Black, red), []float64{0, 0, 0, 1, 0, 0}},
		// Nothing shows white, red at alpha 51/255 = 1/5 is a pale red.
		{"transparent", fill(image.NewNRGBA(bounds), color.NRGBA{}, color.NRGBA{R: 255, A: 51}), []float64{1, 1, 1, 1, 0.8, 0.8}},
	} {
		p, err := datasets.Image(bytes.NewReader(encodePNG(t, test.img)))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if r, c := p.X.Dims(); p.Width != 2 || p.Height != 1 || r != 2 || c != 3 {
			t.Errorf("%s: %d×%d pixels as %d×%d", test.name, p.Width, p.Height, r, c)
		}
		if got := p.X.RawMatrix().Data; !closeTo(got, test.want, 1e-15) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestImageOrder(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 3, 2))
	img.Set(2, 1, color.White)
	p, err := datasets.Image(bytes.NewReader(encodePNG(t, img)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0, 0, 0, 0, 0, 1} {
		if got := p.X.At(i, 0); got != want {
			t.Errorf("pixel %d is %v, want %v", i, got, want)
		}
	}
	img.Set(2, 1, color.Black)
	img.Set(1, 0, color.White)
	if p, err = datasets.Image(bytes.NewReader(encodePNG(t, img))); err != nil || p.X.At(1, 0) != 1 {
		t.Errorf("pixel (1, 0) is not row 1: %v, %v", p, err)
	}
}

func TestImageRoundTrip(t *testing.T) {
	picture := datasets.Picture()
	file := encodePNG(t, picture.Image())
	p, err := datasets.Image(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if p.Width != 160 || p.Height != 120 || !mat.Equal(p.X, picture.X) {
		t.Error("pixels → PNG → pixels is not exact")
	}
	if !bytes.Equal(encodePNG(t, p.Image()), file) {
		t.Error("PNG → pixels → PNG is not exact")
	}

	j, err := datasets.Image(bytes.NewReader(encodeJPEG(t, picture.Image(), 95)))
	if err != nil {
		t.Fatal(err)
	}
	var diff mat.Dense
	diff.Sub(j.X, picture.X)
	// JPEG keeps colours at half the resolution: 30 dB is what is to be expected
	// here; pixels in the wrong place or channels swapped give less than 20 dB.
	mse := math.Pow(mat.Norm(&diff, 2), 2) / float64(3*160*120)
	if psnr := -10 * math.Log10(mse); j.Width != 160 || j.Height != 120 || psnr < 28 {
		t.Errorf("JPEG of %d×%d pixels at %.1f dB", j.Width, j.Height, psnr)
	}
}

func TestPixelsImageClamps(t *testing.T) {
	p := &datasets.Pixels{Width: 2, Height: 1, X: mat.NewDense(2, 3, []float64{-1, 2, math.NaN(), 0.5, math.Inf(1), math.Inf(-1)})}
	want := []uint8{0, 255, 0, 255, 128, 255, 0, 255}
	if got := p.Image().Pix; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	p.Height = 2
	panics(t, "datasets: Pixels.Image: X is 2×3 for 2×2 pixels", func() { p.Image() })
}

// header is the start of a PNG file that claims a size.
func header(width, height uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0DIHDR")
	b = binary.BigEndian.AppendUint32(b, width)
	b = binary.BigEndian.AppendUint32(b, height)
	b = append(b, 8, 2, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
}

func TestImageRefuses(t *testing.T) {
	for _, test := range []struct {
		name  string
		bytes []byte
		want  string
	}{
		{"empty", nil, "datasets: image, byte 0: neither PNG nor JPEG; convert the image"},
		{"text", []byte("a,b\n1,2\n"), "datasets: image, byte 0: neither PNG nor JPEG; convert the image"},
		{"too large", header(4097, 4096), "datasets: image, byte 33: 4097×4096 pixels: the size must be 1 to 16777216 pixels; scale the image down"},
		{"ends", header(4096, 4096), "datasets: image, byte 33: the data end in the middle of the image; copy the file again"},
		{"ends in the header", header(1, 1)[:20], "datasets: image, byte 20: the data end in the middle of the image; copy the file again"},
	} {
		_, err := datasets.Image(bytes.NewReader(test.bytes))
		if _, ok := err.(*datasets.ParseError); !ok || err.Error() != test.want {
			t.Errorf("%s: got  %T %v\nwant %s", test.name, err, err, test.want)
		}
	}
}

func TestImageBombAllocatesLittle(t *testing.T) {
	for _, size := range [][2]uint32{{60000, 60000}, {1 << 31, 1}, {0x7FFFFFFF, 0x7FFFFFFF}} {
		bomb := header(size[0], size[1])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := datasets.Image(bytes.NewReader(bomb))
		runtime.ReadMemStats(&after)
		if _, ok := err.(*datasets.ParseError); !ok {
			t.Errorf("%v pixels: %v", size, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%v pixels: %d bytes allocated for a file of %d", size, got, len(bomb))
		}
	}
}

// Cut or changed anywhere, an image gives an error or an image, and no panic.
func TestImageDamaged(t *testing.T) {
	small := &datasets.Pixels{Width: 9, Height: 7, X: mat.NewDense(63, 3, nil)}
	for i := range small.X.RawMatrix().Data {
		small.X.RawMatrix().Data[i] = float64(i*37%256) / 255
	}
	for name, file := range map[string][]byte{"PNG": encodePNG(t, small.Image()), "JPEG": encodeJPEG(t, small.Image(), 80)} {
		for n := range len(file) {
			_, err := datasets.Image(bytes.NewReader(file[:n]))
			var parse *datasets.ParseError
			if !errors.As(err, &parse) {
				t.Errorf("%s cut at byte %d of %d: %v", name, n, len(file), err)
			} else if n > 8 && (parse.Offset != int64(n) || parse.Problem != "the data end in the middle of the image") {
				t.Errorf("%s cut at byte %d of %d: %v", name, n, len(file), err)
			}
			damaged := bytes.Clone(file)
			damaged[n] ^= 0xFF
			if _, err := datasets.Image(bytes.NewReader(damaged)); err == nil && name == "PNG" {
				t.Errorf("%s changed at byte %d is accepted in spite of its checksums", name, n)
			}
		}
	}
}

func TestImageReadFails(t *testing.T) {
	failure := errors.New("the disk is full of eels")
	file := encodePNG(t, datasets.Picture().Image())
	_, err := datasets.Image(io.MultiReader(bytes.NewReader(file[:len(file)/2]), iotest.ErrReader(failure)))
	if !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
}

func TestImageFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.png", encodePNG(t, datasets.Picture().Image()))
	write(t, dir, "b.png", []byte("not an image"))
	if p, err := datasets.ImageFile(filepath.Join(dir, "a.png")); err != nil || p.Width != 160 {
		t.Errorf("%v", err)
	}
	var parse *datasets.ParseError
	if _, err := datasets.ImageFile(filepath.Join(dir, "b.png")); !errors.As(err, &parse) || !strings.HasSuffix(parse.File, "b.png") {
		t.Errorf("damaged file: %v", err)
	}
	if _, err := datasets.ImageFile(filepath.Join(dir, "c.png")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

// Picture is for colour quantisation: it needs many colours in several families,
// and as much detail as smoothness.
func TestPicture(t *testing.T) {
	p := datasets.Picture()
	if !mat.Equal(p.X, datasets.Picture().X) {
		t.Error("two pictures differ")
	}
	colours := make(map[[3]float64]bool)
	var reddish, bluish, light, dark, steps int
	for i := range p.Width * p.Height {
		r, g, b := p.X.At(i, 0), p.X.At(i, 1), p.X.At(i, 2)
		for _, v := range []float64{r, g, b} {
			if v < 0 || v > 1 || v*255 != math.Round(v*255) {
				t.Fatalf("pixel %d has the value %v", i, v)
			}
		}
		colours[[3]float64{r, g, b}] = true
		switch {
		case r > 0.6 && r > 2*b:
			reddish++
		case b > 1.3*r:
			bluish++
		}
		if l := (r + g + b) / 3; l > 0.75 {
			light++
		} else if l < 0.25 {
			dark++
		}
		if i%p.Width > 0 && math.Abs(r-p.X.At(i-1, 0)) < 0.03 {
			steps++
		}
	}
	n := p.Width * p.Height
	if len(colours) < 4000 || reddish < n/50 || bluish < n/10 || light < n/100 || dark < n/20 || steps < n*6/10 {
		t.Errorf("%d colours; of %d pixels %d reddish, %d bluish, %d light, %d dark, %d smooth",
			len(colours), n, reddish, bluish, light, dark, steps)
	}
}

// An image that Image accepts is the same, up to the rounding to 8 bits, after it is written and read again.
func FuzzImage(f *testing.F) {
	small := image.NewNRGBA(image.Rect(0, 0, 5, 3))
	for i := range small.Pix {
		small.Pix[i] = uint8(i * 67)
	}
	grey := image.NewGray(small.Bounds())
	deep := image.NewNRGBA64(small.Bounds())
	deep.Set(1, 1, color.NRGBA64{1, 1000, 30000, 40000})
	palette := image.NewPaletted(small.Bounds(), color.Palette{color.Black, color.White, color.Transparent})
	for _, img := range []image.Image{small, grey, deep, palette} {
		b := encodePNG(f, img)
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add(encodeJPEG(f, small, 90))
	f.Add(encodeJPEG(f, grey, 10))
	f.Add(header(4096, 4096))
	f.Add(header(60000, 60000))
	f.Fuzz(func(t *testing.T, b []byte) {
		config, _, err := image.DecodeConfig(bytes.NewReader(b))
		const large = 1 << 16
		if err == nil && config.Width > 0 && config.Height > large/config.Width && config.Height < 1<<24/config.Width {
			return // allowed, but slow to decode again and again
		}
		p, err := datasets.Image(bytes.NewReader(b))
		if err != nil {
			if _, ok := err.(*datasets.ParseError); !ok {
				t.Fatalf("not a ParseError: %#v", err)
			}
			return
		}
		again, err := datasets.Image(bytes.NewReader(encodePNG(t, p.Image())))
		if err != nil {
			t.Fatal(err)
		}
		if p.Width != again.Width || p.Height != again.Height {
			t.Fatalf("%d×%d became %d×%d", p.Width, p.Height, again.Width, again.Height)
		}
		if !mat.EqualApprox(p.X, again.X, 0.5/255+1e-12) {
			t.Fatal("the colours differ by more than rounding")
		}
	})
}
