package jupyter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// setup is the first code cell of every lesson.
const setup = "%noautoget\n" + `!*[ -e go.work ] || go work init . "$(dirname "$(go -C "$GONB_DIR" env GOMOD)")"`

var builtTools = sync.OnceValues(func() (*Toolchain, error) {
	root, err := FindRoot(".")
	if err != nil {
		return nil, err
	}
	return BuildToolchain(context.Background(), root, func(string) {})
})

// toolchain builds the real GoNB; tests that start it are not for -short.
func toolchain(t *testing.T) *Toolchain {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a GoNB kernel")
	}
	tools, err := builtTools()
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// notebook makes one of code cells.
func notebook(sources ...string) *Notebook {
	nb := &Notebook{Metadata: map[string]any{}}
	for i, s := range sources {
		nb.Cells = append(nb.Cells, Cell{Type: Code, ID: "c" + strconv.Itoa(i), Source: s, Metadata: map[string]any{}})
	}
	return nb
}

// runCells executes cells as a notebook in a directory of its own and checks
// that the kernel leaves no file and no process behind.
func runCells(t *testing.T, ctx context.Context, timeout time.Duration, nb *Notebook) (*Notebook, error) {
	t.Helper()
	tools := toolchain(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	r := Runner{Toolchain: tools, Timeout: timeout}
	out, err := r.Run(ctx, filepath.Join(tools.Root, "internal", "jupyter", "test.ipynb"), nb)
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("the kernel left %v", left)
	}
	if left := processesWith(t, "TMPDIR="+tmp); len(left) > 0 {
		t.Errorf("the kernel left processes: %v", left)
	}
	return out, err
}

