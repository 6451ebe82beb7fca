package plots

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// cloud returns a figure with n points around each of the given centres, each a
// cluster of its own.
func cloud(t testing.TB, n int, centres ...[2]float64) *Figure {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	x, labels := mat.NewDense(n*len(centres), 2, nil), make([]int, n*len(centres))
	for i := range labels {
		labels[i] = i % len(centres)
		c := centres[labels[i]]
		x.SetRow(i, []float64{c[0] + 0.3*rng.NormFloat64(), c[1] + 0.3*rng.NormFloat64()})
	}
	f := New("title", "x", "y")
	c, err := NewClusters(x, labels)
	if err != nil {
		t.Fatal(err)
	}
	f.Add(c)
	return f
}

// hidden counts the coloured pixels of f without a legend that another picture of it
// does not have.
func hidden(t *testing.T, f *Figure) int {
	t.Helper()
	with, err := f.Image()
	if err != nil {
		t.Fatal(err)
	}
	bare := *f
	bare.Key = KeyNone
	without, err := bare.Image()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := 0; i < len(without.Pix); i += 4 {
		p := without.Pix[i : i+3]
		if max(p[0], p[1], p[2])-min(p[0], p[1], p[2]) > 40 && !bytes.Equal(p, with.Pix[i:i+3]) {
			n++
		}
	}
	return n
}

// TestLegendHidesNothing puts data into more and more corners: the legend gives way
// and at last leaves the plot.
func TestLegendHidesNothing(t *testing.T) {
	corners := [][2]float64{{4, 4}, {0, 4}, {4, 0}, {0, 0}} // in the order of preference
	figure := func(n int) *Figure {
		f := cloud(t, 60, corners[:n]...)
		f.X.Min, f.X.Max, f.Y.Min, f.Y.Max = -1, 5, -1, 5
		return f
	}
	for n := 2; n <= 3; n++ {
		f := figure(n)
		if side, box := f.keySide(f.titled(400), sized(defaultWidth, defaultHeight)); side != 0 {
			t.Errorf("%d corners taken: the legend is outside", n)
		} else if right := box.Min.X > defaultWidth/2; right != (n == 2) || box.Max.Y > defaultHeight/2 {
			t.Errorf("%d corners taken: legend at %v", n, box)
		}
		if got := hidden(t, f); got != 0 {
			t.Errorf("%d corners taken: the legend hides %d pixels", n, got)
		}
	}
	f := figure(4)
	if side, _ := f.keySide(f.titled(400), sized(defaultWidth, defaultHeight)); side == 0 {
		t.Error("no corner is free and yet the legend is inside")
	}
	// Control: a legend that is put on top of data hides some of it.
	f.Key, f.Legend.Top = KeyFixed, true
	if hidden(t, f) == 0 {
		t.Error("a legend on top of a cluster hides nothing: the check sees nothing")
	}
}

func TestEqualUnits(t *testing.T) {
	for _, size := range [][2]vg.Length{{0, 0}, {400, 200}, {200, 400}} {
		f := cloud(t, 20, [2]float64{0, 0}, [2]float64{9, 2})
		f.Equal = true
		f.Width, f.Height = size[0], size[1]
		w, h := f.size()
		p := f.titled(w)
		c := sized(w, h)
		xmin, ymin := p.X.Min, p.Y.Min
		f.equalise(p, c)
		d := p.DataCanvas(c).Size()
		x, y := (p.X.Max-p.X.Min)/float64(d.X), (p.Y.Max-p.Y.Min)/float64(d.Y)
		if math.Abs(x-y) > 0.001*x {
			t.Errorf("%v: a point is %v units wide and %v high", size, x, y)
		}
		if p.X.Min > xmin+1e-9 || p.Y.Min > ymin+1e-9 {
			t.Errorf("%v: the axes lost data", size)
		}
		if size[0] == 0 && (w > defaultWidth || h > defaultHeight) {
			t.Errorf("the figure is %v by %v", w, h)
		}
	}
}

