package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// script writes a program into a directory.
func script(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// fakePython makes an environment and "installs" JupyterLab into it, and keeps
// count; its version is new enough unless old is set.
const fakePython = `
case "$*" in
*version_info*) [ -z "$OLD" ] ;;
"-m venv "*) [ -z "$NO_VENV" ] || { echo "ensurepip is not available" >&2; exit 1; }
  mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-m pip "*) echo pip >>"$COUNT"; [ -z "$NO_NET" ] || { echo "no network" >&2; exit 1; }
  printf '#!/bin/sh\necho 4.6.6\n' >"$(dirname "$0")/jupyter-lab"; chmod +x "$(dirname "$0")/jupyter-lab" ;;
esac
`

func TestJupyterLabOnPath(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	var stderr bytes.Buffer
	a := &app{root: t.TempDir(), stderr: &stderr}
	script(t, bin, "jupyter-lab", "echo 4.2.1")
	if lab, err := a.jupyterLab(t.Context()); err != nil || lab != filepath.Join(bin, "jupyter-lab") {
		t.Errorf("found %q, %v", lab, err)
	}
	// Too old, or broken: our own is made.
	count := filepath.Join(t.TempDir(), "count")
	t.Setenv("COUNT", count)
	script(t, bin, "python3", fakePython)
	for _, text := range []string{"echo 3.6.8", "exit 1"} {
		script(t, bin, "jupyter-lab", text)
		if lab, err := a.jupyterLab(t.Context()); err != nil || !strings.HasPrefix(lab, a.root) {
			t.Errorf("jupyter-lab that says %q: found %q, %v", text, lab, err)
		}
	}
}

func TestOwnJupyterLab(t *testing.T) {
	bin, count := t.TempDir(), filepath.Join(t.TempDir(), "count")
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Setenv("COUNT", count)
	script(t, bin, "python3", fakePython)
	var stderr bytes.Buffer
	a := &app{root: t.TempDir(), stderr: &stderr}
	dir := filepath.Join(a.root, ".lessons", "jupyter")
	installs := func() int {
		data, _ := os.ReadFile(count)
		return strings.Count(string(data), "pip")
	}
	want := 0
	for _, step := range []struct {
		name    string
		before  func()
		install bool
	}{
		{"nothing there", func() {}, true},
		{"all there", func() {}, false},
		{"half made", func() { os.Remove(filepath.Join(dir, "requirements.sha256")) }, true},
		{"broken", func() { script(t, filepath.Join(dir, "bin"), "jupyter-lab", "exit 1") }, true},
		{"gone", func() { os.Remove(filepath.Join(dir, "bin", "jupyter-lab")) }, true},
		{"other versions", func() { os.WriteFile(filepath.Join(dir, "requirements.sha256"), []byte("old"), 0o644) }, true},
		{"all there again", func() {}, false},
	} {
		step.before()
		if step.install {
			want++
		}
		lab, err := a.ownJupyterLab(t.Context())
		if err != nil || installs() != want {
			t.Fatalf("%s: %d installations, want %d; %v", step.name, installs(), want, err)
		}
		if _, err := os.Stat(lab); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
	}

	// An installation that fails is not taken for a good one the next time.
	os.RemoveAll(dir)
	t.Setenv("NO_NET", "1")
	if _, err := a.ownJupyterLab(t.Context()); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("no network: %v", err)
	}
	t.Setenv("NO_NET", "")
	if _, err := a.ownJupyterLab(t.Context()); err != nil {
		t.Errorf("after the network came back: %v", err)
	}
	os.RemoveAll(dir)
	t.Setenv("NO_VENV", "1")
	if _, err := a.ownJupyterLab(t.Context()); err == nil || !strings.Contains(err.Error(), "apt install python3-venv") {
		t.Errorf("a Python without venv: %v, want advice", err)
	}
}

func TestNoPython(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	a := &app{root: t.TempDir(), stderr: new(bytes.Buffer)}
	check := func(what string) {
		t.Helper()
		_, err := a.jupyterLab(t.Context())
		if err == nil {
			t.Fatalf("%s: no error", what)
		}
		for _, way := range []string{"Docker", "VS Code", "lessons run", "3.10"} {
			if !strings.Contains(err.Error(), way) {
				t.Errorf("%s: the message does not name %s: %v", what, way, err)
			}
		}
	}
	check("no Python at all")
	script(t, bin, "python3", fakePython)
	t.Setenv("OLD", "1")
	check("an old Python")
}

// Every line that names a package pins its version and has a hash below it, and
// nothing names a place to get it from.
func TestRequirementsArePinned(t *testing.T) {
	text := string(requirements)
	if !strings.Contains(text, "\njupyterlab==4.6.") {
		t.Error("JupyterLab 4.6 is not among the requirements")
	}
	for _, bad := range []string{"index-url", "http:", "https:", "find-links", "--trusted-host"} {
		if strings.Contains(text, bad) {
			t.Errorf("the requirements contain %q", bad)
		}
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line == "" || strings.HasPrefix(strings.TrimSpace(line), "#") || strings.HasPrefix(line, "    --hash=sha256:") {
			continue
		}
		if !strings.Contains(line, "==") || i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "    --hash=sha256:") {
			t.Errorf("line %d is not a pinned package with a hash: %s", i+1, line)
		}
	}
}
