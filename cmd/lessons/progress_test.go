package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestProgress(t *testing.T) {
	var terminal bytes.Buffer
	p := &progress{w: &terminal, total: 4}
	last := func() string {
		s := terminal.String()
		return s[strings.LastIndex(s, "\r")+1:]
	}
	p.step("clustering/01-kmeans")
	if got := last(); !strings.Contains(got, "1/4 cells  clustering/01-kmeans") || strings.Count(got, "█") != 7 {
		t.Errorf("after one of four cells: %q", got)
	}
	p.say(func() { fmt.Fprintln(&terminal, "ok") })
	if got := terminal.String(); !strings.Contains(got, "\r\x1b[Kok\n") || !strings.Contains(last(), "1/4") {
		t.Errorf("a line above the bar: %q", got)
	}
	for range 5 { // check executes more cells than the notebook has
		p.step("x")
	}
	if got := last(); strings.Count(got, "█") != 30 || strings.Contains(got, "░") {
		t.Errorf("at the end: %q", got)
	}
	p.clear()
	if got := last(); got != "\x1b[K" {
		t.Errorf("after the end: %q", got)
	}

	var file bytes.Buffer
	quiet := (&app{stderr: &file}).newProgress(4)
	quiet.step("x")
	quiet.clear()
	if file.Len() != 0 {
		t.Errorf("wrote %q where there is no terminal", &file)
	}
}
