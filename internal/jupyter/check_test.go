package jupyter

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// lessonWith is a lesson with one exercise and the given solution to it.
func lessonWith(solution string) *Notebook {
	nb := notebook(setup, "%%\nfmt.Println(6 * 7)", "func double(x int) int { return 0 } // your turn",
		"%test\nfunc TestDouble(t *testing.T) {\n\tswitch got := double(4); got {\n\tcase 0:\n\t\tt.Skip(\"not answered yet\")\n\tcase 8:\n\tdefault:\n\t\tt.Errorf(\"double(4) = %d\", got)\n\t}\n}")
	exercise := Cell{Type: Markdown, ID: "ex", Metadata: map[string]any{}, Source: "Write `double`.\n\n```go\nnot part of the solution\n```\n\n" +
		"<details><summary>Solution</summary>\n\n```go\n" + solution + "\n```\n\nThat is all.\n</details>\n"}
	nb.Cells = slices.Insert(nb.Cells, 2, exercise)
	return nb
}

func TestCheck(t *testing.T) {
	r := Runner{Toolchain: toolchain(t), Timeout: time.Minute}
	right := lessonWith("func double(x int) int { return 2 * x }")
	done, err := r.Run(t.Context(), "x.ipynb", right)
	if err != nil {
		t.Fatal(err)
	}
	check := func(nb *Notebook) ([]Diff, error) {
		t.Helper()
		got, diffs, err := r.Check(t.Context(), "x.ipynb", nb)
		if got != nil && len(got.Cells) != len(nb.Cells) {
			t.Errorf("%d cells became %d", len(nb.Cells), len(got.Cells))
		}
		return diffs, err
	}
	if diffs, err := check(done); err != nil || len(diffs) > 0 {
		t.Errorf("the lesson as it was run: %v, %v", diffs, err)
	}

	changed := done.Clone()
	changed.Cells[1].Outputs = []Output{stdout("41\n")}
	if diffs, err := check(changed); err != nil || len(diffs) != 1 || diffs[0].Cell != 2 {
		t.Errorf("another output: %v, %v", diffs, err)
	}

	wrong := done.Clone()
	wrong.Cells[2] = lessonWith("func double(x int) int { return x * x / 3 }").Cells[2]
	if _, err := check(wrong); err == nil || !strings.Contains(err.Error(), "double(4) = 5") || !strings.Contains(err.Error(), "with the solutions in place") {
		t.Errorf("a wrong solution: %v", err)
	}

	missing := done.Clone()
	missing.Cells[2] = lessonWith("func halve(x int) int { return x / 2 }").Cells[2]
	if diffs, err := check(missing); err != nil || len(diffs) != 1 || !strings.Contains(diffs[0].String(), "does not pass with the solutions") {
		t.Errorf("a solution of something else: %v, %v", diffs, err)
	}
}

func TestSolutions(t *testing.T) {
	nb := lessonWith("var x = 1")
	if got := Solutions(nb); !slices.Equal(got, []string{"var x = 1\n"}) {
		t.Errorf("found %q", got)
	}
}
