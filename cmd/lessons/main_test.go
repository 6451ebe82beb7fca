package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latent-lessons/latent/internal/jupyter"
)

// lessonsCommand runs the command as main does.
func lessonsCommand(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(ctx, args, &out, &err)
	return status, out.String(), err.String()
}

// fakeRepository is a repository with lessons that nobody executes.
func fakeRepository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module github.com/latent-lessons/latent\n")
	for name, prose := range map[string]string{
		"clustering/01-kmeans":            "# k-means\n\n![a figure](x.png)\n\nWhich points belong *together*? We [look](x.md).",
		"clustering/02-gaussian-mixtures": "# Mixtures\n\nSoft groups, e.g. of\neruptions. More.",
		"reduction/01-pca":                "# PCA",
	} {
		nb := &jupyter.Notebook{Cells: []jupyter.Cell{{Type: jupyter.Markdown, ID: "a", Source: prose}}}
		write("notebooks/"+name+".ipynb", string(nb.Bytes()))
	}
	write("notebooks/clustering/.ipynb_checkpoints/01-kmeans-checkpoint.ipynb", "{}")
	t.Chdir(filepath.Join(root, "notebooks", "clustering"))
	return root
}

func TestList(t *testing.T) {
	fakeRepository(t)
	status, out, stderr := lessonsCommand(t.Context())
	if status != 0 || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{
		"clustering\n  01-kmeans                      Which points belong together?\n",
		"  02-gaussian-mixtures           Soft groups, e.g. of eruptions.\n",
		"reduction\n  01-pca ",
		"check [pattern …]",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "checkpoint") {
		t.Errorf("lists Jupyter's checkpoints:\n%s", out)
	}
}

func TestMatch(t *testing.T) {
	root := fakeRepository(t)
	a := &app{root: root}
	for pattern, want := range map[string]string{
		"":                                     "clustering/01-kmeans clustering/02-gaussian-mixtures reduction/01-pca",
		"...":                                  "clustering/01-kmeans clustering/02-gaussian-mixtures reduction/01-pca",
		"clustering/...":                       "clustering/01-kmeans clustering/02-gaussian-mixtures",
		"./notebooks/clustering/...":           "clustering/01-kmeans clustering/02-gaussian-mixtures",
		"clustering":                           "clustering/01-kmeans clustering/02-gaussian-mixtures",
		"reduction/":                           "reduction/01-pca",
		"clustering/01-kmeans":                 "clustering/01-kmeans",
		"01-kmeans":                            "clustering/01-kmeans",
		"kmeans":                               "clustering/01-kmeans",
		"notebooks/clustering/01-kmeans.ipynb": "clustering/01-kmeans",
		"01-kmeans.ipynb":                      "clustering/01-kmeans",
		"../reduction/01-pca.ipynb":            "reduction/01-pca",
		"pca kmeans clustering":                "reduction/01-pca clustering/01-kmeans clustering/02-gaussian-mixtures",
	} {
		found, err := a.match(strings.Fields(pattern))
		var names []string
		for _, l := range found {
			names = append(names, l.name)
			if _, err := os.Stat(l.path); err != nil {
				t.Errorf("%q: %v", pattern, err)
			}
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%q matches %q, %v; want %q", pattern, got, err, want)
		}
	}
}

