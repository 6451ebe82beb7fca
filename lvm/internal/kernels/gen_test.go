package kernels

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The committed assembly is what its generators write: run every go:generate line of
// the package with other outputs and compare.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the generators")
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			command, ok := strings.CutPrefix(line, "//go:generate ")
			if !ok {
				continue
			}
			lines++
			dir := t.TempDir()
			var outputs []string
			args := strings.Fields(command)
			for i, arg := range args {
				if i > 0 && (args[i-1] == "-out" || args[i-1] == "-stubs") {
					outputs = append(outputs, arg)
					args[i] = filepath.Join(dir, arg)
				}
			}
			args = append(args, "-pkg", "kernels")
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%s%v\n%s", line, err, out)
			}
			for _, name := range outputs {
				got, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				want, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				// The first line repeats the command.
				_, got, _ = bytes.Cut(got, []byte("\n"))
				_, want, _ = bytes.Cut(want, []byte("\n"))
				if !bytes.Equal(got, want) {
					t.Errorf("%s is not what its generator writes; run go generate", name)
				}
			}
		}
	}
	if lines == 0 {
		t.Error("no go:generate line found")
	}
}
