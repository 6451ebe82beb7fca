package jupyter

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCanonicalOutputs(t *testing.T) {
	nb := notebook(setup,
		`import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)
func picture() []byte {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4)))
	return b.Bytes()
}`,
		// Text and displays take turns: what order they arrive in is chance.
		`%%
for i := range 5 {
	fmt.Println("line", i)
	gonbui.DisplayHTML(fmt.Sprintf("<b>%d</b>", i))
	fmt.Fprintln(os.Stderr, "note", i)
}
gonbui.Sync()`,
		// A progress bar: one display, updated; another that clears itself.
		`%%
id, gone := "gonb_bar_"+gonbui.UniqueId(), "gonb_gone_"+gonbui.UniqueId()
gonbui.UpdateHTML(gone, "working")
for i := range 3 {
	gonbui.UpdateHTML(id, fmt.Sprintf("<i id=%q>%d of 3</i>", id, i+1))
}
gonbui.UpdateHTML(gone, "")
gonbui.DisplayMarkdown("done")
gonbui.Sync()`,
		// A picture with its alternative text beside it.
		`%%
gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
	protocol.MIMEImagePNG: picture(), protocol.MIMETextPlain: "a grey square"}})
gonbui.Sync()`,
		// Paths of this machine.
		`!pwd; echo $TMPDIR/x; echo $GONB_TMP_DIR/main.go $GONB_TMP_DIR`,
		"%test\nfunc TestQuick(t *testing.T) { t.Run(\"sub\", func(t *testing.T) {}) }",
		"%with_inputs\n!read a; read b; echo \"<$a|$b>\"",
		`!seq 1 20000`,
	)
	nb.Cells[0].Metadata["execution"] = map[string]any{"iopub.status.idle": "2026-01-01T00:00:00"}
	nb.Cells = append(nb.Cells, Cell{Type: Markdown, ID: "m", Source: "text", Metadata: map[string]any{}})
	first, err := runCells(t, t.Context(), time.Minute, nb)
	if err != nil {
		t.Fatal(err)
	}
	second, err := runCells(t, t.Context(), time.Minute, first)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := first.Bytes(), second.Bytes(); !bytes.Equal(a, b) {
		t.Fatalf("two runs differ: %s", diffText(string(a), string(b)))
	}
	if len(nb.Cells[2].Outputs) != 0 {
		t.Error("the notebook that was run has changed")
	}
	if _, ok := first.Cells[0].Metadata["execution"]; ok {
		t.Error("timings are kept")
	}
	for i := range 9 {
		if got := first.Cells[i].ExecutionCount; got != i+1 {
			t.Errorf("cell %d has execution count %d", i+1, got)
		}
	}

	out := func(cell int) []Output { return first.Cells[cell-1].Outputs }
	if got := len(out(1)) + len(out(2)); got != 0 {
		t.Errorf("setup and declarations show %d outputs", got)
	}
	mixed := out(3)
	if len(mixed) != 7 || mixed[0].Name != "stdout" || mixed[0].Text != "line 0\nline 1\nline 2\nline 3\nline 4\n" ||
		mixed[1].Name != "stderr" || !strings.HasPrefix(mixed[1].Text, "note 0\nnote 1") || mixed[6].Data["text/html"] != "<b>4</b>" {
		t.Errorf("text and displays: %+v", mixed)
	}
	bar := out(4)
	if len(bar) != 2 || !strings.HasSuffix(bar[0].Data["text/html"].(string), ">3 of 3</i>") || bar[1].Data["text/markdown"] != "done" {
		t.Errorf("progress: %+v", bar)
	}
	alt, _ := out(5)[0].Metadata["image/png"].(map[string]any)
	if alt["alt"] != "a grey square" {
		t.Errorf("alternative text: %+v", out(5)[0].Metadata)
	}
	if got, want := out(6)[0].Text, "internal/jupyter\nx\nmain.go gonb\n"; got != want {
		t.Errorf("paths: %q, want %q", got, want)
	}
	if got := out(7)[0].Text; !strings.Contains(got, "--- PASS: TestQuick/sub (0.00s)\nPASS\n") {
		t.Errorf("test: %q", got)
	}
	if got := out(8)[0].Text; got != "<|>\n" {
		t.Errorf("input: %q", got)
	}
	if got := out(9)[0].Text; strings.Count(got, "\n") != 20000 {
		t.Errorf("20000 lines became %d", strings.Count(got, "\n"))
	}
}

// A lesson sees an edit of the library in the next cell, and needs no network
// for it whatever the user has set for other work.
func TestEditsAreSeenOffline(t *testing.T) {
	tools := toolchain(t)
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/lib\n\ngo 1.26\n")
	write("lib.go", "package lib\n\nfunc Answer() int { return 41 }\n")
	write("notebooks/x.ipynb", "")
	nb := notebook(setup, "import \"example.org/lib\"\nfunc show() { fmt.Println(lib.Answer()) }", "%%\nshow()",
		`!sed -i.bak s/41/42/ "$GONB_DIR/../lib.go"`, "%%\nshow()")
	r := Runner{Toolchain: tools, Timeout: time.Minute}
	out, err := r.Run(t.Context(), filepath.Join(dir, "notebooks", "x.ipynb"), nb)
	if err != nil {
		t.Fatal(err)
	}
	if before, after := Text(out.Cells[2].Outputs, "stdout"), Text(out.Cells[4].Outputs, "stdout"); before != "41\n" || after != "42\n" {
		t.Errorf("before the edit %q, after %q", before, after)
	}
}
