package notebooks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/latent-lessons/latent/internal/jupyter"
)

// goodLesson is the least that TestAnatomy asks for.
func goodLesson() *jupyter.Notebook {
	nb := &jupyter.Notebook{Metadata: map[string]any{"language_info": map[string]any{"pygments_lexer": "go"}}}
	count := 0
	add := func(kind, source string, outputs ...jupyter.Output) {
		c := jupyter.Cell{Type: kind, ID: fmt.Sprintf("c%d", len(nb.Cells)), Source: source, Metadata: map[string]any{}, Outputs: outputs}
		if kind == jupyter.Code {
			count++
			c.ExecutionCount = count
		}
		nb.Cells = append(nb.Cells, c)
	}
	const answer = "<details><summary>Solution</summary>\n\n```go\nvar x = 1\n```\n\n</details>\n"
	add(jupyter.Markdown, "# Title\n\nSee [the source](../lvm/doc.go) of it all.")
	add(jupyter.Code, setup)
	for range 5 {
		add(jupyter.Markdown, "## Section\n\n"+strings.Repeat("word ", 190)+"and $x^2$.")
		add(jupyter.Code, "%%\nshow.Plot(f)", jupyter.Output{Type: jupyter.Display,
			Data:     map[string]any{"image/png": "iVBORw0KGgo=", "text/plain": "a scatter plot of 272 points"},
			Metadata: map[string]any{"image/png": map[string]any{"alt": "a scatter plot of 272 points"}}})
	}
	for range 3 {
		add(jupyter.Markdown, "### Exercise\n\n"+answer)
		add(jupyter.Code, "func f() int { return 0 } // your turn")
	}
	add(jupyter.Code, "%test\nfunc TestF(t *testing.T) { if f() == 0 { t.Skip(\"not answered yet\") } }")
	add(jupyter.Markdown, "## Summary\n\nA. N. Author, *A title*, 1982.")
	return nb
}

func TestAnatomyAcceptsAGoodLesson(t *testing.T) {
	nb := goodLesson()
	for _, fault := range anatomy(nb, nb.Bytes(), ".") {
		t.Error(fault)
	}
}