// TestRefusedAxes lists axes on which gonum would panic or never return.
func TestRefusedAxes(t *testing.T) {
	for name, spoil := range map[string]func(f *Figure){
		"NaN":         func(f *Figure) { f.X.Min = math.NaN() },
		"infinite":    func(f *Figure) { f.Y.Max = math.Inf(1) },
		"log of zero": func(f *Figure) { f.Y.Scale, f.Y.Tick.Marker, f.Y.Min = plot.LogScale{}, plot.LogTicks{}, 0 },
	} {
		f := cloud(t, 5, [2]float64{1, 1})
		spoil(f)
		if _, err := f.Image(); err == nil || !strings.Contains(err.Error(), "axis") {
			t.Errorf("%s: error %v", name, err)
		}
		if err := f.Save(filepath.Join(t.TempDir(), "f.svg")); err == nil {
			t.Errorf("%s: saved", name)
		}
	}
	// These are odd but can be drawn.
	for name, f := range map[string]*Figure{
		"empty": New("", "", ""),
		"bare":  Bare("nothing"),
		"point": cloud(t, 1, [2]float64{1, 1}),
	} {
		if _, err := f.Image(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewGrid(2, nil, nil).Image(); err == nil {
		t.Error("a grid without figures was drawn")
	}
}

func TestTicks(t *testing.T) {
	for _, r := range [][2]float64{{0, 1}, {-1130.4, -1129}, {0, 6}, {1e-9, 3e-9}, {-1e300, 1e300}, {1e17, 1e17 + 64}, {0.1, 0.3}, {-3, 1e6}} {
		for _, n := range []int{3, 4, 7} {
			ts := ticks{n}.Ticks(r[0], r[1])
			labels := map[string]bool{}
			for _, tick := range ts {
				if tick.Value < r[0] || tick.Value > r[1] || tick.IsMinor() {
					t.Errorf("%v: tick %+v", r, tick)
				}
				labels[tick.Label] = true
			}
			if len(ts) < 2 || len(ts) > n+2 {
				t.Errorf("%v: %d ticks of %d", r, len(ts), n)
			}
			if r[0] < 1e16 && len(labels) != len(ts) {
				t.Errorf("%v: labels %v", r, labels)
			}
		}
	}
	for _, r := range [][2]float64{{1, 1}, {2, 1}, {math.NaN(), 1}, {0, math.Inf(1)}} {
		if ts := (ticks{7}).Ticks(r[0], r[1]); ts != nil {
			t.Errorf("%v: %v", r, ts)
		}
	}
	if got := (ticks{7}).Ticks(-1, 0.2)[0].Label; got != "−1.0" {
		t.Errorf("first label %q", got)
	}
}

func TestWrap(t *testing.T) {
	sty := New("", "", "").Title.TextStyle
	got := wrap("one two three four", sty, sty.Width("one two thre"))
	if got != "one two\nthree four" {
		t.Errorf("%q", got)
	}
	if got := wrap("immeasurable", sty, 5); got != "immeasurable" {
		t.Errorf("%q", got)
	}
}

func TestShareAxes(t *testing.T) {
	a, b := cloud(t, 30, [2]float64{0, 0}, [2]float64{1, 1}), cloud(t, 30, [2]float64{5, -3})
	ShareAxes(a, b)
	for _, f := range []*Figure{a, b} {
		if f.X.Min != a.X.Min || f.X.Max != b.X.Max || f.Y.Min != b.Y.Min || f.Y.Max != a.Y.Max {
			t.Errorf("axes %v to %v, %v to %v", f.X.Min, f.X.Max, f.Y.Min, f.Y.Max)
		}
	}
	// Only a has a legend, and yet the plots have the same place.
	pa, pb := a.titled(400), b.titled(400)
	sa, _ := a.keySide(pa, sized(400, 300))
	sb, _ := b.keySide(pb, sized(400, 300))
	if sa != sb || sa == 0 {
		t.Errorf("room for the legend: %v and %v", sa, sb)
	}
}

// TestSameBytes draws the same figures at once and one after the other.
func TestSameBytes(t *testing.T) {
	draw := func() []byte {
		f := cloud(t, 40, [2]float64{0, 0}, [2]float64{2, 2}, [2]float64{0, 3})
		box := Box{-2, 4, -2, 5}
		r, err := NewRegions(AssignFunc(func(x []float64) int { return int(max(x[0], 0)) }), box)
		if err != nil {
			t.Error(err)
		}
		d, err := NewDensity(LogProbFunc(func(x []float64) float64 { return -x[0]*x[0] - x[1]*x[1] }), box)
		if err != nil {
			t.Error(err)
		}
		f.Add(r, d)
		img, err := NewGrid(2, f, cloud(t, 9, [2]float64{1, 1})).Image()
		if err != nil {
			t.Error(err)
		}
		b, err := EncodePNG(img)
		if err != nil {
			t.Error(err)
		}
		return b
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := draw()
	runtime.GOMAXPROCS(4)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := draw(); !bytes.Equal(got, want) {
				t.Error("the same grid has other bytes")
			}
		})
	}
	wg.Wait()
}

