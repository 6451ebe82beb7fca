package jupyter

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindRoot(t *testing.T) {
	root, err := FindRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "internal", "jupyter", "toolchain_test.go")); err != nil {
		t.Error(err)
	}
	if _, err := FindRoot(t.TempDir()); err == nil || !strings.Contains(err.Error(), "clone") {
		t.Errorf("outside the repository: %v, want advice", err)
	}
}

func TestToolchainIsBuiltOnce(t *testing.T) {
	tools := toolchain(t)
	said := ""
	if _, err := BuildToolchain(t.Context(), tools.Root, func(s string) { said = s }); err != nil || said != "" {
		t.Errorf("built again: %q, %v", said, err)
	}
	info, err := buildinfo.ReadFile(tools.GoNB)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(tools.Root, "go.mod"))
	if err != nil || !strings.Contains(string(mod), info.Main.Path+" "+info.Main.Version) {
		t.Errorf("built %s %s, which is not what go.mod says", info.Main.Path, info.Main.Version)
	}
	// An old or broken program is noticed.
	broken := &Toolchain{Root: tools.Root, Bin: t.TempDir()}
	if ok, err := broken.upToDate(t.Context()); ok || err != nil {
		t.Errorf("an empty directory is up to date: %v, %v", ok, err)
	}
}

func TestRegister(t *testing.T) {
	tools := toolchain(t)
	data := t.TempDir()
	for _, c := range []struct {
		copyTools bool
		bin       string
	}{{false, tools.Bin}, {true, filepath.Join(data, "kernels", "gonb", "bin")}, {true, filepath.Join(data, "kernels", "gonb", "bin")}} {
		dir, err := tools.Register(t.Context(), data, c.copyTools)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
		if err != nil {
			t.Fatal(err)
		}
		var spec struct {
			Argv []string          `json:"argv"`
			Env  map[string]string `json:"env"`
		}
		if err := json.Unmarshal(text, &spec); err != nil {
			t.Fatal(err)
		}
		if spec.Argv[0] != filepath.Join(c.bin, "gonb") || !strings.HasPrefix(spec.Env["PATH"], c.bin+":${PATH}:") {
			t.Errorf("registered as %s", text)
		}
		// The kernel that was registered is one that can be started.
		if out, err := exec.Command(spec.Argv[0], "-V").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if _, err := os.Stat(filepath.Join(c.bin, "goimports")); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "logo-svg.svg")); err != nil {
			t.Error(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(data, "kernels", "gonb", ".new-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