func TestMistakesOnTheCommandLine(t *testing.T) {
	fakeRepository(t)
	for args, want := range map[string]string{
		"rnu":                       `no command "rnu"; did you mean "run"?`,
		"kernal":                    `did you mean "kernel"?`,
		"frobnicate":                "there are check, kernel, lab, run",
		"run clustering/01-kmaens":  `no lesson matches "clustering/01-kmaens"; did you mean "clustering/01-kmeans"?`,
		"check clusterin/...":       `did you mean "clustering/..."?`,
		"run gausian-mixtures":      `did you mean "gaussian-mixtures"?`,
		"run nosuch.ipynb":          `no lesson matches "nosuch.ipynb"`,
		"run -no-such-flag":         "no-such-flag",
		"run -timeout soon":         "soon",
		"kernel here":               "kernel takes no arguments",
		"kernel -dir x -sys-prefix": "exclude each other",
		"lab kmaens":                `did you mean "kmeans"?`,
	} {
		status, _, stderr := lessonsCommand(t.Context(), strings.Fields(args)...)
		if status != 2 || strings.Count(stderr, want) != 1 {
			t.Errorf("lessons %s: status %d, %q; want 2 and, once, %q", args, status, stderr, want)
		}
	}
	if status, _, stderr := lessonsCommand(t.Context(), "run", "-h"); status != 0 || !strings.Contains(stderr, "-timeout") {
		t.Errorf("run -h: status %d, %q", status, stderr)
	}
	t.Chdir(t.TempDir())
	if status, _, stderr := lessonsCommand(t.Context(), "run"); status != 1 || !strings.Contains(stderr, "not inside a clone") {
		t.Errorf("outside of the repository: status %d, %q", status, stderr)
	}
}

// cells writes a notebook of code cells into a directory of its own.
func cells(t *testing.T, sources ...string) string {
	t.Helper()
	nb := &jupyter.Notebook{}
	for i, s := range sources {
		nb.Cells = append(nb.Cells, jupyter.Cell{Type: jupyter.Code, ID: string(rune('a' + i)), Source: s})
	}
	path := filepath.Join(t.TempDir(), "x.ipynb")
	if err := nb.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRunAndCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("starts GoNB kernels")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	good := cells(t, "%noautoget", "%%\nfmt.Println(6 * 7)")
	bad := cells(t, "%noautoget", "%%\nfmt.Println(nonsense)")
	text := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}

	before := text(good)
	status, out, stderr := lessonsCommand(t.Context(), "run", "-v", good)
	if status != 0 || !strings.Contains(out, "2 cells in") || !strings.Contains(out, "cell  2") {
		t.Fatalf("run: status %d\n%s%s", status, out, stderr)
	}
	if text(good) != before {
		t.Error("run without -w changed the notebook")
	}
	if status, _, stderr := lessonsCommand(t.Context(), "check", good); status != 1 || !strings.Contains(stderr, "+ 42") {
		t.Errorf("check of a notebook without outputs: status %d, %s", status, stderr)
	}
	if status, out, _ := lessonsCommand(t.Context(), "run", "-w", good); status != 0 || !strings.Contains(out, "written") || !strings.Contains(text(good), `"42\n"`) {
		t.Errorf("run -w: status %d, %s\n%s", status, out, text(good))
	}
	if status, out, _ := lessonsCommand(t.Context(), "run", "-w", good); status != 0 || !strings.Contains(out, "unchanged") {
		t.Errorf("run -w again: status %d, %s", status, out)
	}
	if status, out, stderr := lessonsCommand(t.Context(), "check", good); status != 0 || !strings.Contains(out, "same outputs") {
		t.Errorf("check: status %d, %s%s", status, out, stderr)
	}

	before = text(bad)
	status, out, stderr = lessonsCommand(t.Context(), "run", "-w", bad, good)
	if status != 1 || !strings.Contains(stderr, "undefined: nonsense") || !strings.Contains(stderr, "2 │ fmt.Println(nonsense)") {
		t.Errorf("a cell that fails: status %d\n%s%s", status, out, stderr)
	}
	if !strings.Contains(out, "ok ") || !strings.Contains(out, "FAIL") {
		t.Errorf("one good and one bad lesson: %s", out)
	}
	if text(bad) != before {
		t.Error("run -w wrote a notebook that failed")
	}
	if status, _, stderr := lessonsCommand(t.Context(), "run", "-timeout", "1s", cells(t, "!sleep 60")); status != 1 || !strings.Contains(stderr, "did not end within 1s") {
		t.Errorf("timeout: status %d, %s", status, stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "lessons-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a GoNB kernel")
	}
	marker := filepath.Join(t.TempDir(), "started")
	path := cells(t, "!touch "+marker+"; sleep 3600")
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(marker); err == nil {
				cancel()
			}
		}
	}()
	status, _, stderr := lessonsCommand(ctx, "run", path)
	if status != 130 || !strings.Contains(stderr, "interrupted") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
