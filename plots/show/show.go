// Package show puts pictures, tables and live progress into a GoNB notebook. It is
// the only package that talks to the kernel.
//
// # In a notebook
//
// Every function displays at once, in the output of the running cell, and returns
// when the kernel has published it, so what a cell shows and prints comes out in
// order. Neither a display nor its metadata contains anything random or the time:
// running a cell again gives the same bytes.
//
// A picture is sent as image/png with its description (see [plots.Figure.Alt]) as
// text/plain and in the metadata of the output, as IPython does:
//
//	{"image/png": {"alt": "272 points in two clusters …"}}
//
// JupyterLab 4, VS Code and nbconvert's default template do not read that yet. For
// them a second output follows, a piece of HTML that takes no room and that screen
// readers announce as an image with this description.
//
// # Elsewhere
//
// Outside a notebook the functions do nothing, so code moves between notebooks,
// programs and tests unchanged. If [Dir] names a directory, they write files there
// instead.
//
// What cannot be shown (a logarithmic axis from zero, a table row of the wrong
// length, a directory that cannot be written) is a mistake in the cell: the
// functions panic, and the cell fails.
package show

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"sync"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/latent-lessons/latent/plots"
)

// Dir is the directory into which programs outside a notebook write what they show:
// 01.png, 02.md, 03.html … in the order of the calls, and 01.txt with the description
// of 01.png. Nothing is written if it is empty. It starts as the value of the
// environment variable LATENT_SHOW and must not change while something is shown.
var Dir = os.Getenv("LATENT_SHOW")

// Plot shows a figure, a grid of figures or another picture.
func Plot(p plots.Picture) {
	if !active() {
		return
	}
	img, err := p.Image()
	if err != nil {
		panic(err)
	}
	png, err := plots.EncodePNG(img)
	if err != nil {
		panic(err)
	}
	alt := p.Alt()
	display(protocol.DisplayData{
		Data:     map[protocol.MIMEType]any{protocol.MIMEImagePNG: png, protocol.MIMETextPlain: alt},
		Metadata: map[string]any{string(protocol.MIMEImagePNG): map[string]any{"alt": alt}},
	}, file{"png", png}, file{"txt", []byte(alt + "\n")})
	display(protocol.DisplayData{
		Data: map[protocol.MIMEType]any{
			protocol.MIMETextHTML: fmt.Sprintf(`<span role="img" aria-label="%s"></span>`, html.EscapeString(alt)),
		},
	})
}

// Grid shows figures in panels with the given number of columns; it is short for
// Plot(plots.NewGrid(cols, figs...)).
func Grid(cols int, figs ...*plots.Figure) { Plot(plots.NewGrid(cols, figs...)) }

// Markdown shows text in Markdown, with LaTeX between dollar signs.
func Markdown(text string) {
	display(protocol.DisplayData{
		Data: map[protocol.MIMEType]any{protocol.MIMETextMarkdown: text},
	}, file{"md", []byte(text + "\n")})
}

// HTML shows a piece of HTML and, where that cannot be shown, the text.
func HTML(source, text string) {
	display(protocol.DisplayData{
		Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: source, protocol.MIMETextPlain: text},
	}, file{"html", []byte("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n" + source + "\n")})
}

// A file stands for a display outside a notebook.
type file struct {
	ext  string
	data []byte
}

var (
	filesMu sync.Mutex
	written int
)

// active reports whether anything shown is seen or written.
func active() bool {
	kernel.Lock()
	defer kernel.Unlock()
	return connected() || Dir != ""
}

// display sends d to the notebook or writes the files.
func display(d protocol.DisplayData, files ...file) {
	if send(d) || Dir == "" || len(files) == 0 {
		return
	}
	filesMu.Lock()
	defer filesMu.Unlock()
	written++
	if err := os.MkdirAll(Dir, 0o777); err != nil {
		panic(fmt.Errorf("show: %w", err))
	}
	for _, f := range files {
		name := filepath.Join(Dir, fmt.Sprintf("%02d.%s", written, f.ext))
		if err := os.WriteFile(name, f.data, 0o666); err != nil {
			panic(fmt.Errorf("show: %w", err))
		}
	}
}
