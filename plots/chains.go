package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chains draws the values of one quantity along several Markov chains, a thin line
// in its own colour for each. Chains that agree lie on top of each other; a chain
// that is stuck, or still on its way, stands apart.
type Chains struct{ Draws [][]float64 }

// NewChains returns the traces of draws, chains × draws.
func NewChains(draws [][]float64) (*Chains, error) {
	copied, err := copyRuns("chains", draws)
	return &Chains{copied}, err
}

func copyRuns(mark string, runs [][]float64) ([][]float64, error) {
	t, err := NewTrace(runs...)
	switch e := err.(type) {
	case nil:
		return t.Runs, nil
	case *DataError:
		e.Mark = mark
		return nil, e
	}
	return nil, fmt.Errorf("plots: %s: %w", mark, ErrNoData)
}

func chainStyle(k int) draw.LineStyle { return draw.LineStyle{Color: Color(k), Width: 0.6} }

// Plot implements plot.Plotter.
func (m *Chains) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for k, run := range m.Draws {
		pts := make([]vg.Point, len(run))
		for i, v := range run {
			pts[i] = vg.Point{X: x(float64(i)), Y: y(v)}
		}
		c.StrokeLines(chainStyle(k), c.ClipLinesXY(pts)...)
	}
}

// DataRange implements plot.DataRanger.
func (m *Chains) DataRange() (xmin, xmax, ymin, ymax float64) {
	return (&Trace{Runs: m.Draws}).DataRange()
}

// Legend returns an entry per chain.
func (m *Chains) Legend() []Entry { return chainEntries(len(m.Draws)) }

func chainEntries(n int) []Entry {
	var es []Entry
	for k := range n {
		es = append(es, Entry{fmt.Sprintf("chain %d", k), lineThumb{draw.LineStyle{Color: Color(k), Width: 2}}})
	}
	return es
}

// Alt returns, for example, "two chains of 500 draws, with means −0.1 and 3.2".
func (m *Chains) Alt() string {
	means := make([]string, len(m.Draws))
	for k, run := range m.Draws {
		sum := 0.0
		for _, v := range run {
			sum += v / float64(len(run))
		}
		means[k] = num(sum)
	}
	noun := "means"
	if len(means) == 1 {
		noun = "mean"
	}
	return fmt.Sprintf("%s of %s, with %s %s", count(len(m.Draws), "chain"), count(len(m.Draws[0]), "draw"), noun, list(means))
}

// Ranks draws, for each of several Markov chains, how often its draws have low,
// middle and high ranks among the draws of all chains. When the chains agree every
// line stays near the dashed one; a chain that is too high climbs, one that
// varies too little has a hump (Vehtari et al. 2021, §5).
type Ranks struct {
	Counts [][]float64 // chains × bins
	Even   float64     // the count of each bin if all chains agreed
	Max    float64     // the number of draws in all chains
}

// NewRanks returns the rank plot of draws, chains × draws, in the given number of bins.
// Equal draws share their mean rank.
func NewRanks(draws [][]float64, bins int) (*Ranks, error) {
	const mark = "ranks"
	runs, err := copyRuns(mark, draws)
	if err != nil {
		return nil, err
	}
	if bins < 1 {
		return nil, &ShapeError{mark, fmt.Sprintf("%d bins; at least one is needed", bins)}
	}
	var all []float64
	for _, run := range runs {
		all = append(all, run...)
	}
	slices.Sort(all)
	m := &Ranks{Even: float64(len(runs[0])) / float64(bins), Max: float64(len(all))}
	for _, run := range runs {
		counts := make([]float64, bins)
		for _, v := range run {
			lo, _ := slices.BinarySearch(all, v)
			hi, _ := slices.BinarySearchFunc(all, v, func(a, v float64) int {
				if a <= v {
					return -1
				}
				return 1
			})
			rank := float64(lo+hi) / 2 // between 0 and len(all)
			counts[min(bins-1, int(rank/m.Max*float64(bins)))]++
		}
		m.Counts = append(m.Counts, counts)
	}
	return m, nil
}

// Plot implements plot.Plotter.
func (m *Ranks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(evenLine, x(0), y(m.Even), x(m.Max), y(m.Even))
	for k, counts := range m.Counts {
		var pts []vg.Point
		for b, v := range counts {
			left, right := m.Max*float64(b)/float64(len(counts)), m.Max*float64(b+1)/float64(len(counts))
			pts = append(pts, vg.Point{X: x(left), Y: y(v)}, vg.Point{X: x(right), Y: y(v)})
		}
		c.StrokeLines(Line(k), c.ClipLinesXY(pts)...)
	}
}

var evenLine = draw.LineStyle{Color: plotter.DefaultLineStyle.Color, Width: 0.8, Dashes: []vg.Length{2, 2}}

// DataRange implements plot.DataRanger.
func (m *Ranks) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, counts := range m.Counts {
		ymax = max(ymax, slices.Max(counts))
	}
	return 0, m.Max, 0, max(ymax, 2*m.Even)
}

// Legend returns an entry per chain.
func (m *Ranks) Legend() []Entry {
	es := chainEntries(len(m.Counts))
	for k := range es {
		es[k].Thumb = lineThumb{Line(k)}
	}
	return append(es, Entry{"even", lineThumb{evenLine}})
}

// Alt returns, for example, "rank counts of four chains in 20 bins, from 31 to 66
// where 50 would be even".
func (m *Ranks) Alt() string {
	lo, hi := math.Inf(1), 0.0
	for _, counts := range m.Counts {
		lo, hi = min(lo, slices.Min(counts)), max(hi, slices.Max(counts))
	}
	return fmt.Sprintf("rank counts of %s in %s, from %s to %s where %s would be even", count(len(m.Counts), "chain"), count(len(m.Counts[0]), "bin"), num(lo), num(hi), num(m.Even))
}

// Stems draws a value per lag as a vertical line from zero: an autocorrelation, or
// any other function of whole numbers from 0 on.
type Stems struct{ Values []float64 }

// NewStems returns stems of heights v at 0, 1, 2, ….
func NewStems(v []float64) (*Stems, error) {
	runs, err := copyRuns("stems", [][]float64{v})
	if err != nil {
		return nil, err
	}
	return &Stems{runs[0]}, nil
}

// Plot implements plot.Plotter.
func (m *Stems) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	zero := draw.LineStyle{Color: plotter.DefaultLineStyle.Color, Width: 0.5}
	c.StrokeLine2(zero, x(p.X.Min), y(0), x(p.X.Max), y(0))
	for i, v := range m.Values {
		stem := []vg.Point{{X: x(float64(i)), Y: y(0)}, {X: x(float64(i)), Y: y(v)}}
		c.StrokeLines(draw.LineStyle{Color: Color(0), Width: 2}, c.ClipLinesXY(stem)...)
	}
}

// DataRange implements plot.DataRanger.
func (m *Stems) DataRange() (xmin, xmax, ymin, ymax float64) {
	lo, hi := plotter.Range(plotter.Values(m.Values))
	return 0, float64(len(m.Values) - 1), min(0, lo), max(0, hi)
}

// Alt returns, for example, "stems at 0 to 40, from 1 to −0.02, 0.79 at 1".
func (m *Stems) Alt() string {
	n := len(m.Values) - 1
	s := fmt.Sprintf("stems at 0 to %d, from %s to %s", n, num(m.Values[0]), num(m.Values[n]))
	if n > 1 {
		s += fmt.Sprintf(", %s at 1", num(m.Values[1]))
	}
	return s
}