// TestPaletted checks what EncodePNG may change: nothing in pictures of at most 256
// colours or in photographs, little in others.
func TestPaletted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	fill := func(at func(x, y int) color.RGBA) *image.RGBA {
		img := image.NewRGBA(image.Rect(0, 0, 200, 200))
		for y := range 200 {
			for x := range 200 {
				img.SetRGBA(x, y, at(x, y))
			}
		}
		return img
	}
	few := fill(func(x, y int) color.RGBA { return color.RGBA{uint8(x), uint8(x / 2), 7, 255} })
	photo := fill(func(x, y int) color.RGBA {
		return color.RGBA{uint8(rng.IntN(256)), uint8(x), uint8(y), 255}
	})
	// A drawing: five flat colours, and shades along one line.
	drawing := fill(func(x, y int) color.RGBA {
		if y == 100 {
			return color.RGBA{uint8(x), uint8(rng.IntN(256)), uint8(y), 255}
		}
		return color.RGBA{uint8(x / 40 * 40), 200, 100, 255}
	})
	holes := fill(func(x, y int) color.RGBA {
		if x < 100 {
			return color.RGBA{}
		}
		return color.RGBA{uint8(x), uint8(y), 50, 255}
	})
	for name, c := range map[string]struct {
		img      *image.RGBA
		paletted bool
		changed  int // pixels that may change at all
	}{"few": {few, true, 0}, "photo": {photo, false, 0}, "drawing": {drawing, true, 200}, "holes": {holes, false, 0}} {
		if p := paletted(c.img); (p != nil) != c.paletted {
			t.Errorf("%s: paletted is %v, want %v", name, p != nil, c.paletted)
		}
		b, err := EncodePNG(c.img)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := image.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		for y := range 200 {
			for x := range 200 {
				if color.RGBAModel.Convert(got.At(x, y)) != color.Color(c.img.RGBAAt(x, y)) {
					changed++
				}
			}
		}
		if changed > c.changed {
			t.Errorf("%s: %d pixels changed, want at most %d", name, changed, c.changed)
		}
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	f := cloud(t, 20, [2]float64{0, 0}, [2]float64{2, 1})
	for ext, magic := range map[string]string{"png": "\x89PNG", "svg": "<?xml", "jpg": "\xff\xd8"} {
		path := filepath.Join(dir, "f."+ext)
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(b), magic) {
			t.Errorf("%s starts with %.8q (%v)", ext, b, err)
		}
	}
	for _, path := range []string{"f.docx", "f", "no/such/dir/f.png", "no/such/dir/f.svg"} {
		if err := f.Save(filepath.Join(dir, path)); err == nil {
			t.Errorf("saved as %s", path)
		}
	}
}

func TestAlt(t *testing.T) {
	f := New("A title", "time (s)", "speed (m/s)")
	line, _ := plotter.NewLine(plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 5}, {X: 2, Y: -2}})
	bars, _ := plotter.NewBarChart(plotter.Values{0.25, 0.75}, 10)
	hist, _ := plotter.NewHist(plotter.Values{1, 2, 2, 2}, 2)
	f.Note = "a note"
	f.AddAs("model", line)
	f.Add(bars, hist, plotter.NewGrid())
	want := "A title. a note. Horizontal axis: time (s), 0 to 2; vertical axis: speed (m/s), −2 to 5. " +
		"Model: line of three points from (0, 1) to (2, −2), lowest −2 at 2, highest 5 at 1. " +
		"Two bars: 0.25 and 0.75. Histogram of two bins from 1 to 2, highest 3 between 1.5 and 2."
	if got := f.Alt(); got != want {
		t.Errorf("Alt = %q\nwant  %q", got, want)
	}
	for v, want := range map[float64]string{0: "0", math.Copysign(0, -1): "0", -1130.26: "−1130", 0.12345: "0.123", 123456: "123456", 1.5e7: "1.5e+07", 2e-5: "2e−05"} {
		if got := num(v); got != want {
			t.Errorf("num(%v) = %q, want %q", v, got, want)
		}
	}
	x := mat.NewDense(4, 2, []float64{1, 1, 2, 2, 3, 3, 4, 4})
	c, _ := NewClusters(x, []int{0, 0, 1, -1})
	if got, want := c.Alt(), "four points in two clusters of 2 and 1; 1 without label"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	grey, _ := NewClusters(x, nil)
	if got, want := grey.Alt(), "four points, x from 1 to 4, y from 1 to 4"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func BenchmarkFigure(b *testing.B) {
	f := cloud(b, 500, [2]float64{0, 0}, [2]float64{2, 2}, [2]float64{0, 3})
	for b.Loop() {
		img, err := f.Image()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := EncodePNG(img); err != nil {
			b.Fatal(err)
		}
	}
}
