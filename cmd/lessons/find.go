package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/latent-lessons/latent/internal/jupyter"
)

// A lesson is a notebook below notebooks/.
type lesson struct {
	name string // chapter/01-name
	path string // as the user sees it
}

func (l lesson) chapter() string { return filepath.ToSlash(filepath.Dir(l.name)) }

// lessons returns all lessons in reading order.
func (a *app) lessons() ([]lesson, error) {
	base := filepath.Join(a.root, "notebooks")
	var all []lesson
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
			if d.IsDir() {
				return filepath.SkipDir // .ipynb_checkpoints
			}
			return nil
		}
		if d.IsDir() || filepath.Ext(path) != ".ipynb" {
			return nil
		}
		rel, err := filepath.Rel(base, path)
		all = append(all, lesson{strings.TrimSuffix(filepath.ToSlash(rel), ".ipynb"), a.short(path)})
		return err
	})
	if os.IsNotExist(err) {
		err = nil
	}
	return all, err
}

// short is a path as seen from the working directory, if that is shorter.
func (a *app) short(path string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, path); err == nil && len(rel) < len(path) {
			return rel
		}
	}
	return path
}

// match returns the lessons that the patterns name, without repetition; all of
// them for no pattern.
func (a *app) match(patterns []string) ([]lesson, error) {
	all, err := a.lessons()
	if err != nil {
		return nil, err
	}
	if len(patterns) == 0 {
		if len(all) == 0 {
			return nil, fmt.Errorf("there are no lessons in %s", filepath.Join(a.root, "notebooks"))
		}
		return all, nil
	}
	var found []lesson
	for _, p := range patterns {
		hits := matchOne(all, p)
		if len(hits) == 0 {
			if _, err := os.Stat(p); err == nil && filepath.Ext(p) == ".ipynb" {
				hits = []lesson{{name: strings.TrimSuffix(filepath.ToSlash(p), ".ipynb"), path: p}}
			}
		}
		if len(hits) == 0 {
			var names []string
			for _, l := range all {
				names = append(names, l.name, l.chapter()+"/...", baseName(l.name))
			}
			return nil, usageError{fmt.Sprintf("no lesson matches %q%s", p, didYouMean(p, names))}
		}
		for _, l := range hits {
			if !slices.Contains(found, l) {
				found = append(found, l)
			}
		}
	}
	return found, nil
}

// matchOne finds the lessons of one pattern.
func matchOne(all []lesson, pattern string) []lesson {
	p := filepath.ToSlash(filepath.Clean(pattern))
	p = strings.TrimSuffix(strings.TrimPrefix(p, "notebooks/"), ".ipynb")
	var hits []lesson
	for _, l := range all {
		chapter, whole := strings.CutSuffix(p, "...")
		chapter = strings.TrimSuffix(chapter, "/")
		switch {
		case whole && (chapter == "" || chapter == "." || chapter == "notebooks" || strings.HasPrefix(l.name, chapter+"/")),
			p == l.name, p == l.chapter(), p == baseName(l.name), p == filepath.Base(l.name), samePath(pattern, l.path):
			hits = append(hits, l)
		}
	}
	return hits
}

var number = regexp.MustCompile(`^\d+-`)

// baseName is the name of a lesson without chapter and number.
func baseName(name string) string {
	return number.ReplaceAllString(name[strings.LastIndex(name, "/")+1:], "")
}

func samePath(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return errX == nil && errY == nil && x == y
}

// list prints the lessons by chapter and the commands.
func (a *app) list() error {
	all, err := a.lessons()
	if err != nil {
		return err
	}
	chapter := ""
	for _, l := range all {
		if l.chapter() != chapter {
			chapter = l.chapter()
			fmt.Fprintf(a.stdout, "%s\n", chapter)
		}
		about := ""
		if nb, err := jupyter.ReadFile(l.path); err != nil {
			about = "(" + err.Error() + ")"
		} else {
			about = firstSentence(nb)
		}
		fmt.Fprintf(a.stdout, "  %-30s %s\n", filepath.Base(l.name), about)
	}
	if len(all) > 0 {
		fmt.Fprintln(a.stdout)
	}
	fmt.Fprintln(a.stdout, "commands (go run ./cmd/lessons COMMAND, -h for flags)")
	for _, c := range commands {
		fmt.Fprintf(a.stdout, "  %-30s %s\n", strings.TrimSpace(c.name+" "+c.args), c.about)
	}
	return nil
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?](\s+\p{Lu}|$)`)
	mdMarkup    = strings.NewReplacer("**", "", "`", "", "*", "")
	mdLink      = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// firstSentence is the first sentence of a lesson's prose.
func firstSentence(nb *jupyter.Notebook) string {
	for _, c := range nb.Cells {
		if c.Type != jupyter.Markdown {
			continue
		}
		for _, paragraph := range strings.Split(c.Source, "\n\n") {
			var lines []string
			for _, line := range strings.Split(paragraph, "\n") {
				if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "<") && !strings.HasPrefix(line, "![") {
					lines = append(lines, strings.TrimSpace(line))
				}
			}
			text := strings.TrimSpace(mdMarkup.Replace(mdLink.ReplaceAllString(strings.Join(lines, " "), "$1")))
			if text == "" {
				continue
			}
			if end := sentenceEnd.FindStringIndex(text); end != nil {
				text = text[:end[0]+1]
			}
			return text
		}
	}
	return ""
}

// didYouMean suggests the nearest of some names, or lists them if none is near.
func didYouMean(got string, names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	best, distance := "", 1+max(2, len(got)/2) // two: letters swapped
	for _, n := range names {
		if d := editDistance(got, n); d < distance {
			best, distance = n, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	if len(names) == 0 {
		return ""
	}
	return "; there are " + strings.Join(names, ", ")
}

// editDistance is the number of letters to insert, delete or change.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
