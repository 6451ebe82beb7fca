package notebooks

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/latent-lessons/latent/internal/jupyter"
)

// lessons returns the paths of all lessons.
func lessons(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".ipynb" {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no lessons found")
	}
	return found
}

// TestLessons executes every lesson in the real kernel: it must show what it
// showed when it was written, and the solutions must pass their tests.
func TestLessons(t *testing.T) {
	if testing.Short() {
		t.Skip("executes all lessons")
	}
	root, err := jupyter.FindRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := jupyter.BuildToolchain(t.Context(), root, func(what string) { t.Log(what) })
	if err != nil {
		t.Fatal(err)
	}
	if err := tools.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	atOnce := make(chan struct{}, 2) // compiling a cell keeps more than one core busy
	for _, path := range lessons(t) {
		t.Run(strings.TrimSuffix(filepath.ToSlash(path), ".ipynb"), func(t *testing.T) {
			t.Parallel()
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			nb, err := jupyter.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			r := jupyter.Runner{Toolchain: tools, Timeout: 3 * time.Minute}
			_, diffs, err := r.Check(t.Context(), path, nb)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("executed in %.1f s", time.Since(start).Seconds())
			if len(diffs) == 0 {
				return
			}
			name := strings.TrimSuffix(filepath.ToSlash(path), ".ipynb")
			report, err := jupyter.Report(diffs, filepath.Join(root, jupyter.StateDir, "check"), strings.ReplaceAll(name, "/", "-"))
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("the outputs are not those in the notebook\n%sIf the new ones are right: go run ./cmd/lessons run -w %s", report, name)
		})
	}
}
