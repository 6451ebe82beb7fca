package jupyter

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// A Runner executes notebooks, each in a kernel of its own.
type Runner struct {
	Toolchain *Toolchain
	Timeout   time.Duration // for one cell
	// Progress, if set, is told when a cell has ended and how long it took.
	Progress func(cell int, took time.Duration)
}

// A CellError is the failure of one cell.
type CellError struct {
	Notebook string // as the caller named it
	Cell     int    // position in the notebook, from 1
	Count    int    // its number as GoNB and Jupyter count, In [Count]
	Source   string
	Report   string // what the reader of the notebook would see
	Err      error  // why the kernel could not go on, nil if the cell itself failed
}

func (e *CellError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: cell %d failed, In [%d]\n", e.Notebook, e.Cell, e.Count)
	for i, line := range strings.Split(strings.TrimRight(e.Source, "\n"), "\n") {
		fmt.Fprintf(&b, "%5d │ %s\n", i+1, line)
	}
	b.WriteString(strings.TrimRight(e.Report, "\n"))
	return b.String()
}

func (e *CellError) Unwrap() error { return e.Err }

// ExpectFailure is the tag of a cell that shows a failure on purpose; other
// Jupyter tools know it too.
const ExpectFailure = "raises-exception"

// Run executes the notebook, which came from path, in the directory of path and
// returns a copy with the new outputs in canonical form. It stops at the first
// cell that fails, with a *CellError; the copy then holds what there is.
func (r *Runner) Run(ctx context.Context, path string, nb *Notebook) (*Notebook, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	k, err := StartKernel(ctx, r.Toolchain, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer k.Close()
	// A cell that blocks on something else than the kernel ends with it.
	defer context.AfterFunc(ctx, func() { k.Close() })()

	out := nb.Clone()
	out.clean()
	norm := newNormalizer(r.Toolchain.Root, k.tmp)
	count := 0
	for i := range out.Cells {
		cell := &out.Cells[i]
		if cell.Type != Code {
			continue
		}
		cell.Outputs, cell.ExecutionCount = nil, 0
		if strings.TrimSpace(cell.Source) == "" {
			continue // Jupyter does not execute it either
		}
		start := time.Now()
		raw, err := k.Execute(ctx, cell.Source, r.Timeout)
		count++
		cell.ExecutionCount = count
		cell.Outputs = norm.outputs(raw)
		report := Failure(cell.Outputs)
		switch {
		case ctx.Err() != nil:
			return out, fmt.Errorf("%s: stopped in cell %d: %w", path, i+1, context.Cause(ctx))
		case err != nil:
			report = strings.TrimSpace(err.Error() + "\n" + Text(cell.Outputs, "stdout") + Text(cell.Outputs, "stderr"))
		case report != "" && cell.HasTag(ExpectFailure):
			report = ""
		case report == "" && cell.HasTag(ExpectFailure):
			report = fmt.Sprintf("the cell is tagged %s but does not fail", ExpectFailure)
		}
		if report != "" {
			return out, &CellError{Notebook: path, Cell: i + 1, Count: count, Source: cell.Source, Report: report, Err: err}
		}
		if r.Progress != nil {
			r.Progress(i+1, time.Since(start))
		}
	}
	return out, nil
}

// clean gives the notebook the metadata of a lesson and drops what a front end
// leaves there: versions, timings, trust.
func (nb *Notebook) clean() {
	nb.Metadata["kernelspec"] = map[string]any{"display_name": "Go (gonb)", "language": "go", "name": "gonb"}
	nb.Metadata["language_info"] = map[string]any{
		"file_extension": ".go", "mimetype": "text/x-go", "name": "go",
		"pygments_lexer": "go", // GoNB does not tell, and exports would colour Go as Python
	}
	delete(nb.Metadata, "signature")
	for i := range nb.Cells {
		m := nb.Cells[i].Metadata
		for _, key := range []string{"execution", "ExecuteTime", "trusted"} {
			delete(m, key)
		}
	}
}

// Interrupted reports whether a run ended because its context was cancelled.
func Interrupted(err error) bool { return errors.Is(err, context.Canceled) }
