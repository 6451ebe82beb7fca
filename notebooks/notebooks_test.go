package notebooks

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lessons returns the paths of all lessons.
func lessons(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".ipynb" {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no lessons found")
	}
	return found
}

// TestChapters asks for the test that executes the lessons of each folder.
func TestChapters(t *testing.T) {
	for _, path := range lessons(t) {
		test := filepath.Join(filepath.Dir(path), "lessons_test.go")
		if code, err := os.ReadFile(test); err != nil || !bytes.Contains(code, []byte("lessontest.Chapter(t)")) {
			t.Errorf("nothing executes %s: put lessontest.Chapter into %s", path, test)
		}
	}
}
