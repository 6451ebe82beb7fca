package datasets

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"
)

// Header says whether the first line of a CSV file names the columns.
type Header int

const (
	HeaderAuto    Header = iota // it does when none of its fields is a number
	HeaderPresent               // it does
	HeaderAbsent                // it does not
)

// CSVOptions says how to read a CSV file. The zero value and nil read a
// comma-separated table of numbers, with or without a header.
type CSVOptions struct {
	Comma  rune     // the delimiter; 0 means ','
	Header Header   // zero means HeaderAuto
	Label  string   // name of the column that holds the class of each row; empty: none does
	Skip   []string // names of columns to leave out
}

// CSV reads a table of numbers, a line per observation. Columns without a name
// are called x1, x2, … by their place in the line. Fields may be quoted (RFC
// 4180), lines may end in CRLF, a byte order mark and blank lines are skipped,
// and so is white space around a field.
//
// The column Label may hold text. Its distinct values become the Classes, sorted
// by value if all are numbers and by name otherwise.
//
// Anything else that is not a finite number, a missing value (an empty field, NA,
// NaN, N/A, null, none or ?), a line with more or fewer fields than the first, an
// unknown or ambiguous column name and a table without rows or columns are a
// *[ParseError]. CSV panics when opts.Comma cannot delimit fields. Memory is
// proportional to the input.
func CSV(r io.Reader, opts *CSVOptions) (*Data, error) {
	var o CSVOptions
	if opts != nil {
		o = *opts
	}
	if o.Comma == 0 {
		o.Comma = ','
	}
	if strings.ContainsRune("\"\r\n", o.Comma) || !utf8.ValidRune(o.Comma) || o.Comma == utf8.RuneError {
		panic(fmt.Sprintf("datasets: CSV: %q cannot delimit fields", o.Comma))
	}
	in := bufio.NewReader(r)
	if bom, _ := in.Peek(3); string(bom) == "\uFEFF" {
		in.Discard(3)
	} else if len(bom) >= 2 && (bom[0] == 0xFF && bom[1] == 0xFE || bom[0] == 0xFE && bom[1] == 0xFF) {
		return nil, &ParseError{Format: "CSV", Line: 1, Problem: "the text is UTF-16", Try: "save it as UTF-8"}
	}
	records := csv.NewReader(in)
	records.Comma = o.Comma
	records.FieldsPerRecord = -1 // checked below, with a message of our own
	records.TrimLeadingSpace = !unicode.IsSpace(o.Comma)
	records.ReuseRecord = true
	return (&table{CSVOptions: o, records: records}).read()
}

// CSVFile reads the file at path as [CSV] does and names the data after it.
func CSVFile(path string, opts *CSVOptions) (*Data, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	d, err := CSV(f, opts)
	if err != nil {
		return nil, inFile(err, path)
	}
	name := filepath.Base(path)
	d.Name, d.Source = strings.TrimSuffix(name, filepath.Ext(name)), name
	return d, nil
}

// inFile adds the name of the file to a ParseError.
func inFile(err error, path string) error {
	var parse *ParseError
	if errors.As(err, &parse) {
		parse.File = path
	}
	return err
}

// table is a CSV file while it is read.
type table struct {
	CSVOptions
	records *csv.Reader
	columns []string  // name of every field of a line
	keep    []bool    // which fields are variables
	label   int       // the field that holds the class, or -1
	values  []float64 // of the variables, row by row
	labels  []string  // one per row, if label ≥ 0
}

