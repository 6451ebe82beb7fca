//go:build e2e

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/latent-lessons/latent/internal/jupyter"
)

const e2eLesson = "clustering/01-kmeans"

// TestE2ELab does what a student does: starts the lab, opens the first lesson
// in a browser, runs all cells, looks at the pictures and moves a slider.
// Screenshots are left in the directory named by LESSONS_SCREENSHOTS.
func TestE2ELab(t *testing.T) {
	root, err := jupyter.FindRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "notebooks", filepath.FromSlash(e2eLesson)+".ipynb")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pictures, frames := countPictures(t, path)
	if pictures == 0 || frames == 0 {
		t.Fatalf("%s has %d pictures and %d sliders, want some of both", path, pictures, frames)
	}
	url := startLab(t, root)
	b := startBrowser(t)

	b.do("open the lesson", chromedp.Navigate(url), chromedp.WaitVisible(`.jp-NotebookPanel .jp-Cell`, chromedp.ByQuery))
	b.waitFor("the Go kernel", 60*time.Second, `document.querySelector('.jp-NotebookPanel .jp-Toolbar-kernelName')?.textContent.includes('Go (gonb)')`)
	b.menu("Edit", "Clear Outputs of All Cells")
	b.waitFor("outputs to be cleared", 10*time.Second, `document.querySelectorAll('.jp-OutputArea-output').length === 0`)
	b.menu("Run", "Run All Cells")
	b.waitFor("the last cell to have run", 5*time.Minute, `(() => {
		const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(p => p.textContent.trim());
		return document.querySelectorAll('.jp-OutputArea-output').length > 0 && prompts.length > 0 && prompts.every(p => /^\[\d+\]:$/.test(p));
	})()`)
	if text := b.text(`[...document.querySelectorAll('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"], .jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"], .gonb-err-location')].map(e => e.textContent).join('\n')`); text != "" {
		t.Errorf("errors in the notebook:\n%s", text)
	}

	count := fmt.Sprintf(`[...document.querySelectorAll('.jp-OutputArea-output img')].filter(i => i.complete && i.naturalWidth > 100 && i.offsetWidth > 100).length >= %d`, pictures+frames)
	b.waitFor(fmt.Sprintf("%d pictures and %d first frames", pictures, frames), 10*time.Second, count)
	b.waitFor("every slider", 10*time.Second, fmt.Sprintf(`document.querySelectorAll('.jp-OutputArea-output input[type=range]').length === %d`, frames))

	const group, slider = `.jp-OutputArea-output [role=group]`, `.jp-OutputArea-output input[type=range]`
	b.do("scroll to the slider", chromedp.ScrollIntoView(group, chromedp.ByQuery), chromedp.Sleep(300*time.Millisecond))
	first := b.screenshot(group, "slider-first")
	b.do("move the slider", chromedp.Focus(slider, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	b.waitFor("the slider at 1", 5*time.Second, `document.querySelector('`+slider+`').getAttribute('aria-valuetext').includes(' 1 of ')`)
	b.do("let it draw", chromedp.Sleep(300*time.Millisecond))
	second := b.screenshot(group, "slider-second")
	if share := changedShare(t, first, second); share < 0.001 {
		t.Errorf("the frame did not change: %.4f %% of the pixels differ", 100*share)
	}
	b.do("play", chromedp.Click(group+` button`, chromedp.ByQuery))
	b.waitFor("the slider to play on", 10*time.Second, `Number(document.querySelector('`+slider+`').value) >= 2`)
	b.screenshot("", "slider-played")
	b.do("scroll to the top", chromedp.Evaluate(`document.querySelector('.jp-Cell').scrollIntoView()`, nil), chromedp.Sleep(300*time.Millisecond))
	b.screenshot("", "lab")

	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the lesson was changed on disk: %v", err)
	}
}

// countPictures returns how many outputs of a lesson are pictures and sliders.
func countPictures(t *testing.T, path string) (pictures, frames int) {
	nb, err := jupyter.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			if _, ok := o.Data["image/png"]; ok {
				pictures++
			}
			if html, _ := o.Data["text/html"].(string); strings.Contains(html, `role="group"`) {
				frames++
			}
		}
	}
	return pictures, frames
}

