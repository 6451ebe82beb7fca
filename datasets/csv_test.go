package datasets_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
)

func TestCSV(t *testing.T) {
	for _, test := range []struct {
		name, text string
		opts       *datasets.CSVOptions
		x          *mat.Dense
		columns    string
		labels     []int
		classes    string
	}{
		{"header found", "a,b (cm)\n1,2\n3,4\n", nil,
			mat.NewDense(2, 2, []float64{1, 2, 3, 4}), "[a b (cm)]", nil, "[]"},
		{"no header found", "1,2\n3,4", nil,
			mat.NewDense(2, 2, []float64{1, 2, 3, 4}), "[x1 x2]", nil, "[]"},
		{"numbers as header", "2019,2020\n3,4", &datasets.CSVOptions{Header: datasets.HeaderPresent},
			mat.NewDense(1, 2, []float64{3, 4}), "[2019 2020]", nil, "[]"},
		{"label by name", "x,kind,y\n1,b,2\n3,a,4\n5,b,6\n", &datasets.CSVOptions{Label: "kind"},
			mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6}), "[x y]", []int{1, 0, 1}, "[a b]"},
		{"label without header", "1,b\n3,a\n", &datasets.CSVOptions{Label: "x2"},
			mat.NewDense(2, 1, []float64{1, 3}), "[x1]", []int{1, 0}, "[a b]"},
		{"labels that are numbers", "1,10\n3,9\n5,-1\n", &datasets.CSVOptions{Label: "x2"},
			mat.NewDense(3, 1, []float64{1, 3, 5}), "[x1]", []int{2, 1, 0}, "[-1 9 10]"},
		{"labels that are not all numbers", "1,10\n3,9\n5,z\n", &datasets.CSVOptions{Label: "x2"},
			mat.NewDense(3, 1, []float64{1, 3, 5}), "[x1]", []int{0, 1, 2}, "[10 9 z]"},
		{"skipped columns", "id,a,who,b\n1,2,Ann,3\n2,5,,6\n", &datasets.CSVOptions{Skip: []string{"who", "id"}},
			mat.NewDense(2, 2, []float64{2, 3, 5, 6}), "[a b]", nil, "[]"},
		{"nameless column", ",a\n1,2\n", nil, mat.NewDense(1, 2, []float64{1, 2}), "[x1 a]", nil, "[]"},
		{"byte order mark, CRLF, blank lines", "\uFEFFa,b\r\n\r\n1,2\r\n\r\n3,4\r\n", nil,
			mat.NewDense(2, 2, []float64{1, 2, 3, 4}), "[a b]", nil, "[]"},
		{"quotes", "\"a, \"\"x\"\"\",\"b\nc\"\n\"1\",\"2\"\n", nil,
			mat.NewDense(1, 2, []float64{1, 2}), "[a, \"x\" b\nc]", nil, "[]"},
		{"white space", " a , b \n 1 ,\t2\n", nil, mat.NewDense(1, 2, []float64{1, 2}), "[a b]", nil, "[]"},
		{"semicolons", "a;b\n1;2\n", &datasets.CSVOptions{Comma: ';'},
			mat.NewDense(1, 2, []float64{1, 2}), "[a b]", nil, "[]"},
		{"tabs", "a\tb\n1\t2\n", &datasets.CSVOptions{Comma: '\t'},
			mat.NewDense(1, 2, []float64{1, 2}), "[a b]", nil, "[]"},
		{"signs and exponents", "-1.5e3,+.5\n-0,1e-400\n", nil,
			mat.NewDense(2, 2, []float64{-1500, 0.5, math.Copysign(0, -1), 0}), "[x1 x2]", nil, "[]"},
	} {
		d, err := datasets.CSV(strings.NewReader(test.text), test.opts)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		valid(t, d)
		if !mat.Equal(d.X, test.x) {
			t.Errorf("%s: X = %v, want %v", test.name, mat.Formatted(d.X), mat.Formatted(test.x))
		}
		if fmt.Sprint(d.Columns) != test.columns || fmt.Sprint(d.Classes) != test.classes || !slices.Equal(d.Labels, test.labels) {
			t.Errorf("%s: columns %v, labels %v of %v; want %s, %v of %s",
				test.name, d.Columns, d.Labels, d.Classes, test.columns, test.labels, test.classes)
		}
	}
}

