package jupyter

import (
	"fmt"
	"image"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Diff is one difference between the outputs of a cell.
type Diff struct {
	Cell int    // position in the notebook, from 1
	What string // "stdout", "text/html", "picture" …
	// Note says how they differ: lines that are gone and new, or how many pixels.
	Note string
	// Of a picture, as PNG. Got is nil if the picture is missing.
	Want, Got []byte
}

func (d Diff) String() string { return fmt.Sprintf("cell %d, %s: %s", d.Cell, d.What, d.Note) }

// Compare sets the outputs of the same notebook from two runs side by side.
// Text must be equal; pictures, alone or inside HTML, must look equal.
func Compare(want, got *Notebook) []Diff {
	var diffs []Diff
	for i := range want.Cells {
		if want.Cells[i].Type == Code && i < len(got.Cells) {
			for _, d := range compareOutputs(want.Cells[i].Outputs, got.Cells[i].Outputs) {
				d.Cell = i + 1
				diffs = append(diffs, d)
			}
		}
	}
	if len(want.Cells) != len(got.Cells) {
		diffs = append(diffs, Diff{Cell: len(want.Cells), What: "cells", Note: fmt.Sprintf("%d cells became %d", len(want.Cells), len(got.Cells))})
	}
	return diffs
}

// KeepEqual puts the outputs of old into got wherever they only differ by what
// Compare forgives.
func KeepEqual(old, got *Notebook) {
	for i := range old.Cells {
		if i < len(got.Cells) && old.Cells[i].Source == got.Cells[i].Source &&
			len(compareOutputs(old.Cells[i].Outputs, got.Cells[i].Outputs)) == 0 {
			got.Cells[i].Outputs = slices.Clone(old.Cells[i].Outputs)
		}
	}
}

// compareOutputs compares texts by name first: one line more on stdout should
// not make every picture after it differ too.
func compareOutputs(want, got []Output) []Diff {
	var diffs []Diff
	for _, name := range []string{"stdout", "stderr"} {
		if note := diffText(Text(want, name), Text(got, name)); note != "" {
			diffs = append(diffs, Diff{What: name, Note: note})
		}
	}
	isStream := func(o Output) bool { return o.Type == Stream }
	want = slices.DeleteFunc(slices.Clone(want), isStream)
	got = slices.DeleteFunc(slices.Clone(got), isStream)
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			diffs = append(diffs, Diff{What: want[i].kind(), Note: "is gone", Want: want[i].png()})
		case i >= len(want):
			diffs = append(diffs, Diff{What: got[i].kind(), Note: "is new", Got: got[i].png()})
		case want[i].Type != got[i].Type:
			diffs = append(diffs, Diff{What: want[i].kind(), Note: "became " + got[i].kind()})
		case want[i].Type == Error:
			if note := diffText(want[i].EValue, got[i].EValue); note != "" {
				diffs = append(diffs, Diff{What: Error, Note: note})
			}
		default:
			diffs = append(diffs, compareDisplays(want[i], got[i])...)
		}
	}
	return diffs
}

// kind names an output for a reader.
func (o Output) kind() string {
	switch {
	case o.Type == Error:
		return "error"
	case o.png() != nil:
		return "picture"
	case o.Data["text/html"] != nil:
		return "text/html"
	}
	return "display of " + strings.Join(slices.Sorted(maps.Keys(o.Data)), ", ")
}

