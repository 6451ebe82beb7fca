//go:build linux || darwin

package show

import (
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/latent-lessons/latent/plots"
)

// The tests of this file run the test binary again as the program of a cell, with the
// two pipes and the environment that GoNB gives it, and play the kernel.

const cellEnv = "LATENT_TEST_CELL"

func TestMain(m *testing.M) {
	if cell, ok := cells[os.Getenv(cellEnv)]; ok {
		cell()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var cells = map[string]func(){
	"plot":  func() { Plot(figure(0)) },
	"table": func() { Table([]string{"k"}, []any{1}) },
	"order": func() {
		for i := range 20 {
			fmt.Println("line", i)
			Markdown(fmt.Sprint("display ", i))
		}
	},
	"progress": func() {
		for i := range Progress("Gibbs", 3) {
			_ = i
		}
		for i := range Progress("cut <short>", 9) {
			if i == 1 {
				break
			}
		}
	},
	"frames": func() { Frames("step", figure(0), figure(1)) },
	"impatient": func() {
		openPatience, sendPatience = 50*time.Millisecond, 50*time.Millisecond
		Markdown("one")
		Markdown("two")
		fmt.Println("went on")
	},
}

// run runs a cell and returns what it displayed and printed, as "stdout: …", in the
// order in which a kernel would publish it. A kernel that is deaf opens the pipes and
// answers nothing.
func run(t *testing.T, cell string, deaf bool) (displays []protocol.DisplayData, order []string) {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, p := range []string{in, out} {
		if err := syscall.Mkfifo(p, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), cellEnv+"="+cell, protocol.GONB_PIPE_ENV+"="+in, protocol.GONB_PIPE_BACK_ENV+"="+out, "LATENT_SHOW=")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	events := make(chan any)
	printed, displayed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(printed)
		b := make([]byte, 1<<16)
		for {
			n, err := stdout.Read(b)
			if n > 0 {
				events <- string(b[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer close(displayed)
		r, err := os.Open(in)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		w, err := os.OpenFile(out, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Close()
		if deaf {
			<-printed
			return
		}
		dec, enc := gob.NewDecoder(r), gob.NewEncoder(w)
		for {
			var d protocol.DisplayData
			if err := dec.Decode(&d); err == io.EOF {
				return
			} else if err != nil {
				t.Error(err)
				return
			}
			if v, ok := d.Data[protocol.MIMECommValue].(protocol.CommValue); ok {
				if err := enc.Encode(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: v.Value}); err != nil {
					t.Error(err)
				}
				continue
			}
			events <- d
		}
	}()
	done := make(chan struct{})
	go func() {
		<-printed
		<-displayed
		close(done)
	}()
	for {
		select {
		case e := <-events:
			switch e := e.(type) {
			case string:
				order = append(order, "stdout: "+strings.TrimSpace(e))
			case protocol.DisplayData:
				displays = append(displays, e)
				order = append(order, fmt.Sprint(e.Data[protocol.MIMETextMarkdown]))
			}
		case <-done:
			if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
				t.Errorf("the cell ended with %v, stderr %q", err, stderr.String())
			}
			return displays, order
		}
	}
}

func TestPlotInNotebook(t *testing.T) {
	displays, _ := run(t, "plot", false)
	if len(displays) != 2 {
		t.Fatalf("%d displays, want 2", len(displays))
	}
	alt := figure(0).Alt()
	d := displays[0]
	img, err := figure(0).Image()
	if err != nil {
		t.Fatal(err)
	}
	want, err := plots.EncodePNG(img)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := d.Data[protocol.MIMEImagePNG].([]byte); !ok || !slices.Equal(got, want) {
		t.Error("image/png is not the figure")
	}
	if d.Data[protocol.MIMETextPlain] != alt || len(d.Data) != 2 {
		t.Errorf("data: %v", d.Data[protocol.MIMETextPlain])
	}
	if m, ok := d.Metadata["image/png"].(map[string]any); !ok || m["alt"] != alt || len(d.Metadata) != 1 {
		t.Errorf("metadata: %v", d.Metadata)
	}
	if d.DisplayID != "" {
		t.Errorf("display id %q", d.DisplayID)
	}
	if got, want := displays[1].Data[protocol.MIMETextHTML], `<span role="img" aria-label="`+alt+`"></span>`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOrder(t *testing.T) {
	_, order := run(t, "order", false)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint("stdout: line ", i), fmt.Sprint("display ", i))
	}
	if !slices.Equal(order, want) {
		t.Errorf("order %q", order)
	}
}

func TestProgress(t *testing.T) {
	displays, _ := run(t, "progress", false)
	last := map[string]protocol.DisplayData{}
	var ids []string
	for _, d := range displays {
		if d.DisplayID == "" {
			t.Fatal("a display that cannot be replaced")
		}
		if _, ok := last[d.DisplayID]; !ok {
			ids = append(ids, d.DisplayID)
		}
		last[d.DisplayID] = d
	}
	if len(ids) != 2 {
		t.Fatalf("%d bars, want 2", len(ids))
	}
	for i, want := range [][2]string{
		{"<p>Gibbs: 3 of 3</p>", "Gibbs: 3 of 3"},
		{"<p>cut &lt;short&gt;: 1 of 9</p>", "cut <short>: 1 of 9"},
	} {
		d := last[ids[i]].Data
		if d[protocol.MIMETextHTML] != want[0] || d[protocol.MIMETextPlain] != want[1] {
			t.Errorf("bar %d leaves %v, want %q", i, d, want)
		}
	}
	if first, _ := displays[0].Data[protocol.MIMETextHTML].(string); !strings.Contains(first, `<progress value="0" max="3">`) {
		t.Errorf("first display %q", first)
	}
}

func TestFramesInNotebook(t *testing.T) {
	displays, _ := run(t, "frames", false)
	if len(displays) != 1 {
		t.Fatalf("%d displays, want 1", len(displays))
	}
	want, text, err := framesHTML("step", []*plots.Figure{figure(0), figure(1)})
	if err != nil {
		t.Fatal(err)
	}
	if d := displays[0].Data; d[protocol.MIMETextHTML] != want || d[protocol.MIMETextPlain] != text {
		t.Error("another process makes another slider")
	}
}

// TestNeverBlocks shows things to a kernel that does not answer, to one that is gone
// and to none at all.
func TestNeverBlocks(t *testing.T) {
	if _, order := run(t, "impatient", true); !slices.Equal(order, []string{"stdout: went on"}) {
		t.Errorf("deaf kernel: %q", order)
	}
	fifo := filepath.Join(t.TempDir(), "stale")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"stale pipe": fifo, "no pipe": "/no/such/pipe", "no kernel": ""} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), cellEnv+"=impatient", "GONB_PIPE="+path, "GONB_PIPE_BACK="+path, "LATENT_SHOW=")
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "went on\n" {
			t.Errorf("%s: %v, output %q", name, err, out)
		}
	}
}
