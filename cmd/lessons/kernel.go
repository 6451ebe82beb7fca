package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func setupKernel(flags *flag.FlagSet) func(context.Context, *app, []string) error {
	dir := flags.String("dir", "", "register in this Jupyter data `directory` (for all users: /usr/local/share/jupyter)")
	sysPrefix := flags.Bool("sys-prefix", false, "register in the Python environment that is active")
	return func(ctx context.Context, a *app, _ []string) error {
		data := *dir
		switch {
		case data != "" && *sysPrefix:
			return usageError{"-dir and -sys-prefix exclude each other"}
		case *sysPrefix:
			out, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print(sys.prefix)").Output()
			if err != nil {
				return fmt.Errorf("asking python3 for its environment: %w", err)
			}
			data = filepath.Join(strings.TrimSpace(string(out)), "share", "jupyter")
		case data == "":
			var err error
			if data, err = userDataDir(); err != nil {
				return err
			}
		}
		tools, err := a.toolchain(ctx)
		if err != nil {
			return err
		}
		where, err := tools.Register(ctx, data, true)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "registered the kernel \"Go (gonb)\" in %s\n", where)
		return nil
	}
}

// userDataDir is where Jupyter and VS Code look for a user's kernels.
func userDataDir() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}