func compareDisplays(want, got Output) []Diff {
	var diffs []Diff
	mimes := slices.Sorted(maps.Keys(want.Data))
	for mime := range got.Data {
		if _, ok := want.Data[mime]; !ok {
			diffs = append(diffs, Diff{What: mime, Note: "is new"})
		}
	}
	for _, mime := range mimes {
		w, inWant := want.Data[mime].(string)
		g, inGot := got.Data[mime].(string)
		switch {
		case got.Data[mime] == nil:
			diffs = append(diffs, Diff{What: mime, Note: "is gone"})
		case !inWant || !inGot:
			if !reflect.DeepEqual(want.Data[mime], got.Data[mime]) {
				diffs = append(diffs, Diff{What: mime, Note: "differs"})
			}
		case strings.HasPrefix(mime, "image/") && mime != "image/svg+xml":
			if note := diffPictures(w, g); note != "" {
				diffs = append(diffs, Diff{What: "picture", Note: note, Want: decodeBase64(w), Got: decodeBase64(g)})
			}
		case mime == "text/html":
			diffs = append(diffs, compareHTML(w, g)...)
		default:
			if note := diffText(w, g); note != "" {
				diffs = append(diffs, Diff{What: mime, Note: note})
			}
		}
	}
	if len(diffs) == 0 && !reflect.DeepEqual(want.Metadata, got.Metadata) {
		diffs = append(diffs, Diff{What: "metadata of a display", Note: diffText(fmt.Sprint(want.Metadata), fmt.Sprint(got.Metadata))})
	}
	return diffs
}

// compareHTML compares the pictures inside as pictures and the rest as text.
func compareHTML(want, got string) []Diff {
	text := func(s string) string {
		return inlinePNG.ReplaceAllString(hashedID.ReplaceAllString(s, "frames-…"), "(picture)")
	}
	if note := diffText(text(want), text(got)); note != "" {
		return []Diff{{What: "text/html", Note: note}}
	}
	var diffs []Diff
	g := inlinePNG.FindAllString(got, -1)
	for i, w := range inlinePNG.FindAllString(want, -1) {
		if note := diffPictures(w, g[i]); note != "" {
			diffs = append(diffs, Diff{What: fmt.Sprintf("picture %d in text/html", i+1), Note: note, Want: decodeBase64(w), Got: decodeBase64(g[i])})
		}
	}
	return diffs
}

// diffText describes how two texts differ by the lines that are gone (-) and
// new (+) between the first and the last line that differ.
func diffText(want, got string) string {
	if want == got {
		return ""
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	head := 0
	for head < len(w) && head < len(g) && w[head] == g[head] {
		head++
	}
	foot := 0
	for foot < len(w)-head && foot < len(g)-head && w[len(w)-1-foot] == g[len(g)-1-foot] {
		foot++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "from line %d on", head+1)
	quote(&b, "-", w[head:len(w)-foot])
	quote(&b, "+", g[head:len(g)-foot])
	return b.String()
}

func quote(b *strings.Builder, sign string, lines []string) {
	const most, widest = 12, 160
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(b, "\n  %s … %d more lines", sign, len(lines)-most)
			return
		}
		if r := []rune(line); len(r) > widest {
			line = string(r[:widest]) + "…"
		}
		fmt.Fprintf(b, "\n  %s %s", sign, line)
	}
}

// A pixel counts as different if a channel differs by more than pixelLevel of
// 255, and a picture if more than pixelShare of its pixels do: rounding on
// another processor moves the grey of an edge by a level or two, while a marker
// that moved by its own width changes tens of pixels of 300,000.
const (
	pixelLevel = 16
	pixelShare = 2e-5
)

// comparePixels returns the number of pixels that differ.
func comparePixels(a, b image.Image) (differ, total int) {
	box := a.Bounds()
	shift := b.Bounds().Min.Sub(box.Min)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			r1, g1, b1, a1 := a.At(x, y).RGBA()
			r2, g2, b2, a2 := b.At(x+shift.X, y+shift.Y).RGBA()
			if apart(r1, r2) || apart(g1, g2) || apart(b1, b2) || apart(a1, a2) {
				differ++
			}
		}
	}
	return differ, box.Dx() * box.Dy()
}

func apart(p, q uint32) bool {
	d := int(p>>8) - int(q>>8)
	return d > pixelLevel || d < -pixelLevel
}