func (t *table) read() (*Data, error) {
	first, err := t.next()
	if err == io.EOF {
		return nil, &ParseError{Format: "CSV", Line: 1, Problem: "the input is empty", Try: "check that this is the right file"}
	}
	if err != nil {
		return nil, err
	}
	header := t.Header == HeaderPresent || t.Header == HeaderAuto && isHeader(first)
	if err := t.name(first, header); err != nil {
		return nil, err
	}
	rec := first
	if header {
		rec, err = t.next()
	}
	for ; err == nil; rec, err = t.next() {
		if err := t.row(rec); err != nil {
			return nil, err
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return t.data()
}

// next returns the fields of the next line that has any, without white space
// around them, or io.EOF. The fields are valid until the next call.
func (t *table) next() ([]string, error) {
	rec, err := t.records.Read()
	var syntax *csv.ParseError
	switch {
	case err == io.EOF:
		return nil, err
	case errors.As(err, &syntax):
		problem := fmt.Sprintf("%v at byte %d of the line", syntax.Err, syntax.Column)
		if syntax.StartLine != syntax.Line {
			problem += fmt.Sprintf(", in a record that begins in line %d", syntax.StartLine)
		}
		return nil, &ParseError{Format: "CSV", Line: syntax.Line, Problem: problem, Err: err,
			Try: `close every quote, and write a quote inside a quoted field as ""`}
	case err != nil:
		return nil, &ParseError{Format: "CSV", Problem: fmt.Sprintf("reading failed: %v", err), Err: err}
	}
	for i := range rec {
		rec[i] = strings.TrimSpace(rec[i])
	}
	return rec, nil
}

// isHeader reports whether a line looks like names: no field is a number and
// not all are missing.
func isHeader(rec []string) bool {
	isNumber := func(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil && !isMissing(s) }
	return !slices.ContainsFunc(rec, isNumber) && slices.ContainsFunc(rec, func(s string) bool { return !isMissing(s) })
}

func isMissing(s string) bool {
	switch strings.ToLower(s) {
	case "", "na", "nan", "n/a", "null", "none", "?":
		return true
	}
	return false
}

// name decides what each field of a line is.
func (t *table) name(rec []string, header bool) error {
	t.columns = numbered("x", 1, len(rec))
	t.keep = slices.Repeat([]bool{true}, len(rec))
	t.label = -1
	if header {
		for j, s := range rec {
			if s != "" {
				t.columns[j] = strings.Clone(s)
			}
		}
	}
	for _, name := range t.Skip {
		j, err := t.find(name)
		if err != nil {
			return err
		}
		t.keep[j] = false
	}
	if t.Label != "" {
		j, err := t.find(t.Label)
		if err != nil {
			return err
		}
		t.label, t.keep[j] = j, false
	}
	if !slices.Contains(t.keep, true) {
		return t.fault(0, "no column of numbers is left", "check CSVOptions.Label and CSVOptions.Skip")
	}
	return nil
}

// find returns the place of the only column of that name.
func (t *table) find(name string) (int, error) {
	j := slices.Index(t.columns, name)
	if j < 0 {
		return 0, t.fault(0, fmt.Sprintf("there is no column %q", name), fmt.Sprintf("the columns are %q", t.columns))
	}
	if slices.Contains(t.columns[j+1:], name) {
		return 0, t.fault(0, fmt.Sprintf("two columns are called %q", name), "rename one")
	}
	return j, nil
}

// row appends the fields of a line to the values and labels.
func (t *table) row(rec []string) error {
	if len(rec) != len(t.columns) {
		return t.fault(0, fmt.Sprintf("%d fields, but the first line has %d", len(rec), len(t.columns)), "give every line as many, or drop this one")
	}
	for j, s := range rec {
		switch {
		case t.keep[j]:
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return t.badNumber(j, s)
			}
			t.values = append(t.values, v)
		case j == t.label:
			if isMissing(s) {
				return t.fault(j+1, "the label is missing", "drop the line")
			}
			t.labels = append(t.labels, s)
		}
	}
	return nil
}

// badNumber says why s is not a value, and what to do about it.
func (t *table) badNumber(j int, s string) error {
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case isMissing(s):
		return t.fault(j+1, "the value is missing", "drop the line or fill the value in")
	case errors.Is(err, strconv.ErrRange):
		return t.fault(j+1, fmt.Sprintf("%.40q is too large for a float64", s), "rescale the column")
	case math.IsInf(v, 0):
		return t.fault(j+1, fmt.Sprintf("%q is not finite", s), "drop the line or fill the value in")
	}
	try := fmt.Sprintf("name the column in CSVOptions.Label if it holds classes, or in CSVOptions.Skip (%q)", t.columns[j])
	line, _ := t.records.FieldPos(0)
	switch i := strings.IndexAny(s, ";\t|"); {
	case i >= 0:
		try = fmt.Sprintf("set CSVOptions.Comma to %q if that is the delimiter", s[i])
	case strings.Contains(s, ","):
		try = "write decimals with a point"
	case line == 1 && t.Header == HeaderAuto:
		try = "set CSVOptions.Header to HeaderPresent if the first line names the columns, or " + try
	}
	return t.fault(j+1, fmt.Sprintf("%.40q is not a number", s), try)
}

// fault is an error in the current line; column counts from 1, 0 for the whole line.
func (t *table) fault(column int, problem, try string) error {
	e := &ParseError{Format: "CSV", Column: column, Problem: problem, Try: try}
	e.Line, _ = t.records.FieldPos(max(column-1, 0))
	if column > 0 {
		e.Name = t.columns[column-1]
	}
	return e
}

// data turns what was read into a Data.
func (t *table) data() (*Data, error) {
	d := &Data{Name: "CSV"}
	for j, name := range t.columns {
		if t.keep[j] {
			d.Columns = append(d.Columns, name)
		}
	}
	if len(t.values) == 0 {
		return nil, &ParseError{Format: "CSV", Line: 1, Problem: "no line follows the header",
			Try: "set CSVOptions.Header to HeaderAbsent if the first line is data"}
	}
	d.X = mat.NewDense(len(t.values)/len(d.Columns), len(d.Columns), t.values)
	if t.label >= 0 {
		d.Labels, d.Classes = encode(t.labels)
	}
	return d, nil
}

// encode numbers the distinct labels: by value if all are numbers, else by name.
func encode(labels []string) (codes []int, classes []string) {
	code := make(map[string]int)
	for _, s := range labels {
		if _, ok := code[s]; !ok {
			s = strings.Clone(s) // do not keep the whole line alive
			code[s] = 0
			classes = append(classes, s)
		}
	}
	value := make(map[string]float64)
	for _, s := range classes {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			value[s] = v
		}
	}
	byValue := len(value) == len(classes)
	slices.SortFunc(classes, func(a, b string) int {
		if byValue && value[a] != value[b] {
			return cmp.Compare(value[a], value[b])
		}
		return cmp.Compare(a, b)
	})
	for i, s := range classes {
		code[s] = i
	}
	codes = make([]int, len(labels))
	for i, s := range labels {
		codes[i] = code[s]
	}
	return codes, classes
}
