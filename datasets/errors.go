package datasets

import (
	"fmt"
	"io/fs"
	"strings"
)

// ParseError says what is wrong with a file, where, and what to try.
type ParseError struct {
	Format string // "CSV", "IDX" or "image"
	File   string // name of the file; empty when the data came from a reader
	Line   int    // CSV: line of the text, from 1; 0 when no line is to blame
	Column int    // CSV: field of the line, from 1; 0 when no field is to blame
	Name   string // CSV: name of that column, if it has one

	// Offset is, for IDX and images, the byte at which the fault was found, from
	// 0. In compressed IDX data it counts decompressed bytes. Decoders of images
	// read ahead, so there it may lie a few kilobytes behind the fault.
	Offset int64

	Problem string // what is wrong
	Try     string // advice; may be empty
	Err     error  // underlying error; may be nil
}

func (e *ParseError) Error() string {
	var b strings.Builder
	b.WriteString("datasets: " + e.Format)
	if e.File != "" {
		b.WriteString(" file " + e.File)
	}
	switch {
	case e.Format != "CSV":
		fmt.Fprintf(&b, ", byte %d", e.Offset)
	case e.Line > 0:
		fmt.Fprintf(&b, ", line %d", e.Line)
	}
	if e.Column > 0 {
		fmt.Fprintf(&b, ", column %d", e.Column)
		if e.Name != "" {
			fmt.Fprintf(&b, " (%s)", e.Name)
		}
	}
	b.WriteString(": " + e.Problem)
	if e.Try != "" {
		b.WriteString("; " + e.Try)
	}
	return b.String()
}

// Unwrap returns the underlying error.
func (e *ParseError) Unwrap() error { return e.Err }

// ValueError says which value of a matrix cannot be used, and why.
type ValueError struct {
	Row, Column int // from 0, as in mat.Matrix.At; -1 when no single value is to blame
	Problem     string
	Try         string // advice
}

func (e *ValueError) Error() string {
	where := ""
	if e.Row >= 0 {
		where += fmt.Sprintf(" row %d,", e.Row)
	}
	if e.Column >= 0 {
		where += fmt.Sprintf(" column %d,", e.Column)
	}
	if where != "" {
		where = where[:len(where)-1] + ":"
	}
	return fmt.Sprintf("datasets:%s %s; %s", where, e.Problem, e.Try)
}

// MissingFilesError lists the files of a data set that a folder lacks, and says
// where they can be had. It matches fs.ErrNotExist.
type MissingFilesError struct {
	Name  string   // of the data set
	Dir   string   // the folder that was searched
	Files []string // names without the .gz that is also accepted
	Home  string   // the page that has them
}

func (e *MissingFilesError) Error() string {
	return fmt.Sprintf("datasets: %s: no %s in folder %q; download them from %s and put them there, as .gz or unpacked",
		e.Name, strings.Join(e.Files, ", "), e.Dir, e.Home)
}

// Unwrap returns fs.ErrNotExist.
func (e *MissingFilesError) Unwrap() error { return fs.ErrNotExist }
