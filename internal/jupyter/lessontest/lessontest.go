// Package lessontest runs the lessons of a chapter as tests.
package lessontest

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/latent-lessons/latent/internal/jupyter"
)

// Chapter executes every lesson in the folder of the test in the real kernel: it
// must show what it showed when it was written, and the solutions must pass their
// tests. A chapter is a package of its own because go test limits the time of a
// package.
func Chapter(t *testing.T) {
	if testing.Short() {
		t.Skip("executes all lessons")
	}
	paths, err := filepath.Glob("*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatal("no lessons found", err)
	}
	folder, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
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
	for _, path := range paths {
		name := strings.TrimSuffix(path, ".ipynb")
		t.Run(name, func(t *testing.T) {
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
			chapter := filepath.Base(folder)
			report, err := jupyter.Report(diffs, filepath.Join(root, jupyter.StateDir, "check"), chapter+"-"+name)
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("the outputs are not those in the notebook\n%sIf the new ones are right: go run ./cmd/lessons run -w %s/%s", report, chapter, name)
		})
	}
}
