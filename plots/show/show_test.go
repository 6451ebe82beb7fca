package show

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/plots"
)

// TestFiles checks what is written outside a notebook, and that nothing is without a
// directory.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shown")
	before := written
	defer func(d string) { Dir, written = d, before }(Dir)
	showAll := func() {
		written = 0
		Plot(figure(0))
		Table([]string{"k", "BIC"}, []any{1, 2.5})
		Markdown("text")
		Frames("step", figure(0), figure(1))
		Grid(2, figure(0), figure(1))
		n := 0
		for i := range Progress("count", 5) {
			n += i
		}
		if n != 10 {
			t.Errorf("Progress counted to a sum of %d", n)
		}
	}
	Dir = ""
	showAll()
	if written != 0 {
		t.Errorf("%d files written without a directory", written)
	}
	Dir = dir
	showAll()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"01.png", "01.txt", "02.md", "03.md", "04.html", "05.png", "05.txt"}; !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "01.txt")); string(b) != figure(0).Alt()+"\n" {
		t.Errorf("01.txt: %q", b)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "01.png")); !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("01.png: %.10q", b)
	}
}

func TestMistakesPanic(t *testing.T) {
	before := written
	defer func(d string) { Dir, written = d, before }(Dir)
	Dir = t.TempDir()
	bad := figure(0)
	bad.X.Max = math.Inf(1)
	for name, show := range map[string]func(){
		"axis":   func() { Plot(bad) },
		"row":    func() { Table([]string{"a", "b"}, []any{1}) },
		"empty":  func() { Frames[*plots.Figure]("step") },
		"frame":  func() { Frames("step", figure(0), bad) },
		"folder": func() { Dir = "/dev/null/x"; Markdown("x") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			show()
		}()
	}
}

func TestTable(t *testing.T) {
	got := table([]string{"name", "k", "log-likelihood", "p|q", "small", "mixed"}, [][]any{
		{"one|a", 1, -1130.26396, 1.0, 1e-9, 1},
		{"two\nlines", 22, -95.5, 2.0, 0.5, "x"},
	})
	want := strings.Join([]string{
		`| name      |   k | log-likelihood | p\|q | small | mixed |`,
		`| --------- | --: | -------------: | ---: | ----: | ----- |`,
		`| one\|a    |   1 |       -1130.26 |    1 | 1e-09 | 1     |`,
		`| two lines |  22 |         -95.50 |    2 |   0.5 | x     |`,
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, c := range []struct {
		in   []float64
		want []string
	}{
		{[]float64{0.123456, 0.5}, []string{"0.1235", "0.5000"}},
		{[]float64{1234.5678, 2}, []string{"1234.57", "2.00"}},
		{[]float64{12, 3}, []string{"12", "3"}},
		{[]float64{0, 0}, []string{"0", "0"}},
		{[]float64{math.NaN(), math.Inf(1), 1.5}, []string{"NaN", "+Inf", "1.500"}},
		{[]float64{2.5e9, 1}, []string{"2.5e+09", "1"}},
	} {
		rows, cells := make([][]any, len(c.in)), make([][]string, len(c.in))
		for i, v := range c.in {
			rows[i], cells[i] = []any{v}, make([]string, 1)
		}
		format(rows, cells, 0)
		for i := range cells {
			if cells[i][0] != c.want[i] {
				t.Errorf("%v: %q, want %q", c.in, cells[i][0], c.want[i])
			}
		}
	}
	if got := table([]string{"a"}, nil); got != "| a   |\n| --- |" {
		t.Errorf("empty table %q", got)
	}
}

var pngs = regexp.MustCompile(`data:image/png;base64,([A-Za-z0-9+/=]+)"|"png":"([A-Za-z0-9+/=]+)"`)

// TestFramesLayers draws the pictures of the slider on top of each other, as a
// browser does, and compares with the frames.
func TestFramesLayers(t *testing.T) {
	figs := []*plots.Figure{figure(0), figure(1), figure(1), figure(3), figure(0)}
	html, text, err := framesHTML("step", figs)
	if err != nil {
		t.Fatal(err)
	}
	found := pngs.FindAllStringSubmatch(html, -1)
	if len(found) != len(figs) {
		t.Fatalf("%d pictures for %d frames", len(found), len(figs))
	}
	var screen *image.RGBA
	for i, m := range found {
		b, err := base64.StdEncoding.DecodeString(m[1] + m[2])
		if err != nil {
			t.Fatal(err)
		}
		layer, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if screen == nil {
			screen = image.NewRGBA(layer.Bounds())
		} else if i > 0 && len(b) > 4000 {
			t.Errorf("frame %d takes %d bytes to move a point", i, len(b))
		}
		draw.Draw(screen, screen.Rect, layer, image.Point{}, draw.Over)
		want, err := figs[i].Image()
		if err != nil {
			t.Fatal(err)
		}
		for j := range want.Pix {
			// What EncodePNG may change.
			if d := int(want.Pix[j]) - int(screen.Pix[j]); d > 8 || d < -8 {
				t.Fatalf("frame %d: byte %d is %d, want %d", i, j, screen.Pix[j], want.Pix[j])
			}
		}
	}
	if want := "Slider over 5 pictures, step 0 to 4. First: " + figs[0].Alt() + " Last: " + figs[4].Alt(); text != want {
		t.Errorf("text %q, want %q", text, want)
	}
}

// TestFramesHTML checks that the slider needs nothing from elsewhere, is the same
// every time and survives any label and description.
func TestFramesHTML(t *testing.T) {
	odd := figure(1)
	odd.Note = `</script><b>"it's" & \ ` + "`done`\n"
	figs := []*plots.Figure{figure(0), odd}
	html, _, err := framesHTML(`a "label" </script>`, figs)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"http:", "https:", "src=\"/", "import ", "fetch(", "<b>", "Math.random", "Date"} {
		if strings.Contains(html, bad) {
			t.Errorf("the slider contains %q", bad)
		}
	}
	if n := strings.Count(html, "</script>"); n != 1 {
		t.Errorf("%d ends of the script", n)
	}
	for range 3 {
		if again, _, _ := framesHTML(`a "label" </script>`, figs); again != html {
			t.Error("the slider differs the next time")
		}
	}
	if other, _, _ := framesHTML("b", figs); strings.Fields(other)[1] == strings.Fields(html)[1] {
		t.Error("another slider has the same id")
	}
	small := figure(0)
	small.Width, small.Height = 200, 100
	if _, _, err := framesHTML("size", []*plots.Figure{figure(0), small}); err != nil {
		t.Errorf("frames of different size: %v", err)
	}
}

// figure is a plot of three points, one of which moves with step.
func figure(step int) *plots.Figure {
	f := plots.New(fmt.Sprintf("step %d", step), "x", "y")
	c, err := plots.NewClusters(mat.NewDense(3, 2, []float64{0, 0, 4, 3, 1 + float64(step)/2, 1}), []int{0, 1, 1})
	if err != nil {
		panic(err)
	}
	f.Add(c)
	f.Width, f.Height = 250, 150
	return f
}
