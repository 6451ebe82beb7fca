package notebooks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latent-lessons/latent/internal/jupyter"
)

// setup is the first code cell of every lesson: it works with a stock GoNB,
// from the notebook's folder, without a network, and sees edits of the library.
const setup = "%noautoget\n" + `!*[ -e go.work ] || go work init . "$(dirname "$(go -C "$GONB_DIR" env GOMOD)")"`

// TestAnatomy holds every lesson to the form that a reader may rely on.
func TestAnatomy(t *testing.T) {
	for _, path := range lessons(t) {
		t.Run(strings.TrimSuffix(filepath.ToSlash(path), ".ipynb"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			nb, err := jupyter.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range anatomy(nb, data, filepath.Dir(path)) {
				t.Error(fault)
			}
		})
	}
}

// anatomy returns what is wrong with a lesson; dir is where its links start.
func anatomy(nb *jupyter.Notebook, data []byte, dir string) []string {
	var l lint
	l.between("cells", len(nb.Cells), 20, 35)
	l.between("words of prose", words(nb), 900, 1600)
	l.between("kilobytes", len(data)/1000, 1, 400)
	if !bytes.Equal(data, nb.Bytes()) {
		l.fault("the file is not in canonical form; go run ./cmd/lessons run -w writes it")
	}
	if info, _ := nb.Metadata["language_info"].(map[string]any); info["pygments_lexer"] != "go" {
		l.fault("metadata: language_info.pygments_lexer is not go; exports would colour Go as Python")
	}

	var title, summary, references, source bool
	var code, figures, level int
	var lengths []int
	for i, c := range nb.Cells {
		if m := machinePath.FindString(c.Source); m != "" {
			l.cell(i, "names a path of one machine: %s", m)
		}
		if c.Type == jupyter.Code {
			code++
			if code == 1 && c.Source != setup {
				l.cell(i, "the first code cell is not the setup:\n%s", setup)
			}
			if c.ExecutionCount != code {
				l.cell(i, "has execution count %d, want %d: execute the notebook from top to bottom", c.ExecutionCount, code)
			}
			if code > 1 {
				lengths = append(lengths, statements(c.Source))
				if n := lengths[len(lengths)-1]; n > 25 {
					l.cell(i, "%d lines of code, want at most 25: split it, or move it into the library", n)
				}
			}
			figures += l.outputs(i, &c)
			continue
		}
		for _, line := range proseLines(c.Source) {
			m := heading.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if i == 0 && len(m[1]) == 1 {
				title = true
			} else if len(m[1]) == 1 {
				l.cell(i, "a second title: %s", line)
			}
			if len(m[1]) > level+1 {
				l.cell(i, "heading of level %d after one of level %d: %s", len(m[1]), level, line)
			}
			level = len(m[1])
		}
		if i == len(nb.Cells)-1 {
			summary = level == 2
			references = year.MatchString(c.Source)
		}
		for _, m := range link.FindAllStringSubmatch(c.Source, -1) {
			target, _, _ := strings.Cut(m[1], "#")
			source = source || strings.Contains(target, "/lvm/") && strings.HasSuffix(target, ".go")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(target))); err != nil {
				l.cell(i, "the link to %s leads nowhere", target)
			}
		}
	}
	l.want(title, "the first cell has no title (# …)")
	l.want(summary, "the last cell is not a section (## …) that sums up")
	l.want(references, "the last cell names no reference with its year")
	l.want(source, "no link to the source file of the model: [kmeans.go](../../lvm/clustering/kmeans.go)")
	l.between("figures", figures, 4, 8)
	if len(lengths) > 0 {
		slices.Sort(lengths)
		l.between("lines of code in the cell of median length", lengths[len(lengths)/2], 1, 12)
	}
	l.exercises(nb)
	return l.faults
}

