package jupyter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Report tells of differences, line by line, and stores the pictures among
// them in a directory as name-cell3-want.png and name-cell3-got.png.
func Report(diffs []Diff, dir, name string) (string, error) {
	var b strings.Builder
	for _, d := range diffs {
		fmt.Fprintf(&b, "%v\n", d)
		for suffix, data := range map[string][]byte{"want": d.Want, "got": d.Got} {
			if data == nil {
				continue
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return "", err
			}
			what := ""
			if d.What != "picture" {
				what = "-" + strings.ReplaceAll(strings.ReplaceAll(d.What, "/", "-"), " ", "-")
			}
			path := filepath.Join(dir, fmt.Sprintf("%s-cell%d%s-%s.png", name, d.Cell, what, suffix))
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return "", err
			}
			if suffix == "got" {
				fmt.Fprintf(&b, "  see %s\n", path)
			}
		}
	}
	return b.String(), nil
}
