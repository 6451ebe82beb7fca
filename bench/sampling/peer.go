package main

import (
	"bufio"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed peers.py
var script []byte

// peer is a Python process that answers one line of JSON with another.
type peer struct {
	versions string
	in       io.WriteCloser
	out      *bufio.Scanner
	command  *exec.Cmd
}

func startPeer(python, dir string) (*peer, error) {
	path := filepath.Join(dir, "peers.py")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		return nil, err
	}
	p := &peer{command: exec.Command(python, path, dir)}
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

// ask lets the peer take its turn.
func (p *peer) ask(name string, seed uint64, n int, args map[string]any) (turn, error) {
	line, err := json.Marshal(map[string]any{"Name": name, "Seed": seed, "N": n, "Args": args})
	if err != nil {
		return turn{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return turn{}, err
	}
	var answer struct {
		Seconds, Before float64
		Path            string
		Cols, Gradients int
	}
	if err := p.receive(&answer); err != nil {
		return turn{}, err
	}
	draws, err := readColumns(answer.Path, answer.Cols)
	return turn{seconds: answer.Seconds, before: answer.Before, draws: draws, gradients: answer.Gradients}, err
}

func (p *peer) receive(answer any) error {
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
func (p *peer) stop() {
	p.in.Close()
	_ = p.command.Wait()
}

// readColumns reads and removes a file of little-endian float64 by rows.
func readColumns(path string, cols int) ([][]float64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rows := len(b) / 8 / cols
	columns := newColumns(cols, rows)
	for i := range rows {
		for j := range columns {
			columns[j][i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*(i*cols+j):]))
		}
	}
	return columns, os.Remove(path)
}

func newColumns(cols, rows int) [][]float64 {
	columns := make([][]float64, cols)
	for j := range columns {
		columns[j] = make([]float64, rows)
	}
	return columns
}
