package jupyter

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// normalizer takes out of outputs what differs from run to run and from machine
// to machine though the lesson is the same. It serves one run of one notebook.
type normalizer struct {
	paths *strings.Replacer
	ids   map[string]string // random element id → its number in the notebook
}

func newNormalizer(root, tmp string) *normalizer {
	sep := string(filepath.Separator)
	pairs := []string{tmp + sep, "", tmp, "$TMPDIR", root + sep, "", root, "."}
	if home, err := os.UserHomeDir(); err == nil && home != sep {
		pairs = append(pairs, home+sep, "~"+sep)
	}
	return &normalizer{paths: strings.NewReplacer(pairs...), ids: make(map[string]string)}
}

var (
	buildDir  = regexp.MustCompile(`\bgonb_[0-9a-f]{8}(/|\b)`)
	elementID = regexp.MustCompile(`\bgonb_[a-z]+_[0-9a-f]{8}\b`)
	testTime  = regexp.MustCompile(`(?m)^(\s*--- (?:PASS|FAIL|SKIP): \S+ )\(\d+\.\d+s\)$`)
	logTime   = regexp.MustCompile(`(?m)^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `)
	address   = regexp.MustCompile(`\b0x[0-9a-f]{4,16}\b`)
)

// text normalises what a cell wrote or displayed as text.
func (n *normalizer) text(s string) string {
	s = n.paths.Replace(s)
	s = buildDir.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasSuffix(m, "/") {
			return "" // main.go is what a reader knows of the path
		}
		return "gonb"
	})
	return testTime.ReplaceAllString(s, "$1(0.00s)")
}

// rich normalises HTML and other displayed text: the random ids that GoNB's
// widgets give to elements are numbered through the notebook.
func (n *normalizer) rich(s string) string {
	s = elementID.ReplaceAllStringFunc(s, func(id string) string {
		if _, ok := n.ids[id]; !ok {
			n.ids[id] = fmt.Sprintf("%s%08d", id[:len(id)-8], len(n.ids)+1)
		}
		return n.ids[id]
	})
	return n.text(s)
}

// outputs puts the outputs of a cell in canonical form and order. What a cell
// prints and what it displays reach the kernel on different pipes, so that
// their order is chance: text goes first, one block for stdout and one for
// stderr, then displays in their order, then the error.
func (n *normalizer) outputs(raw []Output) []Output {
	var streams, displays, errors []Output
	for _, name := range []string{"stdout", "stderr"} {
		text := n.text(Text(raw, name))
		if name == "stderr" {
			text = logTime.ReplaceAllString(address.ReplaceAllString(text, "0x…"), "")
		}
		if text != "" {
			streams = append(streams, Output{Type: Stream, Name: name, Text: text})
		}
	}
	for _, o := range raw {
		switch o.Type {
		case Display, Result:
			if o = n.display(o); len(o.Data) > 0 {
				displays = append(displays, o)
			}
		case Error:
			o.EValue = n.text(o.EValue)
			o.Traceback = append([]string(nil), o.Traceback...)
			for i := range o.Traceback {
				o.Traceback[i] = n.text(o.Traceback[i])
			}
			errors = append(errors, o)
		}
	}
	return append(append(streams, displays...), errors...)
}

// display normalises one display. An empty one, which GoNB and progress bars
// leave behind when they clear themselves, loses its data. The text beside a
// picture is its alternative text and is also told to front ends that way.
func (n *normalizer) display(o Output) Output {
	data := make(map[string]any, len(o.Data))
	empty := true
	for mime, v := range o.Data {
		if s, ok := v.(string); ok && !strings.HasPrefix(mime, "image/") {
			v = n.rich(s)
		}
		data[mime] = v
		empty = empty && v == ""
	}
	if empty {
		return Output{Type: Display}
	}
	alt, ok := data["text/plain"].(string)
	metadata := orEmpty(o.Metadata)
	if _, picture := data["image/png"]; picture && ok && alt != "" {
		m, _ := metadata["image/png"].(map[string]any)
		m = orEmpty(m)
		m["alt"] = alt
		metadata["image/png"] = m
	}
	return Output{Type: Display, Data: data, Metadata: metadata}
}