func TestCSVRefuses(t *testing.T) {
	label := &datasets.CSVOptions{Label: "c"}
	for _, test := range []struct {
		name, text string
		opts       *datasets.CSVOptions
		want       string
	}{
		{"empty", "", nil, "datasets: CSV, line 1: the input is empty; check that this is the right file"},
		{"blank", "\n\r\n", nil, "datasets: CSV, line 1: the input is empty; check that this is the right file"},
		{"header only", "a,b\n", nil, "datasets: CSV, line 1: no line follows the header; " +
			"set CSVOptions.Header to HeaderAbsent if the first line is data"},
		{"UTF-16", "\xff\xfea\x00", nil, "datasets: CSV, line 1: the text is UTF-16; save it as UTF-8"},
		{"text", "a,b\n1,2\n3,four\n", nil, `datasets: CSV, line 3, column 2 (b): "four" is not a number; ` +
			`name the column in CSVOptions.Label if it holds classes, or in CSVOptions.Skip ("b")`},
		{"text behind a line break", "1,2\n\"3\n\",four\n", nil, `datasets: CSV, line 3, column 2 (x2): "four" is not a number; ` +
			`name the column in CSVOptions.Label if it holds classes, or in CSVOptions.Skip ("x2")`},
		{"missing", "a,b\n\n1,\n", nil, "datasets: CSV, line 3, column 2 (b): the value is missing; drop the line or fill the value in"},
		{"NA", "1,2\nNA,2\n", nil, "datasets: CSV, line 2, column 1 (x1): the value is missing; drop the line or fill the value in"},
		{"NaN", "1,2\n1,nan\n", nil, "datasets: CSV, line 2, column 2 (x2): the value is missing; drop the line or fill the value in"},
		{"all missing", "NA,NA\n1,2\n", nil, "datasets: CSV, line 1, column 1 (x1): the value is missing; drop the line or fill the value in"},
		{"infinite", "1\n-Inf\n", nil, `datasets: CSV, line 2, column 1 (x1): "-Inf" is not finite; drop the line or fill the value in`},
		{"huge", "1\n1e999\n", nil, `datasets: CSV, line 2, column 1 (x1): "1e999" is too large for a float64; rescale the column`},
		{"short line", "1,2\n3\n", nil, "datasets: CSV, line 2: 1 fields, but the first line has 2; give every line as many, or drop this one"},
		{"long line", "1,2\n\"3\n\",4\n3,4,5\n", nil, "datasets: CSV, line 4: 3 fields, but the first line has 2; give every line as many, or drop this one"},
		{"open quote", "a,b\n1,\"2\n3,4\n", nil,
			"datasets: CSV, line 3: extraneous or missing \" in quoted-field at byte 5 of the line, in a record that begins in line 2; " +
				"close every quote, and write a quote inside a quoted field as \"\""},
		{"bare quote", "1,2\n3,4\"\n", nil,
			"datasets: CSV, line 2: bare \" in non-quoted-field at byte 4 of the line; " +
				"close every quote, and write a quote inside a quoted field as \"\""},
		{"semicolons", "a;b\n1;2\n", nil,
			`datasets: CSV, line 2, column 1 (a;b): "1;2" is not a number; set CSVOptions.Comma to ';' if that is the delimiter`},
		{"decimal commas", "a;b\n1,5;2\n", &datasets.CSVOptions{Comma: ';'},
			`datasets: CSV, line 2, column 1 (a): "1,5" is not a number; write decimals with a point`},
		{"half a header", "id,2019\n1,2\n", nil, `datasets: CSV, line 1, column 1 (x1): "id" is not a number; ` +
			`set CSVOptions.Header to HeaderPresent if the first line names the columns, or ` +
			`name the column in CSVOptions.Label if it holds classes, or in CSVOptions.Skip ("x1")`},
		{"no label column", "a,b\n1,2\n", label, `datasets: CSV, line 1: there is no column "c"; the columns are ["a" "b"]`},
		{"two label columns", "c,b,c\n1,2,3\n", label, `datasets: CSV, line 1: two columns are called "c"; rename one`},
		{"missing label", "b,c\n1,x\n1,\n", label, "datasets: CSV, line 3, column 2 (c): the label is missing; drop the line"},
		{"only labels", "c\nx\n", label, "datasets: CSV, line 1: no column of numbers is left; check CSVOptions.Label and CSVOptions.Skip"},
		{"unknown skip", "a,b\n1,2\n", &datasets.CSVOptions{Skip: []string{"z"}},
			`datasets: CSV, line 1: there is no column "z"; the columns are ["a" "b"]`},
	} {
		_, err := datasets.CSV(strings.NewReader(test.text), test.opts)
		if _, ok := err.(*datasets.ParseError); !ok || err.Error() != test.want {
			t.Errorf("%s: got  %T %v\nwant %s", test.name, err, err, test.want)
		}
	}
	panics(t, `datasets: CSV: '"' cannot delimit fields`, func() {
		datasets.CSV(strings.NewReader("1"), &datasets.CSVOptions{Comma: '"'})
	})
}

