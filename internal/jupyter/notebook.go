package jupyter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
)

// Cell types of nbformat 4.
const (
	Markdown = "markdown"
	Code     = "code"
	Raw      = "raw"
)

// Output types of nbformat 4.
const (
	Stream  = "stream"
	Display = "display_data"
	Result  = "execute_result"
	Error   = "error"
)

// A Notebook is an nbformat 4.5 document.
type Notebook struct {
	Cells    []Cell
	Metadata map[string]any
}

// A Cell is one cell of a notebook. Outputs and ExecutionCount belong to code
// cells, Attachments to the others.
type Cell struct {
	Type           string // Markdown, Code or Raw
	ID             string
	Source         string
	Metadata       map[string]any
	Attachments    map[string]any
	Outputs        []Output
	ExecutionCount int // 0 if the cell was never executed
}

// An Output is one output of a code cell. Which fields count depends on Type.
type Output struct {
	Type           string         // Stream, Display, Result or Error
	Name, Text     string         // of a Stream: "stdout" or "stderr", and what it holds
	Data, Metadata map[string]any // of a Display or Result: by MIME type
	Count          int            // of a Result
	EName, EValue  string         // of an Error
	Traceback      []string       // of an Error
}

// ReadFile reads a notebook from a file.
func ReadFile(path string) (*Notebook, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	nb, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nb, nil
}

// WriteFile writes the canonical form of nb, whole or not at all.
func (nb *Notebook) WriteFile(path string) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return replaceFile(path, nb.Bytes(), mode)
}

// The document as it stands in the file. Sources and texts are a string or a
// list of lines there, which multiline reads and lines writes.
type (
	fileNotebook struct {
		Cells    []fileCell     `json:"cells"`
		Metadata map[string]any `json:"metadata"`
		Major    int            `json:"nbformat"`
		Minor    int            `json:"nbformat_minor"`
	}
	fileCell struct {
		Type           string         `json:"cell_type"`
		ID             string         `json:"id"`
		Source         multiline      `json:"source"`
		Metadata       map[string]any `json:"metadata"`
		Attachments    map[string]any `json:"attachments"`
		Outputs        []fileOutput   `json:"outputs"`
		ExecutionCount *int           `json:"execution_count"`
	}
	fileOutput struct {
		Type           string         `json:"output_type"`
		Name           string         `json:"name"`
		Text           multiline      `json:"text"`
		Data           map[string]any `json:"data"`
		Metadata       map[string]any `json:"metadata"`
		ExecutionCount *int           `json:"execution_count"`
		EName          string         `json:"ename"`
		EValue         string         `json:"evalue"`
		Traceback      []string       `json:"traceback"`
	}
	multiline string
)

func (m *multiline) UnmarshalJSON(data []byte) error {
	var lines []string
	if err := json.Unmarshal(data, &lines); err == nil {
		*m = multiline(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(m))
}

var cellID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Parse reads a notebook. It refuses anything that it would not write back
// whole: older formats, unknown cell types and fields, missing or repeated ids.
func Parse(data []byte) (*Notebook, error) {
	var file fileNotebook
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // metadata numbers keep their spelling
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("not a notebook: %w", err)
	}
	if dec.More() {
		return nil, fmt.Errorf("not a notebook: something follows the document at byte %d", dec.InputOffset())
	}
	if file.Major != 4 || file.Minor < 5 {
		return nil, fmt.Errorf("notebook format %d.%d is not supported, want 4.5 or later; open it in JupyterLab and save it", file.Major, file.Minor)
	}
	nb := &Notebook{Metadata: orEmpty(file.Metadata)}
	seen := make(map[string]int)
	for i, c := range file.Cells {
		if c.Type != Markdown && c.Type != Code && c.Type != Raw {
			return nil, fmt.Errorf("cell %d has the unknown type %q", i+1, c.Type)
		}
		if !cellID.MatchString(c.ID) {
			return nil, fmt.Errorf("cell %d has the id %q, want 1 to 64 of a-z, A-Z, 0-9, - and _", i+1, c.ID)
		}
		if first, ok := seen[c.ID]; ok {
			return nil, fmt.Errorf("cells %d and %d have the same id %q", first, i+1, c.ID)
		}
		seen[c.ID] = i + 1
		if c.Type != Code && (len(c.Outputs) > 0 || c.ExecutionCount != nil) {
			return nil, fmt.Errorf("cell %d is %s but has outputs or an execution count", i+1, c.Type)
		}
		cell := Cell{Type: c.Type, ID: c.ID, Source: string(c.Source), Metadata: orEmpty(c.Metadata), Attachments: c.Attachments, ExecutionCount: deref(c.ExecutionCount)}
		for _, o := range c.Outputs {
			out, err := o.output()
			if err != nil {
				return nil, fmt.Errorf("cell %d: %w", i+1, err)
			}
			cell.Outputs = append(cell.Outputs, out)
		}
		nb.Cells = append(nb.Cells, cell)
	}
	return nb, nil
}

func (o fileOutput) output() (Output, error) {
	out := Output{Type: o.Type}
	switch o.Type {
	case Stream:
		out.Name, out.Text = o.Name, string(o.Text)
	case Display, Result:
		out.Count = deref(o.ExecutionCount)
		out.Metadata, out.Data = orEmpty(o.Metadata), orEmpty(o.Data)
		for mime, v := range out.Data {
			out.Data[mime] = joinLines(mime, v)
		}
	case Error:
		out.EName, out.EValue, out.Traceback = o.EName, o.EValue, o.Traceback
	default:
		return out, fmt.Errorf("unknown output type %q", o.Type)
	}
	return out, nil
}

// joinLines is the inverse of the splitting that nbformat does to text.
func joinLines(mime string, v any) any {
	list, ok := v.([]any)
	if !ok || isJSON(mime) {
		return v
	}
	var b strings.Builder
	for _, line := range list {
		s, ok := line.(string)
		if !ok {
			return v
		}
		b.WriteString(s)
	}
	return b.String()
}

func isJSON(mime string) bool {
	return mime == "application/json" || strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

// Clone returns a copy whose cells and outputs can be replaced without
// touching nb. Metadata maps are copied one level deep.
func (nb *Notebook) Clone() *Notebook {
	out := &Notebook{Metadata: maps.Clone(nb.Metadata), Cells: append([]Cell(nil), nb.Cells...)}
	for i := range out.Cells {
		out.Cells[i].Metadata = maps.Clone(out.Cells[i].Metadata)
		out.Cells[i].Outputs = append([]Output(nil), out.Cells[i].Outputs...)
	}
	return out
}

// HasTag reports whether the cell's metadata lists a tag.
func (c *Cell) HasTag(tag string) bool {
	tags, _ := c.Metadata["tags"].([]any)
	for _, t := range tags {
		if t == tag {
			return true
		}
	}
	return false
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func deref(p *int) int {
	if p == nil {
		return 0
	}
	return *p
}
