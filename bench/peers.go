package main

import (
	"bufio"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"gonum.org/v1/gonum/mat"
)

//go:embed peers.py
var script []byte

// peers is a Python process that answers one line of JSON with another.
type peers struct {
	dir      string
	versions string
	in       io.WriteCloser
	out      *bufio.Scanner
	command  *exec.Cmd
}

func startPeers(python, dir string) (*peers, error) {
	path := filepath.Join(dir, "peers.py")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		return nil, err
	}
	p := &peers{dir: dir, command: exec.Command(python, path)}
	p.command.Stderr = os.Stderr
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("%w; name the interpreter with -python", err)
	}
	var hello struct{ Versions string }
	if err := p.receive(&hello); err != nil {
		p.stop()
		return nil, err
	}
	p.versions = hello.Versions
	return p, nil
}

// send hands the inputs of a task over, in files.
func (p *peers) send(t task) error {
	type array struct {
		Path       string
		Rows, Cols int
	}
	arrays := make(map[string]array)
	for name, m := range t.Arrays {
		path := filepath.Join(p.dir, name+".f64")
		if err := writeFloats(path, m); err != nil {
			return err
		}
		r, c := m.Dims()
		arrays[name] = array{path, r, c}
	}
	var ok struct{}
	return p.ask(map[string]any{"arrays": arrays, "params": t.Params}, &ok)
}

// run lets the peer do the task with the inputs sent last.
func (p *peers) run(name string) (seconds, objective float64, err error) {
	var answer struct{ Seconds, Objective float64 }
	err = p.ask(map[string]any{"run": name}, &answer)
	return answer.Seconds, answer.Objective, err
}

func (p *peers) ask(question, answer any) error {
	line, err := json.Marshal(question)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return err
	}
	return p.receive(answer)
}

func (p *peers) receive(answer any) error {
	if !p.out.Scan() {
		return errors.New("the Python side ended")
	}
	var failed struct{ Error string }
	if err := json.Unmarshal(p.out.Bytes(), &failed); err != nil {
		return fmt.Errorf("the Python side said %q", p.out.Text())
	}
	if failed.Error != "" {
		return errors.New(failed.Error)
	}
	return json.Unmarshal(p.out.Bytes(), answer)
}

// stop ends the Python process.
func (p *peers) stop() {
	p.in.Close()
	p.command.Wait()
}

// writeFloats writes a matrix by rows, as little-endian float64.
func writeFloats(path string, m *mat.Dense) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	r, _ := m.Dims()
	for i := range r {
		if err := binary.Write(w, binary.LittleEndian, m.RawRowView(i)); err != nil {
			f.Close()
			return err
		}
	}
	return errors.Join(w.Flush(), f.Close())
}