// processesWith returns the living processes that have a setting in their
// environment. Linux only; elsewhere it returns nothing.
func processesWith(t *testing.T, setting string) []string {
	t.Helper()
	var found []string
	for range 40 { // a killed process is gone a moment after its parent
		found = nil
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range environs {
			if path == "/proc/"+strconv.Itoa(os.Getpid())+"/environ" {
				continue
			}
			env, err := os.ReadFile(path) // empty for a zombie
			if err == nil && strings.Contains(string(env), setting) {
				cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
				found = append(found, strings.ReplaceAll(string(cmd), "\x00", " "))
			}
		}
		if len(found) == 0 {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return found
}

func TestProcessesWithFindsOne(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	k, err := StartKernel(t.Context(), toolchain(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	// Otherwise the checks that nothing is left would check nothing.
	if len(processesWith(t, "TMPDIR="+k.tmp)) == 0 {
		t.Error("a running kernel was not found")
	}
	k.Close()
	if left := processesWith(t, "TMPDIR="+k.tmp); len(left) > 0 {
		t.Errorf("after Close: %v", left)
	}
}

func TestEveryFormOfFailure(t *testing.T) {
	for _, c := range []struct{ name, cell, want string }{
		{"does not compile", "%%\nfmt.Println(undefinedName)", "undefined: undefinedName"},
		{"does not parse", "func ( {", "expected ')'"},
		{"unused variable", "%%\nx := 1", "Cell[2]: Line 2"},
		{"index out of range", "%%\nvar m []int\nfmt.Println(m[3])", "index out of range [3]"},
		{"panic", "%%\npanic(\"on purpose\")", "panic: on purpose"},
		{"exit status", "%%\nos.Exit(3)", "exit status 3"},
		{"failed test", "%test\nfunc TestX(t *testing.T) { t.Error(\"wanted more\") }", "wanted more"},
		{"shell command", "!echo sorry >&2; exit 4", "sorry"},
		{"last words of a shell", "!exit 4", "exit status 4"},
		{"unknown command", "%nosuch", `"%nosuch" unknown`},
		{"browser missing", "%widgets", "InstallWebSocket failed"},
		{"killed", "%%\np, _ := os.FindProcess(os.Getpid())\np.Kill()\nselect {}", "signal: killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			nb := notebook(setup, c.cell, "!touch must-not-run")
			out, err := runCells(t, t.Context(), time.Minute, nb)
			var cell *CellError
			if !errors.As(err, &cell) {
				t.Fatalf("error %v, want a *CellError; outputs %+v", err, out.Cells[1].Outputs)
			}
			if cell.Cell != 2 || cell.Count != 2 || cell.Source != c.cell || !strings.Contains(cell.Report, c.want) {
				t.Errorf("reported %v, want %q in it", err, c.want)
			}
			if strings.Contains(err.Error(), "\x1b[") || strings.Contains(err.Error(), "<div") {
				t.Errorf("not readable: %q", err)
			}
			if _, err := os.Stat("must-not-run"); err == nil {
				os.Remove("must-not-run")
				t.Error("the cell after the failed one was executed")
			}
			// The same cell passes where the failure is the point.
			nb.Cells[1].Metadata["tags"] = []any{ExpectFailure}
			nb.Cells = nb.Cells[:2]
			if _, err := runCells(t, t.Context(), time.Minute, nb); err != nil {
				t.Errorf("tagged %s: %v", ExpectFailure, err)
			}
		})
	}
}

func TestWhatIsNoFailure(t *testing.T) {
	nb := notebook(setup, `%%
fmt.Println("exit status 1")
fmt.Println("panic: only printed")
fmt.Fprintln(os.Stderr, "a warning about panic: and exit status 1")`,
		"!true", "%test\nfunc TestSkipped(t *testing.T) { t.Skip(\"later\") }", "")
	if _, err := runCells(t, t.Context(), time.Minute, nb); err != nil {
		t.Error(err)
	}
	nb.Cells[1].Metadata["tags"] = []any{ExpectFailure}
	if _, err := runCells(t, t.Context(), time.Minute, nb); err == nil || !strings.Contains(err.Error(), "does not fail") {
		t.Errorf("a cell that should have failed: %v", err)
	}
}

func TestTimeout(t *testing.T) {
	// A shell, so that nothing has to be compiled in that time.
	_, err := runCells(t, t.Context(), 3*time.Second, notebook("!echo so far; sleep 3600"))
	var timeout ErrTimeout
	if !errors.As(err, &timeout) || timeout.After != 3*time.Second {
		t.Fatalf("error %v, want ErrTimeout", err)
	}
	if !strings.Contains(err.Error(), "sleep 3600") || !strings.Contains(err.Error(), "\nso far") {
		t.Errorf("the report lacks the source or what was printed: %v", err)
	}
}

func TestCancelKillsEverything(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	marker := filepath.Join(t.TempDir(), "started")
	go func() {
		for {
			if _, err := os.Stat(marker); err == nil || ctx.Err() != nil {
				cancel()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	// The cell ignores interrupts and has a child: nothing short of a kill helps.
	nb := notebook(setup, "%%\nsignal.Ignore(os.Interrupt)\nexec.Command(\"sleep\", \"3600\").Start()\nos.WriteFile("+strconv.Quote(marker)+", nil, 0o600)\ntime.Sleep(time.Hour)")
	_, err := runCells(t, ctx, time.Hour, nb)
	if !Interrupted(err) {
		t.Errorf("error %v, want one that says cancelled", err)
	}
}

func TestKernelDies(t *testing.T) {
	_, err := runCells(t, t.Context(), time.Minute, notebook(setup, "!kill -9 $PPID; sleep 10"))
	if !errors.Is(err, ErrKernelDied) {
		t.Errorf("error %v, want ErrKernelDied", err)
	}
}

func TestKernelThatCannotStart(t *testing.T) {
	toolchain(t)
	bin := t.TempDir()
	bad := filepath.Join(bin, "gonb")
	if err := os.WriteFile(bad, []byte("#!/bin/sh\necho no luck today >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	_, err := StartKernel(t.Context(), &Toolchain{Root: bin, Bin: bin, GoNB: bad}, bin)
	if !errors.Is(err, ErrKernelDied) || !strings.Contains(err.Error(), "no luck today") {
		t.Errorf("error %v, want the kernel's last words", err)
	}
	if _, err := StartKernel(t.Context(), &Toolchain{Root: bin, Bin: bin, GoNB: filepath.Join(bin, "none")}, bin); err == nil {
		t.Error("a kernel that does not exist was started")
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
