package jupyter

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drawing is a picture of the size of a figure: a marker at (x, 200) and a grey
// edge of the given level.
func drawing(t *testing.T, x int, edge uint8) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 640, 400))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for dy := -3; dy <= 3; dy++ {
		for dx := -3; dx <= 3; dx++ {
			img.Set(x+dx, 200+dy, color.NRGBA{0, 114, 178, 255})
		}
	}
	for y := range 400 {
		img.Set(10, y, color.Gray{edge})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func display(data map[string]any) Output {
	return Output{Type: Display, Data: data, Metadata: map[string]any{}}
}

func stdout(s string) Output { return Output{Type: Stream, Name: "stdout", Text: s} }

func frames(pictures ...string) string {
	var b strings.Builder
	for _, p := range pictures {
		b.WriteString(`<img src="data:image/png;base64,` + p + "\">\n{png: \"" + p + "\"}\n")
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	here, there := drawing(t, 300, 100), drawing(t, 307, 100)
	softer := drawing(t, 300, 100+pixelLevel) // every pixel of the edge moves, none by more
	harder := drawing(t, 300, 101+pixelLevel)
	pic := func(p string) Output { return display(map[string]any{"image/png": p}) }
	for name, c := range map[string]struct {
		want, got []Output
		note      string // "" if they are the same
	}{
		"same text":             {[]Output{stdout("a\n")}, []Output{stdout("a\n")}, ""},
		"same text in pieces":   {[]Output{stdout("a\nb\n")}, []Output{stdout("a\n"), stdout("b\n")}, ""},
		"a digit":               {[]Output{stdout("x\nll = -1130.26396\ny\n")}, []Output{stdout("x\nll = -1130.26397\ny\n")}, "from line 2 on\n  - ll = -1130.26396\n  + ll = -1130.26397"},
		"a line more":           {[]Output{stdout("a\n")}, []Output{stdout("a\nb\n")}, "+ b"},
		"no text":               {[]Output{stdout("a\n")}, nil, "- a"},
		"stderr is new":         {nil, []Output{{Type: Stream, Name: "stderr", Text: "oh\n"}}, "+ oh"},
		"same picture":          {[]Output{pic(here)}, []Output{pic(here)}, ""},
		"lines in base64":       {[]Output{pic(here)}, []Output{pic(here[:76] + "\n" + here[76:] + "\n")}, ""},
		"rounded picture":       {[]Output{pic(here)}, []Output{pic(softer)}, ""},
		"changed grey":          {[]Output{pic(here)}, []Output{pic(harder)}, "400 of 256000 pixels differ (0.16 %)"},
		"moved marker":          {[]Output{pic(here)}, []Output{pic(there)}, "98 of 256000 pixels"},
		"picture is gone":       {[]Output{pic(here)}, nil, "is gone"},
		"picture is new":        {[]Output{pic(here)}, []Output{pic(here), pic(there)}, "is new"},
		"picture is broken":     {[]Output{pic(here)}, []Output{pic("AAAA")}, "cannot be read"},
		"pictures swapped":      {[]Output{pic(here), pic(there)}, []Output{pic(there), pic(here)}, "pixels differ"},
		"alt text":              {[]Output{display(map[string]any{"image/png": here, "text/plain": "272 points"})}, []Output{display(map[string]any{"image/png": here, "text/plain": "271 points"})}, "- 272 points"},
		"HTML":                  {[]Output{display(map[string]any{"text/html": "<b>1</b>"})}, []Output{display(map[string]any{"text/html": "<b>2</b>"})}, "+ <b>2</b>"},
		"same frames":           {[]Output{display(map[string]any{"text/html": frames(here, there)})}, []Output{display(map[string]any{"text/html": frames(softer, there)})}, ""},
		"a frame":               {[]Output{display(map[string]any{"text/html": frames(here, here)})}, []Output{display(map[string]any{"text/html": frames(here, there)})}, "pixels differ"},
		"a frame more":          {[]Output{display(map[string]any{"text/html": frames(here)})}, []Output{display(map[string]any{"text/html": frames(here, here)})}, "+ <img"},
		"type":                  {[]Output{pic(here)}, []Output{{Type: Error, EValue: "boom"}}, "became error"},
		"MIME type":             {[]Output{display(map[string]any{"text/html": "x"})}, []Output{display(map[string]any{"text/markdown": "x"})}, "is new"},
		"JSON":                  {[]Output{display(map[string]any{"application/json": []any{"a"}})}, []Output{display(map[string]any{"application/json": []any{"b"}})}, "differs"},
		"error":                 {[]Output{{Type: Error, EValue: "boom"}}, []Output{{Type: Error, EValue: "bang"}}, "+ bang"},
		"metadata of a picture": {[]Output{{Type: Display, Data: map[string]any{"image/png": here}, Metadata: map[string]any{"image/png": map[string]any{"alt": "x"}}}}, []Output{pic(here)}, "alt:x"},
	} {
		t.Run(name, func(t *testing.T) {
			want, got := notebook("x"), notebook("x")
			want.Cells[0].Outputs, got.Cells[0].Outputs = c.want, c.got
			diffs := Compare(want, got)
			if (c.note == "") != (len(diffs) == 0) {
				t.Fatalf("differences %v, want %q", diffs, c.note)
			}
			report, err := Report(diffs, t.TempDir(), "x")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(report, c.note) {
				t.Errorf("report %s, want %q in it", report, c.note)
			}

			// What Compare forgives is not rewritten, what it does not is.
			before := got.Bytes()
			KeepEqual(want, got)
			if c.note == "" && !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Error("KeepEqual did not keep the old outputs")
			}
			if c.note != "" && !bytes.Equal(got.Bytes(), before) {
				t.Error("KeepEqual kept outputs that differ")
			}
		})
	}
}

func TestCompareNumbersCells(t *testing.T) {
	want, got := notebook("a", "b", "c"), notebook("a", "b")
	got.Cells[1].Outputs = []Output{stdout("x\n")}
	diffs := Compare(want, got)
	if len(diffs) != 2 || diffs[0].Cell != 2 || diffs[1].Note != "3 cells became 2" {
		t.Errorf("differences %v", diffs)
	}
}

func TestReportStoresPictures(t *testing.T) {
	want, got := notebook("x"), notebook("x")
	want.Cells[0].Outputs = []Output{display(map[string]any{"image/png": drawing(t, 100, 0)})}
	got.Cells[0].Outputs = []Output{display(map[string]any{"image/png": drawing(t, 200, 0)})}
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	report, err := Report(Compare(want, got), dir, "lesson")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lesson-cell1-1-got.png")
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(report, path) {
		t.Fatalf("%v; report %s", err, report)
	}
	if base64.StdEncoding.EncodeToString(data) != drawing(t, 200, 0) {
		t.Error("another picture was stored")
	}
	if _, err := os.Stat(filepath.Join(dir, "lesson-cell1-1-want.png")); err != nil {
		t.Error(err)
	}
}

func TestDiffTextIsShort(t *testing.T) {
	note := diffText(strings.Repeat("a\n", 1000), strings.Repeat("é", 10000))
	if len(note) > 4000 || !strings.Contains(note, "more lines") {
		t.Errorf("%d bytes: %.200s", len(note), note)
	}
}