func TestAnatomyFindsFaults(t *testing.T) {
	const figure = 3 // a code cell with one
	for name, c := range map[string]struct {
		spoil func(nb *jupyter.Notebook)
		want  string
	}{
		"too short":     {func(nb *jupyter.Notebook) { nb.Cells = slices.Delete(nb.Cells, 2, 8) }, "cells: 14, want 20 to 35"},
		"too few words": {func(nb *jupyter.Notebook) { nb.Cells[2].Source = "## Section" }, "words of prose"},
		"too large": {func(nb *jupyter.Notebook) {
			nb.Cells[figure].Outputs[0].Data["text/plain"] = strings.Repeat("x", 500_000)
		}, "kilobytes"},
		"lexer":         {func(nb *jupyter.Notebook) { nb.Metadata = map[string]any{} }, "pygments_lexer"},
		"setup":         {func(nb *jupyter.Notebook) { nb.Cells[1].Source = "%autoget" }, "cell 2: the first code cell is not the setup"},
		"not executed":  {func(nb *jupyter.Notebook) { nb.Cells[figure].ExecutionCount = 0 }, "cell 4: has execution count 0, want 2"},
		"no title":      {func(nb *jupyter.Notebook) { nb.Cells[0].Source = "[x](../lvm/doc.go)" }, "no title"},
		"two titles":    {func(nb *jupyter.Notebook) { nb.Cells[2].Source += "\n# Again" }, "cell 3: a second title"},
		"skipped level": {func(nb *jupyter.Notebook) { nb.Cells[2].Source += "\n#### Deep" }, "heading of level 4 after one of level 2"},
		"no summary":    {func(nb *jupyter.Notebook) { nb.Cells = nb.Cells[:len(nb.Cells)-1] }, "sums up"},
		"no reference":  {func(nb *jupyter.Notebook) { nb.Cells[len(nb.Cells)-1].Source = "## Summary" }, "no reference"},
		"no source":     {func(nb *jupyter.Notebook) { nb.Cells[0].Source = "# Title" }, "no link to the source"},
		"dead link":     {func(nb *jupyter.Notebook) { nb.Cells[2].Source += "[x](nowhere.ipynb#here)" }, "cell 3: the link to nowhere.ipynb"},
		"no alt":        {func(nb *jupyter.Notebook) { nb.Cells[figure].Outputs[0].Metadata = nil }, "cell 4: a picture without alternative text"},
		"frame, no alt": {func(nb *jupyter.Notebook) {
			nb.Cells[figure].Outputs[0].Data = map[string]any{"text/html": "<img src=x>"}
		}, "cell 4: an <img> without"},
		"few figures": {func(nb *jupyter.Notebook) { nb.Cells[3].Outputs, nb.Cells[5].Outputs = nil, nil }, "figures: 3, want 4 to 8"},
		"stderr": {func(nb *jupyter.Notebook) {
			nb.Cells[figure].Outputs[0] = jupyter.Output{Type: jupyter.Stream, Name: "stderr", Text: "oh"}
		}, "cell 4: shows an error or writes to stderr: oh"},
		"error": {func(nb *jupyter.Notebook) {
			nb.Cells[figure].Outputs[0] = jupyter.Output{Type: jupyter.Error, EValue: "boom"}
		}, "cell 4: shows an error"},
		"path in code":   {func(nb *jupyter.Notebook) { nb.Cells[figure].Source += "\nload(\"/home/me/x.csv\")" }, "cell 4: names a path of one machine"},
		"path in output": {func(nb *jupyter.Notebook) { nb.Cells[figure].Outputs[0].Data["text/plain"] = "from /tmp/x/y" }, "cell 4: shows a path of one machine"},
		"long cell":      {func(nb *jupyter.Notebook) { nb.Cells[figure].Source = strings.Repeat("x++\n", 26) }, "cell 4: 26 lines of code"},
		"long cells": {func(nb *jupyter.Notebook) {
			for i := range nb.Cells {
				if nb.Cells[i].Type == jupyter.Code && i > 1 {
					nb.Cells[i].Source = strings.Repeat("x++\n// why\n}\n", 13)
				}
			}
		}, "median length: 13"},
		"no solution": {func(nb *jupyter.Notebook) { nb.Cells[12].Source = "### Exercise" }, "folded solution (<details>): 2"},
		"open fold":   {func(nb *jupyter.Notebook) { nb.Cells[12].Source = "### Exercise\n<details>" }, "<details> without"},
		"no test":     {func(nb *jupyter.Notebook) { nb.Cells[18].Source = "%%\nf()" }, "tests of answers"},
		"hard test":   {func(nb *jupyter.Notebook) { nb.Cells[18].Source = "%test\nfunc TestF(t *testing.T) { f() }" }, "does not skip"},
	} {
		t.Run(name, func(t *testing.T) {
			nb := goodLesson()
			c.spoil(nb)
			faults := anatomy(nb, nb.Bytes(), ".")
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, c.want) }) {
				t.Errorf("found %q, want one with %q", faults, c.want)
			}
		})
	}
	nb := goodLesson()
	if faults := anatomy(nb, append(nb.Bytes(), ' '), "."); len(faults) != 1 || !strings.Contains(faults[0], "canonical") {
		t.Errorf("one more space in the file: %q", faults)
	}
}

func TestWordsCountProseOnly(t *testing.T) {
	nb := &jupyter.Notebook{Cells: []jupyter.Cell{
		{Type: jupyter.Markdown, Source: "# Two words\n\n```go\nnot these words\n```\n\n$$\\alpha + \\beta$$ and $x_i$ is **it**, don't <b>worry</b>."},
		{Type: jupyter.Code, Source: "nor these"},
	}}
	// Two, words, and, x (for the formula), is, it, don't, worry.
	if got := words(nb); got != 8 {
		t.Errorf("counted %d words, want 8", got)
	}
}
