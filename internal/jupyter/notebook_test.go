package jupyter

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testdata/nbformat.ipynb was written by the nbformat package itself, the code
// that JupyterLab saves with; see testdata/README.md.
func TestCanonicalFormIsJupyters(t *testing.T) {
	want, err := os.ReadFile("testdata/nbformat.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	nb, err := Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := nb.Bytes(); !bytes.Equal(got, want) {
		t.Errorf("the canonical form differs: %s", diffText(string(want), string(got)))
	}
	if c := nb.Cells[0]; !strings.Contains(c.Source, "ls\u2028 ps\u2029") || !c.HasTag("b") || c.HasTag("c") {
		t.Errorf("cell read as %+v", c)
	}
	outputs := nb.Cells[4].Outputs
	if nb.Cells[4].ExecutionCount != 3 || len(outputs) != 5 || outputs[0].Text != "one\ntwo\n" ||
		outputs[2].Data["text/plain"] != "alt\ntext" || outputs[4].Traceback[1] != "\x1b[31mred\x1b[0m" {
		t.Errorf("outputs read as %+v", outputs)
	}
}

// Every other spelling of the same document leads to the same bytes.
func TestParseAcceptsOtherSpellings(t *testing.T) {
	loose := `{"nbformat_minor":5,"nbformat":4,"cells":[{"id":"a","cell_type":"code","source":["x\n","y"],"metadata":null,
		"outputs":[{"output_type":"stream","name":"stdout","text":"1\n2\n"}],"execution_count":1}],"metadata":{}}`
	nb, err := Parse([]byte(loose))
	if err != nil {
		t.Fatal(err)
	}
	if nb.Cells[0].Source != "x\ny" || nb.Cells[0].Outputs[0].Text != "1\n2\n" {
		t.Fatalf("read as %+v", nb.Cells[0])
	}
	again, err := Parse(nb.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(nb.Bytes(), again.Bytes()) {
		t.Error("the canonical form is not stable")
	}
}

func TestParseRefuses(t *testing.T) {
	cell := `{"cell_type":"markdown","id":"a","metadata":{},"source":""}`
	wrap := func(cells string) string {
		return `{"cells":[` + cells + `],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	}
	if _, err := Parse([]byte(wrap(cell))); err != nil {
		t.Fatalf("the control is refused: %v", err)
	}
	for name, c := range map[string]struct{ in, want string }{
		"empty":         {"", "not a notebook"},
		"not JSON":      {"# hello", "not a notebook"},
		"other JSON":    {"[1]", "not a notebook"},
		"two documents": {wrap(cell) + "{}", "something follows"},
		"old format":    {`{"cells":[],"metadata":{},"nbformat":3,"nbformat_minor":0}`, "3.0 is not supported"},
		"no ids yet":    {`{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":4}`, "4.4 is not supported"},
		"cell type":     {wrap(strings.Replace(cell, "markdown", "heading", 1)), `unknown type "heading"`},
		"same id":       {wrap(cell + "," + cell), `cells 1 and 2 have the same id "a"`},
		"bad id":        {wrap(strings.Replace(cell, `"a"`, `"a b"`, 1)), `the id "a b"`},
		"no id":         {wrap(strings.Replace(cell, `"a"`, `""`, 1)), `the id ""`},
		"unknown field": {wrap(strings.Replace(cell, `"source"`, `"sauce"`, 1)), "sauce"},
		"source":        {wrap(strings.Replace(cell, `"source":""`, `"source":[1]`, 1)), "not a notebook"},
		"outputs":       {wrap(strings.Replace(cell, `"source"`, `"outputs":[{"output_type":"stream"}],"source"`, 1)), "has outputs"},
		"output type":   {wrap(`{"cell_type":"code","id":"a","metadata":{},"source":"","outputs":[{"output_type":"pyout"}]}`), `unknown output type "pyout"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestSplitLinesLosesNothing(t *testing.T) {
	for _, s := range []string{"", "a", "a\n", "\n\n", "a\r\nb\rc", "\r", "a\vb\fc\x1cd", "\u0085x\u2028y\u2029", "\xff\nx"} {
		if got := strings.Join(splitLines(s), ""); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	if got := splitLines("a\r\nb\n\nc"); !slices.Equal(got, []string{"a\r\n", "b\n", "\n", "c"}) {
		t.Errorf("split as %q", got)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.ipynb")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	nb := &Notebook{Cells: []Cell{{Type: Markdown, ID: "a", Source: "hello"}}}
	if err := nb.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, nb.Bytes()) {
		t.Errorf("wrote %q, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want that of the file before", info.Mode(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left %v", files)
	}
	if _, err := ReadFile(path); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	seed, err := os.ReadFile("testdata/nbformat.ipynb")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"cells":[{"cell_type":"code","id":"a","metadata":{},"source":["x"],"outputs":[]}],"metadata":{"n":1e400},"nbformat":4,"nbformat_minor":5}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := Parse(data)
		if err != nil {
			return
		}
		first := nb.Bytes()
		again, err := Parse(first)
		if err != nil {
			t.Fatalf("the canonical form is refused: %v\n%s", err, first)
		}
		if second := again.Bytes(); !bytes.Equal(first, second) {
			t.Fatalf("the canonical form is not stable:\n%s\n%s", first, second)
		}
		if len(Compare(nb, again)) != 0 {
			t.Fatal("a notebook differs from itself")
		}
	})
}
