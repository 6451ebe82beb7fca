package show

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table shows rows of cells under a header. Columns of numbers are right-aligned, and
// the floating-point numbers of a column have the same number of decimals: two, or as
// many as show four digits of the largest, or none if all are whole. Text cells may hold Markdown; to format a number
// otherwise, pass it as a string.
func Table(header []string, rows ...[]any) { Markdown(table(header, rows)) }

// table returns a table in Markdown whose source is aligned too.
func table(header []string, rows [][]any) string {
	cells := make([][]string, len(rows))
	for i, row := range rows {
		if len(row) != len(header) {
			panic(fmt.Sprintf("show: row %d of the table has %d cells, the header %d", i, len(row), len(header)))
		}
		cells[i] = make([]string, len(row))
	}
	head, rule := make([]string, len(header)), make([]string, len(header))
	for j, h := range header {
		numbers := format(rows, cells, j)
		head[j] = escape(h)
		width := max(utf8.RuneCountInString(head[j]), 3)
		for i := range cells {
			width = max(width, utf8.RuneCountInString(cells[i][j]))
		}
		rule[j] = strings.Repeat("-", width)
		if numbers {
			rule[j] = rule[j][1:] + ":"
		}
		head[j] = pad(head[j], width, numbers)
		for i := range cells {
			cells[i][j] = pad(cells[i][j], width, numbers)
		}
	}
	lines := []string{line(head), line(rule)}
	for _, row := range cells {
		lines = append(lines, line(row))
	}
	return strings.Join(lines, "\n")
}

// format fills column j of cells and reports whether it holds only numbers.
func format(rows [][]any, cells [][]string, j int) (numbers bool) {
	numbers = len(rows) > 0
	largest, smallest, whole := 0.0, math.Inf(1), true
	for _, row := range rows {
		if v, ok := float(row[j]); ok && !math.IsInf(v, 0) && !math.IsNaN(v) && v != 0 {
			largest, smallest = max(largest, math.Abs(v)), min(smallest, math.Abs(v))
			whole = whole && v == math.Trunc(v)
		}
	}
	decimals := 0
	if !whole {
		decimals = min(max(3-int(math.Floor(math.Log10(largest))), 2), 6)
	}
	for i, row := range rows {
		switch v, ok := float(row[j]); {
		case ok && (largest >= 1e7 || smallest < math.Pow(10, float64(-decimals))):
			cells[i][j] = strconv.FormatFloat(v, 'g', 4, 64)
		case ok:
			cells[i][j] = strconv.FormatFloat(v, 'f', decimals, 64)
		default:
			cells[i][j] = escape(fmt.Sprint(row[j]))
			switch row[j].(type) {
			case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
			default:
				numbers = false
			}
		}
	}
	return numbers
}

func float(cell any) (v float64, ok bool) {
	switch v := cell.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	}
	return 0, false
}

// escape keeps a cell on its line and in its column.
func escape(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

func pad(s string, width int, right bool) string {
	space := strings.Repeat(" ", width-utf8.RuneCountInString(s))
	if right {
		return space + s
	}
	return s + space
}

func line(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }
