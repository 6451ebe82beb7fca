package jupyter

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Check executes the notebook and compares it with the outputs that it holds.
// Then, in the same kernel, it executes the folded solutions of the exercises
// and holds each test of the notebook to passing now. It returns the notebook
// with the new outputs, and what differs.
func (r *Runner) Check(ctx context.Context, path string, nb *Notebook) (*Notebook, []Diff, error) {
	solved := nb.Clone()
	for i, code := range Solutions(nb) {
		solved.Cells = append(solved.Cells, Cell{Type: Code, ID: fmt.Sprintf("solution-%d", i+1), Source: code, Metadata: map[string]any{}})
	}
	solutions := len(solved.Cells)
	if solutions > len(nb.Cells) {
		for _, c := range nb.Cells {
			if c.IsTest() && !c.HasTag(ExpectFailure) {
				c.ID, c.Outputs = "solved-"+c.ID, nil
				solved.Cells = append(solved.Cells, c)
			}
		}
	}
	got, err := r.Run(ctx, path, solved)
	tests := got.cellsFrom(solutions)
	got.truncate(len(nb.Cells))
	if err != nil {
		var cell *CellError
		if errors.As(err, &cell) && cell.Cell > len(nb.Cells) {
			cell.Report = "this is a solution of the notebook, or a test with the solutions in place\n" + cell.Report
		}
		return got, nil, err
	}
	diffs := Compare(nb, got)
	for _, c := range tests {
		out := Text(c.Outputs, "stdout")
		if !strings.Contains(out, "--- PASS") || strings.Contains(out, "--- SKIP") {
			diffs = append(diffs, Diff{Cell: len(nb.Cells), What: "the test " + strings.TrimPrefix(c.ID, "solved-"), Note: "does not pass with the solutions in place\n" + out})
		}
	}
	return got, diffs, nil
}

// IsTest reports whether a cell runs Go tests.
func (c *Cell) IsTest() bool {
	return c.Type == Code && strings.HasPrefix(c.Source, "%test")
}

var (
	folded = regexp.MustCompile(`(?s)<details>.*?</details>`)
	fenced = regexp.MustCompile("(?s)```go\n(.*?)```")
)

// Solutions returns the Go code inside the folded parts of a notebook's prose.
func Solutions(nb *Notebook) []string {
	var code []string
	for _, c := range nb.Cells {
		if c.Type != Markdown {
			continue
		}
		for _, details := range folded.FindAllString(c.Source, -1) {
			for _, block := range fenced.FindAllStringSubmatch(details, -1) {
				code = append(code, block[1])
			}
		}
	}
	return code
}

// cellsFrom and truncate take a notebook apart, nil and short ones too.
func (nb *Notebook) cellsFrom(i int) []Cell {
	if nb == nil || i >= len(nb.Cells) {
		return nil
	}
	return nb.Cells[i:]
}

func (nb *Notebook) truncate(n int) {
	if nb != nil && n < len(nb.Cells) {
		nb.Cells = nb.Cells[:n]
	}
}
