package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/latent-lessons/latent/internal/jupyter"
)

//go:embed requirements.txt
var requirements []byte

// errNoPython is told to people who may be glad to hear that they need none.
var errNoPython = errors.New(`JupyterLab needs Python 3.10 or later, and there is none here.
Either install it (Debian and Ubuntu: apt install python3 python3-venv, macOS: brew install python) and try again,
or take one of the ways without it:
  Docker       build the image of this repository and open the address that it prints, see README.md
  VS Code      its Jupyter extension opens notebooks/; register the Go kernel first: go run ./cmd/lessons kernel
  no browser   go run ./cmd/lessons run executes the lessons right here`)

// jupyterLab finds the jupyter-lab to start: the one on PATH, or one that is
// installed into an environment of the repository's own.
func (a *app) jupyterLab(ctx context.Context) (string, error) {
	if lab, err := exec.LookPath("jupyter-lab"); err == nil {
		if out, err := exec.CommandContext(ctx, lab, "--version").Output(); err == nil {
			major, _, _ := strings.Cut(string(out), ".")
			if major >= "4" || len(major) > 1 {
				return lab, nil
			}
			fmt.Fprintf(a.stderr, "%s is JupyterLab %s, too old for the lessons; using one of our own\n", lab, bytes.TrimSpace(out))
		}
	}
	return a.ownJupyterLab(ctx)
}

// ownJupyterLab makes the environment, or repairs it if it was left half made,
// belongs to other requirements, or does not start (the clone was moved, its
// Python was removed).
func (a *app) ownJupyterLab(ctx context.Context) (string, error) {
	dir := filepath.Join(a.root, jupyter.StateDir, "jupyter")
	lab := filepath.Join(dir, "bin", "jupyter-lab")
	sum := sha256.Sum256(requirements)
	want := hex.EncodeToString(sum[:])
	stamp := filepath.Join(dir, "requirements.sha256") // written last
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		if exec.CommandContext(ctx, lab, "--version").Run() == nil {
			return lab, nil
		}
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	python, err := findPython(ctx)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(a.stderr, "installing JupyterLab into %s (once, about 250 MB) …\n", a.short(dir))
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := a.call(ctx, python, "-m", "venv", dir); err != nil {
		return "", fmt.Errorf("making a Python environment: %w\n(on Debian and Ubuntu: apt install python3-venv)", err)
	}
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, requirements, 0o644); err != nil {
		return "", err
	}
	err = a.call(ctx, filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
		"--no-deps", "--require-hashes", "-r", list)
	if err != nil {
		return "", fmt.Errorf("installing JupyterLab: %w", err)
	}
	if err := a.call(ctx, lab, "--version"); err != nil {
		return "", fmt.Errorf("the JupyterLab just installed does not start: %w", err)
	}
	return lab, os.WriteFile(stamp, []byte(want), 0o644)
}

// findPython returns a Python that is new enough.
func findPython(ctx context.Context) (string, error) {
	for _, name := range []string{"python3", "python", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"} {
		python, err := exec.LookPath(name)
		if err == nil && exec.CommandContext(ctx, python, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run() == nil {
			return python, nil
		}
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return "", errNoPython
}

// call runs a program quietly; its output is the error's text if it fails.
func (a *app) call(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}