// exercises: each has a folded solution, and tests check the student's answers.
func (l *lint) exercises(nb *jupyter.Notebook) {
	tests, folds := 0, 0
	for i, c := range nb.Cells {
		if c.IsTest() {
			tests += strings.Count(c.Source, "\nfunc Test")
			if !strings.Contains(c.Source, "t.Skip(") {
				l.cell(i, "a test that does not skip while the exercise is not answered (t.Skip)")
			}
		}
		if c.Type == jupyter.Markdown {
			folds += strings.Count(c.Source, "<details>")
			if strings.Count(c.Source, "<details>") != strings.Count(c.Source, "</details>") {
				l.cell(i, "<details> without </details>")
			}
		}
	}
	l.between("exercises with a folded solution (<details>)", folds, 3, 5)
	l.between("tests of answers (func Test… in %test cells)", tests, 1, 5)
	if n := len(jupyter.Solutions(nb)); n < tests {
		l.fault("%d tests but only %d solutions with Go code: each test has to be seen passing", tests, n)
	}
}

// outputs checks the outputs of a code cell and returns how many figures it shows.
func (l *lint) outputs(i int, c *jupyter.Cell) (figures int) {
	for _, o := range c.Outputs {
		if !c.HasTag(jupyter.ExpectFailure) && (o.Type == jupyter.Error || o.Name == "stderr") {
			l.cell(i, "shows an error or writes to stderr: %s%s", o.Text, o.EValue)
		}
		text := o.Text + o.EValue
		for mime, v := range o.Data {
			if s, ok := v.(string); ok && strings.HasPrefix(mime, "text/") {
				text += "\n" + s
			}
		}
		if m := machinePath.FindString(text); m != "" {
			l.cell(i, "shows a path of one machine: %s", m)
		}
		alt, _ := o.Metadata["image/png"].(map[string]any)
		html, _ := o.Data["text/html"].(string)
		switch _, picture := o.Data["image/png"]; {
		case picture:
			figures++
			if s, _ := alt["alt"].(string); len(s) < 20 {
				l.cell(i, "a picture without alternative text in its metadata: %q", s)
			}
		case strings.Contains(html, "<img"):
			figures++
			for _, img := range image.FindAllString(html, -1) {
				if !strings.Contains(img, "alt=") {
					l.cell(i, "an <img> without alternative text")
				}
			}
		}
	}
	return figures
}

// lint collects faults.
type lint struct{ faults []string }

func (l *lint) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

func (l *lint) cell(i int, format string, args ...any) {
	l.fault("cell %d: %s", i+1, fmt.Sprintf(format, args...))
}

func (l *lint) want(ok bool, fault string) {
	if !ok {
		l.fault("%s", fault)
	}
}

func (l *lint) between(what string, n, low, high int) {
	if n < low || n > high {
		l.fault("%s: %d, want %d to %d", what, n, low, high)
	}
}

var (
	heading     = regexp.MustCompile(`^(#+) +(.*)`)
	link        = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	image       = regexp.MustCompile(`<img[^>]*>`)
	machinePath = regexp.MustCompile(`(?:^|[\s"'=(>])(/(?:home|root|Users|tmp|var/folders|work)/[^\s"'<]*)`)
	displayMath = regexp.MustCompile(`(?s)\$\$.*?\$\$`)
	inlineMath  = regexp.MustCompile(`\$[^$\n]+\$`)
	year        = regexp.MustCompile(`\b(19|20)\d\d\b`)
	htmlTag     = regexp.MustCompile(`<[^>]+>`)
	word        = regexp.MustCompile(`\pL[\pL\pN'’-]*`)
)

// statements counts the lines of a cell that say something: no braces, comments,
// imports, or commands to GoNB.
func statements(source string) int {
	n, imports := 0, false
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		switch {
		case line == "import (":
			imports = true
		case imports:
			imports = line != ")"
		case line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "%") && strings.Trim(line, ")]}") != "":
			n++
		}
	}
	return n
}

// proseLines are the lines of Markdown outside of fenced code.
func proseLines(source string) []string {
	var lines []string
	fenced := false
	for line := range strings.Lines(source) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

// words counts the prose that a reader of the notebook reads: no code, no
// formulas, no markup.
func words(nb *jupyter.Notebook) int {
	n := 0
	for _, c := range nb.Cells {
		if c.Type != jupyter.Markdown {
			continue
		}
		text := displayMath.ReplaceAllString(strings.Join(proseLines(c.Source), "\n"), " ")
		text = htmlTag.ReplaceAllString(inlineMath.ReplaceAllString(text, " x "), " ")
		n += len(word.FindAllString(text, -1))
	}
	return n
}
