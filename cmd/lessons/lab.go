package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/latent-lessons/latent/internal/jupyter"
)

type labOptions struct {
	ip        string
	port      int
	noBrowser bool
	own       bool
}

func setupLab(flags *flag.FlagSet) func(context.Context, *app, []string) error {
	var o labOptions
	flags.StringVar(&o.ip, "ip", "127.0.0.1", "listen on this `address`; anything but the default lets others in who know the token")
	flags.IntVar(&o.port, "port", 8888, "listen on this `port`, or on the next free one")
	flags.BoolVar(&o.noBrowser, "no-browser", false, "only print the address")
	flags.BoolVar(&o.own, "own", false, "use the repository's own JupyterLab even if there is one on PATH")
	return func(ctx context.Context, a *app, patterns []string) error {
		return a.lab(ctx, o, patterns)
	}
}

// lab starts JupyterLab with the lessons and stays until Ctrl-C.
func (a *app) lab(ctx context.Context, o labOptions, patterns []string) error {
	open := ""
	if all, err := a.match(patterns); err == nil {
		rel, err := filepath.Rel(a.root, absolute(all[0].path))
		if err != nil {
			return err
		}
		open = "/tree/" + filepath.ToSlash(rel)
	} else if len(patterns) > 0 {
		return err
	}
	find := a.jupyterLab
	if o.own {
		find = a.ownJupyterLab
	}
	lab, err := find(ctx)
	if err != nil {
		return err
	}
	tools, err := a.toolchain(ctx)
	if err != nil {
		return err
	}
	data := filepath.Join(a.root, jupyter.StateDir, "share", "jupyter")
	if _, err := tools.Register(ctx, data, false); err != nil {
		return err
	}
	port, err := freePort(o.ip, o.port)
	if err != nil {
		return err
	}
	token := os.Getenv("JUPYTER_TOKEN")
	if token == "" {
		token = strings.ToLower(rand.Text())
	}
	log, err := os.Create(filepath.Join(a.root, jupyter.StateDir, "jupyter.log"))
	if err != nil {
		return err
	}
	defer log.Close()

	cmd := exec.Command(lab, "--no-browser", "--ServerApp.ip="+o.ip, "--ServerApp.port="+strconv.Itoa(port),
		"--ServerApp.port_retries=0", "--ServerApp.root_dir="+a.root)
	if os.Geteuid() == 0 { // in a container; Jupyter would refuse
		cmd.Args = append(cmd.Args, "--allow-root")
	}
	cmd.Dir = a.root
	cmd.Env = append(os.Environ(), "JUPYTER_TOKEN="+token, "JUPYTER_PATH="+joinList(data, os.Getenv("JUPYTER_PATH")))
	cmd.Stdout, cmd.Stderr = log, log
	server, err := jupyter.StartProcess(cmd)
	if err != nil {
		return fmt.Errorf("starting JupyterLab: %w", err)
	}
	defer server.Stop(10 * time.Second) // it ends its kernels and their files first

	host := o.ip
	if net.ParseIP(host).IsUnspecified() {
		host = "127.0.0.1"
	}
	base := fmt.Sprintf("http://%s", net.JoinHostPort(host, strconv.Itoa(port)))
	if err := waitForServer(ctx, server, base, token, log.Name()); err != nil {
		return err
	}
	url := base + "/lab" + open + "?token=" + token
	fmt.Fprintf(a.stdout, "JupyterLab is at\n\n    %s\n\nCtrl-C ends it. Its log is %s\n", url, a.short(log.Name()))
	if !o.noBrowser {
		openBrowser(url)
	}
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.stderr, "\nending JupyterLab and its kernels …")
		return nil
	case <-server.Exited:
		return fmt.Errorf("JupyterLab ended; its log is %s", a.short(log.Name()))
	}
}

func waitForServer(ctx context.Context, server *jupyter.Process, base, token, log string) error {
	const patience = 90 * time.Second // a cold disk and a busy machine
	ctx, stop := context.WithTimeoutCause(ctx, patience, fmt.Errorf("JupyterLab does not answer after %v; its log is %s", patience, log))
	defer stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/status", nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "token "+token)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-server.Exited:
			text, _ := os.ReadFile(log)
			return fmt.Errorf("JupyterLab ended at once; its log:\n%s", lastLines(string(text), 15))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// freePort is the first free one of a hundred.
func freePort(ip string, first int) (int, error) {
	var problem error
	for port := first; port < first+100; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
		if err == nil {
			l.Close()
			return port, nil
		}
		problem = err
	}
	return 0, usageError{fmt.Sprintf("no free port from %d to %d on %s: %v; choose others with -port and -ip", first, first+99, ip, problem)}
}

// openBrowser does its best; the address has been printed anyway.
func openBrowser(url string) {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	if cmd := exec.Command(name, url); cmd.Start() == nil {
		go cmd.Wait()
	}
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

func joinList(first, rest string) string {
	if rest == "" {
		return first
	}
	return first + string(filepath.ListSeparator) + rest
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
