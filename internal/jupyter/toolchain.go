package jupyter

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A Toolchain is what executes lessons: GoNB and the goimports it calls, built
// at the versions of the module's tool lines.
type Toolchain struct {
	Root string // the module's directory
	Bin  string // holds gonb and goimports
	GoNB string
}

// tools are the programs of a Toolchain and the modules they come from.
var tools = []struct{ pkg, module string }{
	{"github.com/janpfeifer/gonb", "github.com/janpfeifer/gonb"},
	{"golang.org/x/tools/cmd/goimports", "golang.org/x/tools"},
}

// StateDir is where built tools, the Jupyter environment and pictures that
// failed a check are kept, below the module's directory and out of Git.
const StateDir = ".lessons"

// FindRoot returns the directory of the module that dir is in.
func FindRoot(dir string) (string, error) {
	const module = "module github.com/latent-lessons/latent"
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for d := dir; ; d = filepath.Dir(d) {
		mod, err := os.ReadFile(filepath.Join(d, "go.mod"))
		if err == nil && bytes.HasPrefix(bytes.TrimSpace(mod), []byte(module)) {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("%s is not inside a clone of the lessons: clone the repository and run this from there", dir)
		}
	}
}

// BuildToolchain builds what is missing or out of date in the state directory
// of the module at root; say is told before a build, which takes a while.
func BuildToolchain(ctx context.Context, root string, say func(string)) (*Toolchain, error) {
	if runtime.GOOS == "windows" {
		return nil, fmt.Errorf("GoNB does not run on Windows itself; use the Windows Subsystem for Linux or the Docker image")
	}
	t := &Toolchain{Root: root, Bin: filepath.Join(root, StateDir, "bin")}
	t.GoNB = filepath.Join(t.Bin, "gonb")
	current, err := t.upToDate(ctx)
	if err != nil || current {
		return t, err
	}
	say("building GoNB and goimports …")
	if err := os.MkdirAll(t.Bin, 0o755); err != nil {
		return nil, err
	}
	// Built aside and renamed, so that a running kernel and a second builder
	// are not disturbed.
	tmp, err := os.MkdirTemp(t.Bin, "new-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	args := []string{"build", "-o", tmp + string(filepath.Separator)}
	for _, tool := range tools {
		args = append(args, tool.pkg)
	}
	if _, err := t.goCommand(ctx, args...); err != nil {
		return nil, err
	}
	for _, tool := range tools {
		name := filepath.Base(tool.pkg)
		if err := os.Rename(filepath.Join(tmp, name), filepath.Join(t.Bin, name)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// upToDate asks the built programs for their versions.
func (t *Toolchain) upToDate(ctx context.Context) (bool, error) {
	args := []string{"list", "-m", "-f", "{{.Version}}"}
	for _, tool := range tools {
		args = append(args, tool.module)
	}
	out, err := t.goCommand(ctx, args...)
	if err != nil {
		return false, err
	}
	goVersion, err := t.goCommand(ctx, "env", "GOVERSION")
	if err != nil {
		return false, err
	}
	want := strings.Fields(out)
	for i, tool := range tools {
		info, err := buildinfo.ReadFile(filepath.Join(t.Bin, filepath.Base(tool.pkg)))
		if err != nil || info.Main.Version != want[i] || info.GoVersion != strings.TrimSpace(goVersion) {
			return false, nil
		}
	}
	return true, nil
}

// goCommand runs the go command in the module, whatever workspace is around.
func (t *Toolchain) goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.Root
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), nil
}

// env is the environment of a kernel that executes a notebook, on top of the
// process's own. Settings made for other work must not confuse the go command
// in a cell. The symbol table of a program that is run once and thrown away is
// not worth linking.
func (t *Toolchain) env() []string {
	return []string{
		"PATH=" + t.Bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"GOFLAGS=" + goFlags, "GOWORK=",
	}
}

const goFlags = "-ldflags=-s"

// Warm compiles what lessons import, so that the first cell does not wait for it.
func (t *Toolchain) Warm(ctx context.Context) error {
	_, err := t.goCommand(ctx, "build", "./lvm/...", "./plots/...", "./datasets/...", tools[0].pkg+"/gonbui",
		"github.com/janpfeifer/must", "testing", "testing/internal/testdeps")
	return err
}
