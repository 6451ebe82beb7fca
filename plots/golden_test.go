package plots_test

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/plots"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// gallery lists the examples that draw testdata/<name>.png.
var gallery = map[string]func(){
	"clusters":   ExampleNewClusters,
	"soft":       ExampleNewSoftClusters,
	"ellipses":   ExampleNewEllipses,
	"ellipse":    ExampleNewEllipse,
	"density":    ExampleNewDensity,
	"viridis":    ExampleNewDensity_viridis,
	"regions":    ExampleNewRegions,
	"mixture":    ExampleNewMixture1D,
	"trace":      ExampleNewTrace,
	"chains":     ExampleNewChains,
	"ranks":      ExampleNewRanks,
	"stems":      ExampleNewStems,
	"images":     ExampleNewImages,
	"pictures":   ExampleNewPictures,
	"grid":       ExampleNewGrid,
	"gonum":      ExampleFigure_AddAs,
	"categories": ExampleLine,
}

// TestGolden compares what the examples draw with pictures that were looked at.
func TestGolden(t *testing.T) {
	for name, example := range gallery {
		t.Run(name, func(t *testing.T) {
			path, golden := "testdata/"+name+".png", "testdata/"+name+"_golden.png"
			example()
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(golden, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if n := different(decode(t, got), decode(t, want)); n > maxDifferent {
				t.Errorf("%s: %d pixels differ from %s; look at both, and run with -update if the new one is right", path, n, golden)
			}
			// A notebook with eight figures and a slider has to stay below 400 kB.
			if len(got) > 30_000 {
				t.Errorf("%s: %d bytes; want at most 30,000", path, len(got))
			}
		})
	}
}

// Rounding differs between processors and may move the edge of a line by a fraction
// of a pixel, which changes its shade a little, and a region's border at a node where
// two labels tie. A point that is elsewhere changes some 40 pixels much.
const maxDifferent = 12

// different counts the pixels that differ by more than a quarter of the range of a
// channel.
func different(a, b image.Image) int {
	if a.Bounds() != b.Bounds() {
		return a.Bounds().Dx() * a.Bounds().Dy()
	}
	n := 0
	far := func(v, w uint32) bool { return max(v, w)-min(v, w) > 0xffff/4 }
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			r0, g0, b0, _ := a.At(x, y).RGBA()
			r1, g1, b1, _ := b.At(x, y).RGBA()
			if far(r0, r1) || far(g0, g1) || far(b0, b1) {
				n++
			}
		}
	}
	return n
}

func decode(t *testing.T, b []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestGoldenControl checks that the comparison sees a single point that has moved by
// a hundredth of the plot, and two points that have swapped labels.
func TestGoldenControl(t *testing.T) {
	picture := func(change func(x *mat.Dense, labels []int)) image.Image {
		x, labels := eruptions()
		// Keep the axes: only inner points change.
		change(x, labels)
		f := plots.New("t", "x", "y")
		f.Add(must(plots.NewClusters(x, labels)))
		return decode(t, must(plots.EncodePNG(must(f.Image()))))
	}
	same := picture(func(*mat.Dense, []int) {})
	if n := different(same, picture(func(*mat.Dense, []int) {})); n != 0 {
		t.Errorf("the same picture twice: %d pixels differ, want 0", n)
	}
	moved := picture(func(x *mat.Dense, _ []int) { x.Set(10, 0, x.At(10, 0)+0.0365) })
	if n := different(same, moved); n <= maxDifferent {
		t.Errorf("a point moved by a hundredth of the axis: %d pixels differ, want more than %d", n, maxDifferent)
	}
	swapped := picture(func(_ *mat.Dense, labels []int) { labels[10] = 1 - labels[10] })
	if n := different(same, swapped); n <= maxDifferent {
		t.Errorf("a point changed its label: %d pixels differ, want more than %d", n, maxDifferent)
	}
}
