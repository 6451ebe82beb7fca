package jupyter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Report tells of differences line by line and stores the pictures among them
// in a directory, as name-cell3-1-want.png and name-cell3-1-got.png.
func Report(diffs []Diff, dir, name string) (string, error) {
	var b strings.Builder
	for i, d := range diffs {
		fmt.Fprintf(&b, "%v\n", d)
		if d.Want == nil && d.Got == nil {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		base := filepath.Join(dir, fmt.Sprintf("%s-cell%d-%d", name, d.Cell, i+1))
		if d.Want != nil {
			if err := os.WriteFile(base+"-want.png", d.Want, 0o644); err != nil {
				return "", err
			}
		}
		if d.Got != nil {
			if err := os.WriteFile(base+"-got.png", d.Got, 0o644); err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "  see %s-got.png\n", base)
		}
	}
	return b.String(), nil
}
