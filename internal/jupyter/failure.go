package jupyter

import (
	"html"
	"regexp"
	"strings"
)

// Failure returns the readable error of a cell that failed, and "" for a cell
// that did not. GoNB tells of a failure in three forms, alone or together: an
// error output; a line of stderr, for a panic, a shell command or a test that
// failed; an HTML block, for what does not compile.
func Failure(outputs []Output) string {
	var parts []string
	var errorValue string
	var failed bool
	for _, o := range outputs {
		switch o.Type {
		case Error:
			failed = true
			errorValue = o.EValue
		case Stream:
			if o.Name == "stderr" && stderrFailure.MatchString(o.Text) {
				failed = true
			}
		case Display, Result:
			if text := errorBlock(o); text != "" {
				failed = true
				parts = append(parts, text)
			}
		}
	}
	if !failed {
		return ""
	}
	for _, name := range []string{"stdout", "stderr"} {
		text := Text(outputs, name)
		// Of stdout only a failed test has something to say.
		if name == "stderr" || strings.Contains(text, "--- FAIL") {
			parts = append(parts, strings.TrimSpace(ansi.ReplaceAllString(text, "")))
		}
	}
	report := strings.TrimSpace(strings.Join(parts, "\n"))
	if errorValue = strings.TrimSpace(ansi.ReplaceAllString(errorValue, "")); !strings.Contains(report, errorValue) {
		report = strings.TrimSpace(report + "\n" + errorValue)
	}
	if report == "" {
		report = "the cell failed without a message"
	}
	return report
}

// Text joins what the cell wrote to a stream.
func Text(outputs []Output, name string) string {
	var b strings.Builder
	for _, o := range outputs {
		if o.Type == Stream && o.Name == name {
			b.WriteString(o.Text)
		}
	}
	return b.String()
}

var (
	stderrFailure = regexp.MustCompile(`(?m)^(exit status \d+|signal: .+|panic: .*|fatal error: .*|"%.*" unknown or not implemented yet\.)$`)
	ansi          = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	errorMark     = regexp.MustCompile(`class="gonb-err-|data-mime-type="application/vnd\.jupyter\.stderr"`)
	// What a reader of the block does not see, or sees only on mouse-over.
	hidden  = regexp.MustCompile(`(?s)<style>.*?</style>|<div class="gonb-err-context">.*?(?:</div>\s*)</div>`)
	tag     = regexp.MustCompile(`<[^>]*>`)
	newline = regexp.MustCompile(`\s*\n\s*`)
)

// errorBlock returns the text of GoNB's HTML block with errors, "" if the
// output is something else.
func errorBlock(o Output) string {
	block, _ := o.Data["text/html"].(string)
	if !errorMark.MatchString(block) {
		return ""
	}
	text := html.UnescapeString(tag.ReplaceAllString(hidden.ReplaceAllString(block, ""), ""))
	return newline.ReplaceAllString(strings.TrimSpace(text), "\n")
}