func TestCSVReadFails(t *testing.T) {
	failure := errors.New("the disk is on fire")
	_, err := datasets.CSV(io.MultiReader(strings.NewReader("1,2\n"), iotest.ErrReader(failure)), nil)
	var parse *datasets.ParseError
	if !errors.Is(err, failure) || !errors.As(err, &parse) {
		t.Errorf("got %T %v", err, err)
	}
}

func TestCSVFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heights.csv")
	if err := os.WriteFile(path, []byte("h (cm)\n170\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := datasets.CSVFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "heights" || d.Source != "heights.csv" || d.X.At(0, 0) != 170 {
		t.Errorf("name %q, source %q, X = %v", d.Name, d.Source, d.X)
	}
	if err := os.WriteFile(path, []byte("h\ntall\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var parse *datasets.ParseError
	if _, err := datasets.CSVFile(path, nil); !errors.As(err, &parse) || parse.File != path || parse.Line != 2 || parse.Column != 1 || parse.Name != "h" {
		t.Errorf("got %v", err)
	} else if want := "datasets: CSV file " + path + ", line 2, column 1 (h): "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
	if _, err := datasets.CSVFile(path+"x", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

// What CSV accepts comes back the same after it is written and read again.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n3,4\n", "1,2,x\n3,4,y\n", "\uFEFFa;b\r\n1;2\r\n", "\"a\"\"b\",c\n1,2", "a,b\n1,\n", "1,2\n3\n",
		"\"open", "x1,,x1\n1,2,3\n", "1e999\n", "NaN\n", ",\n,\n", "\xff\xfe", " 1 , 2 \n", "a\rb\n1\n", "0x1p-2,1_0\n",
	} {
		f.Add(text, byte(','), byte(0), "")
		f.Add(text, byte(';'), byte(1), "b")
		f.Add(text, byte('\t'), byte(2), "x1")
	}
	f.Fuzz(func(t *testing.T, text string, comma, header byte, label string) {
		if comma >= 0x80 || strings.ContainsRune("\"\r\n", rune(comma)) {
			return
		}
		opts := &datasets.CSVOptions{Comma: rune(comma), Header: datasets.Header(header % 3), Label: label}
		d, err := datasets.CSV(strings.NewReader(text), opts)
		if err != nil {
			var parse *datasets.ParseError
			if !errors.As(err, &parse) || parse.Line < 1 || parse.Line > 1+strings.Count(text, "\n") {
				t.Fatalf("not a ParseError in a line of the text: %#v", err)
			}
			return
		}
		valid(t, d)
		again, err := datasets.CSV(writeCSV(d, label), &datasets.CSVOptions{Header: datasets.HeaderPresent, Label: label})
		if err != nil {
			t.Fatalf("%v\n%s", err, writeCSV(d, label))
		}
		if !mat.Equal(d.X, again.X) || !slices.Equal(d.Columns, again.Columns) ||
			!slices.Equal(d.Labels, again.Labels) || !slices.Equal(d.Classes, again.Classes) {
			t.Fatalf("got %v back, want %v", again, d)
		}
	})
}

func writeCSV(d *datasets.Data, label string) *bytes.Buffer {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := slices.Clone(d.Columns)
	if d.Labels != nil {
		header = append(header, label)
	}
	w.Write(header)
	for i := range d.X.RawMatrix().Rows {
		var rec []string
		for _, v := range d.X.RawRowView(i) {
			rec = append(rec, strconv.FormatFloat(v, 'g', -1, 64))
		}
		if d.Labels != nil {
			rec = append(rec, d.Classes[d.Labels[i]])
		}
		w.Write(rec)
	}
	w.Flush()
	return &b
}

func BenchmarkCSV(b *testing.B) {
	d := datasets.Blobs(seeded(1), 5000, 4, &datasets.BlobsOptions{Dim: 8})
	text := writeCSV(d, "class").Bytes()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := datasets.CSV(bytes.NewReader(text), &datasets.CSVOptions{Label: "class"}); err != nil {
			b.Fatal(err)
		}
	}
}
