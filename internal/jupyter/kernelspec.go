package jupyter

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// KernelName is the name by which notebooks ask for their kernel. It is also
// the one of a stock GoNB, so that lessons open with either.
const KernelName = "gonb"

// Register writes the kernel's specification into a Jupyter data directory,
// such as ~/.local/share/jupyter, and returns where. With copyTools the kernel
// gets its own copy of GoNB and goimports and outlives this clone.
func (t *Toolchain) Register(ctx context.Context, dataDir string, copyTools bool) (string, error) {
	dir := filepath.Join(dataDir, "kernels", KernelName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	bin := t.Bin
	if copyTools {
		bin = filepath.Join(dir, "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			return "", err
		}
		for _, tool := range tools {
			name := filepath.Base(tool.pkg)
			data, err := os.ReadFile(filepath.Join(t.Bin, name))
			if err == nil {
				err = replaceFile(filepath.Join(bin, name), data, 0o755)
			}
			if err != nil {
				return "", err
			}
		}
	}
	// The go command comes last: found even by an editor that was not started
	// from a shell, yet not in the way of the user's own.
	path := bin + ":${PATH}"
	if goTool, err := exec.LookPath("go"); err == nil {
		path += ":" + filepath.Dir(goTool)
	}
	// Vetting a test cell costs a student's first one many seconds; that those of
	// the lessons pass is checked when they are executed here.
	env := map[string]string{"PATH": path, "GOFLAGS": goFlags + " -vet=off", "GOWORK": ""}
	var spec bytes.Buffer
	enc := json.NewEncoder(&spec)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(map[string]any{
		"argv":           []string{filepath.Join(bin, "gonb"), "--kernel", "{connection_file}"},
		"display_name":   "Go (gonb)",
		"language":       "go",
		"interrupt_mode": "message",
		"env":            env,
	})
	if err != nil {
		return "", err
	}
	// The gopher in the launcher; a kernel without it works as well.
	if module, err := t.goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", tools[0].module); err == nil {
		if logo, err := os.ReadFile(filepath.Join(strings.TrimSpace(module), "internal", "kernel", "Go_gopher_favicon.svg")); err == nil {
			if err := replaceFile(filepath.Join(dir, "logo-svg.svg"), logo, 0o644); err != nil {
				return "", err
			}
		}
	}
	return dir, replaceFile(filepath.Join(dir, "kernel.json"), spec.Bytes(), 0o644)
}

// replaceFile writes a file whole or not at all, even over a running program.
func replaceFile(path string, data []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), mode)
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