// startLab runs `lessons lab` away from the user's own Jupyter and returns the
// address that it prints. At the end it is told to stop, as by Ctrl-C, and must
// leave nothing behind.
func startLab(t *testing.T, root string) string {
	bin, tmp, jup := filepath.Join(t.TempDir(), "lessons"), t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	setting := func(plugin string, values map[string]any) {
		file := filepath.Join(jup, "config", "lab", "user-settings", "@jupyterlab", plugin+".jupyterlab-settings")
		text, err := json.Marshal(values)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(file), 0o755)
		}
		if err == nil {
			err = os.WriteFile(file, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	setting("docmanager-extension/plugin", map[string]any{"autosave": false}) // the test leaves the lesson as it is
	setting("apputils-extension/notification", map[string]any{"fetchNews": "false", "checkForUpdates": false})

	cmd := exec.Command(bin, "lab", "-no-browser", "-own", "-port", "9123", e2eLesson)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "JUPYTER_CONFIG_DIR="+filepath.Join(jup, "config"),
		"JUPYTER_DATA_DIR="+filepath.Join(jup, "data"), "JUPYTER_RUNTIME_DIR="+filepath.Join(jup, "runtime"))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			t.Errorf("lessons lab, told to end: %v", err)
		}
		kill.Stop()
		if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
			t.Errorf("the lab left %v", left)
		}
		if out, err := exec.Command("pgrep", "-f", tmp).Output(); err == nil {
			t.Errorf("the lab left processes: %s", out)
		}
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if url := strings.TrimSpace(lines.Text()); strings.HasPrefix(url, "http") {
			go func() {
				for lines.Scan() {
				}
			}()
			return url
		}
	}
	t.Fatal("lessons lab printed no address")
	return ""
}

type browser struct {
	t    *testing.T
	ctx  context.Context
	shot string // directory
}

func startBrowser(t *testing.T) *browser {
	shot := os.Getenv("LESSONS_SCREENSHOTS")
	if shot == "" {
		shot = filepath.Join(os.TempDir(), "lessons-screenshots") // stays, to be looked at
	}
	if err := os.MkdirAll(shot, 0o755); err != nil {
		t.Fatal(err)
	}
	profile := t.TempDir()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.Flag("headless", "new"), chromedp.UserDataDir(profile), chromedp.WindowSize(1400, 1000),
		// Containers have no user namespaces and no graphics card, CI no network.
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(cancel)
	return &browser{t, ctx, shot}
}

func (b *browser) do(what string, actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.screenshot("", "failed")
		b.t.Fatalf("%s: %v", what, err)
	}
}

// waitFor waits until a JavaScript condition holds.
func (b *browser) waitFor(what string, patience time.Duration, condition string) {
	b.t.Helper()
	start := time.Now()
	for {
		var ok bool
		if err := chromedp.Run(b.ctx, chromedp.Evaluate("Boolean("+condition+")", &ok)); err != nil {
			b.t.Fatalf("waiting for %s: %v", what, err)
		}
		if ok {
			return
		}
		if time.Since(start) > patience {
			b.screenshot("", "failed")
			b.t.Fatalf("waited %v for %s; see %s", patience, what, filepath.Join(b.shot, "failed.png"))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (b *browser) text(expression string) string {
	b.t.Helper()
	var s string
	b.do("evaluate", chromedp.Evaluate(expression, &s))
	return s
}

// menu chooses an item of JupyterLab's menu bar with the mouse.
func (b *browser) menu(name, item string) {
	b.t.Helper()
	b.click("lm-MenuBar-itemLabel", name)
	b.click("lm-Menu-itemLabel", item)
}

// click moves the mouse to the label with a text and clicks: menus take a click
// only where the mouse has been seen before.
func (b *browser) click(class, text string) {
	b.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('.%s')].find(e => e.textContent === %q && e.offsetWidth > 0)`, class, text)
	b.waitFor(text, 10*time.Second, find)
	var at struct{ X, Y float64 }
	b.do("find "+text, chromedp.Evaluate(`(r => ({x: r.x + r.width / 2, y: r.y + r.height / 2}))(`+find+`.getBoundingClientRect())`, &at))
	b.do("click "+text, chromedp.MouseEvent(input.MouseMoved, at.X, at.Y), chromedp.MouseClickXY(at.X, at.Y))
}

// screenshot keeps a picture of an element, or of the whole window for "".
func (b *browser) screenshot(selector, name string) image.Image {
	b.t.Helper()
	var data []byte
	action := chromedp.CaptureScreenshot(&data)
	if selector != "" {
		action = chromedp.Screenshot(selector, &data, chromedp.ByQuery)
	}
	if err := chromedp.Run(b.ctx, action); err != nil {
		b.t.Errorf("screenshot of %s: %v", selector, err)
		return image.NewGray(image.Rect(0, 0, 1, 1))
	}
	path := filepath.Join(b.shot, name+".png")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.t.Log("screenshot", path)
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	return img
}

// changedShare is the share of pixels that differ in the upper part of two
// screenshots of a slider: the picture, without the bar below.
func changedShare(t *testing.T, a, b image.Image) float64 {
	t.Helper()
	if a.Bounds() != b.Bounds() {
		t.Fatalf("screenshots of %v and %v", a.Bounds(), b.Bounds())
	}
	box := a.Bounds()
	box.Max.Y -= box.Dy() / 5
	differ := 0
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				differ++
			}
		}
	}
	return float64(differ) / float64(box.Dx()*box.Dy())
}
