package sampling

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Summary is a table of what draws say about each quantity and how far to
// trust it. Print it with String, or show its Markdown.
type Summary struct {
	Rows   []SummaryRow
	Chains int // chains, each of Draws draws
	Draws  int
}

// SummaryRow summarises the draws of one quantity.
type SummaryRow struct {
	Name    string
	Mean    float64
	MCSE    float64 // Monte Carlo standard error of the mean
	SD      float64 // standard deviation
	Median  float64
	MAD     float64 // 1.4826 times the median of |x − median|
	Q5, Q95 float64 // 5% and 95% quantiles
	ESSBulk float64
	ESSTail float64
	RHat    float64
}

// Summarise summarises draws, quantities × chains × draws, with a name for
// each; nil names them x[0], x[1], …. [Columns] makes draws of chains over
// vectors, [Extract] of a function of the state:
//
//	s := sampling.Summarise([]string{"mu", "tau"}, sampling.Columns(chains))
//
// A quantity with a NaN among its draws has NaN everywhere. Definitions and
// defaults are those of summarise_draws in R's posterior, with the Monte
// Carlo standard error of the mean besides.
//
// Cost: O(S) per quantity for S draws in all that mix well, on all cores.
func Summarise(names []string, draws [][][]float64) Summary {
	if names == nil {
		for j := range draws {
			names = append(names, fmt.Sprintf("x[%d]", j))
		}
	}
	if len(names) != len(draws) {
		panic(fmt.Sprintf("sampling: Summarise with %d names for %d quantities", len(names), len(draws)))
	}
	s := Summary{Rows: make([]SummaryRow, len(draws))}
	if len(draws) > 0 {
		s.Chains = len(draws[0])
		if s.Chains > 0 {
			s.Draws = len(draws[0][0])
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(draws)) {
		wg.Go(func() {
			var a analysis
			for {
				j := int(next.Add(1)) - 1
				if j >= len(draws) {
					return
				}
				a.reset(draws[j])
				s.Rows[j] = a.row(names[j])
			}
		})
	}
	wg.Wait()
	return s
}

func (a *analysis) row(name string) SummaryRow {
	r := SummaryRow{Name: name}
	if len(a.x) == 0 || a.hasNaN() {
		nan := math.NaN()
		r.Mean, r.MCSE, r.SD, r.Median, r.MAD, r.Q5, r.Q95 = nan, nan, nan, nan, nan, nan, nan
		r.ESSBulk, r.ESSTail, r.RHat = nan, nan, nan
		return r
	}
	a.sort()
	r.Mean, r.SD = a.moments()
	r.Median, r.Q5, r.Q95 = quantile(a.sorted, 0.5), quantile(a.sorted, 0.05), quantile(a.sorted, 0.95)
	r.MAD = math.NaN()
	if r.Median-r.Median == 0 {
		folded, _ := a.fold()
		r.MAD = 1.4826 * quantile(folded, 0.5)
	}
	r.MCSE = r.SD / math.Sqrt(a.essMean())
	r.RHat, r.ESSBulk, r.ESSTail = a.rhat(), a.essBulk(), a.essTail()
	return r
}

// Problems returns a sentence for each quantity whose draws should not be
// trusted yet: R̂ of 1.01 or more, or an effective sample size below 100 per
// chain (Vehtari et al. 2021).
func (s Summary) Problems() []string {
	var problems []string
	need := 100 * float64(s.Chains)
	for _, r := range s.Rows {
		switch {
		case math.IsNaN(r.RHat):
			problems = append(problems, fmt.Sprintf("%s: R̂ is not defined; its draws are constant, too few or not numbers", r.Name))
		case r.RHat >= 1.01:
			problems = append(problems, fmt.Sprintf("%s: R̂ = %.3f; the chains have not mixed, run them longer", r.Name, r.RHat))
		case !(min(r.ESSBulk, r.ESSTail) >= need):
			problems = append(problems, fmt.Sprintf("%s: %.0f effective draws in the bulk and %.0f in the tail; %.0f are needed", r.Name, r.ESSBulk, r.ESSTail, need))
		}
	}
	return problems
}

var summaryHeader = []string{"", "mean", "mcse", "sd", "median", "mad", "q5", "q95", "ess bulk", "ess tail", "R̂"}

func (r SummaryRow) cells() []string {
	cells := []string{r.Name}
	for _, v := range []float64{r.Mean, r.MCSE, r.SD, r.Median, r.MAD, r.Q5, r.Q95} {
		cells = append(cells, fmt.Sprintf("%.3g", v))
	}
	return append(cells, fmt.Sprintf("%.0f", r.ESSBulk), fmt.Sprintf("%.0f", r.ESSTail), fmt.Sprintf("%.3f", r.RHat))
}

// String returns the table as aligned text.
func (s Summary) String() string {
	table := [][]string{summaryHeader}
	for _, r := range s.Rows {
		table = append(table, r.cells())
	}
	widths := make([]int, len(summaryHeader))
	for _, row := range table {
		for j, c := range row {
			widths[j] = max(widths[j], width(c))
		}
	}
	var b strings.Builder
	for _, row := range table {
		for j, c := range row {
			pad := strings.Repeat(" ", widths[j]-width(c))
			if j == 0 {
				b.WriteString(c + pad)
			} else {
				b.WriteString("  " + pad + c)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// width counts the characters that take up room: the hat of R̂ does not.
func width(s string) int {
	return utf8.RuneCountInString(s) - strings.Count(s, "\u0302")
}

// Markdown returns the table in Markdown.
func (s Summary) Markdown() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(summaryHeader)
	b.WriteString("|:--" + strings.Repeat("|--:", len(summaryHeader)-1) + "|\n")
	for _, r := range s.Rows {
		c := r.cells()
		c[0] = strings.ReplaceAll(c[0], "|", `\|`)
		line(c)
	}
	return b.String()
}
