package jupyter

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Bytes returns the canonical form of nb: what JupyterLab itself writes when it
// saves (sorted keys, one space of indent, text split into lines, a newline at
// the end), so that opening and saving a lesson changes nothing.
func (nb *Notebook) Bytes() []byte {
	cells := make([]any, len(nb.Cells))
	for i := range nb.Cells {
		cells[i] = nb.Cells[i].file()
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(map[string]any{
		"cells":          cells,
		"metadata":       orEmpty(nb.Metadata),
		"nbformat":       4,
		"nbformat_minor": 5,
	})
	if err != nil { // only for a value that no JSON document can hold
		panic("jupyter: " + err.Error())
	}
	return lineSeparator.ReplaceAllFunc(buf.Bytes(), unescapeLineSeparator)
}

// encoding/json always escapes U+2028 and U+2029, Jupyter never does.
var lineSeparator = regexp.MustCompile(`\\(\\|u2028|u2029)`)

func unescapeLineSeparator(m []byte) []byte {
	switch string(m) {
	case `\u2028`:
		return []byte("\u2028")
	case `\u2029`:
		return []byte("\u2029")
	}
	return m
}

func (c *Cell) file() map[string]any {
	cell := map[string]any{
		"cell_type": c.Type,
		"id":        c.ID,
		"metadata":  orEmpty(c.Metadata),
		"source":    splitLines(c.Source),
	}
	if len(c.Attachments) > 0 {
		cell["attachments"] = c.Attachments
	}
	if c.Type != Code {
		return cell
	}
	cell["execution_count"] = nullable(c.ExecutionCount)
	outputs := make([]any, len(c.Outputs))
	for i := range c.Outputs {
		outputs[i] = c.Outputs[i].file()
	}
	cell["outputs"] = outputs
	return cell
}

func (o *Output) file() map[string]any {
	out := map[string]any{"output_type": o.Type}
	switch o.Type {
	case Stream:
		out["name"], out["text"] = o.Name, splitLines(o.Text)
	case Display, Result:
		data := make(map[string]any, len(o.Data))
		for mime, v := range o.Data {
			if s, ok := v.(string); ok && splits(mime) {
				v = splitLines(s)
			}
			data[mime] = v
		}
		out["data"], out["metadata"] = data, orEmpty(o.Metadata)
		if o.Type == Result {
			out["execution_count"] = nullable(o.Count)
		}
	case Error:
		out["ename"], out["evalue"], out["traceback"] = o.EName, o.EValue, append([]string{}, o.Traceback...)
	}
	return out
}

func nullable(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// splits reports whether nbformat stores this MIME type as a list of lines.
func splits(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "application/javascript" || mime == "image/svg+xml"
}

// splitLines cuts s after every line end, as Python's str.splitlines(True) does.
func splitLines(s string) []string {
	lines := []string{}
	start := 0
	for i, w := 0, 0; i < len(s); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(s[i:])
		if r == '\r' && strings.HasPrefix(s[i+1:], "\n") {
			w = 2
		}
		switch r {
		case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			lines = append(lines, s[start:i+w])
			start = i + w
		}
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}
