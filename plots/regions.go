package plots

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An Assigner gives each row of x, n×2, a label from 0, or −1 for none. It must not
// keep x.
type Assigner interface {
	Assign(x mat.Matrix) []int
}

// AssignFunc makes a function of one point an Assigner.
type AssignFunc func(x []float64) int

// Assign returns f of each row of x.
func (f AssignFunc) Assign(x mat.Matrix) []int {
	n, d := x.Dims()
	labels, row := make([]int, n), make([]float64, d)
	for i := range labels {
		labels[i] = f(mat.Row(row, i, x))
	}
	return labels
}

// Regions draws which label each point of a box of the plane has: light colours
// with lines between them. Add them before the points.
type Regions struct {
	Box

	// Color returns the colour of a label, by default [Light].
	Color func(label int) color.NRGBA

	draw.LineStyle // of the boundaries

	labels []int // at the nodes of a grid, row by row from the bottom left
}

// The grid of labels is about as fine as the pixels. The labels of every
// regionStep-th node are looked at first and those between only where they differ.
const (
	regionStep = 4
	regionNX   = 120*regionStep + 1
	regionNY   = 75*regionStep + 1
)

// NewRegions asks a for the labels of a grid of 481×301 points of b, most of them
// inferred from their neighbours: about 15,000 points are asked for. A region that
// is narrower than a hundredth of the box can be missed.
func NewRegions(a Assigner, b Box) (*Regions, error) {
	const mark = "regions"
	if a == nil {
		return nil, noData(mark)
	}
	if err := b.check(mark); err != nil {
		return nil, err
	}
	r := &Regions{
		Box:       b,
		Color:     Light,
		LineStyle: draw.LineStyle{Color: axisGrey, Width: 1},
		labels:    make([]int, regionNX*regionNY),
	}

	var nodes []int
	for j := 0; j < regionNY; j += regionStep {
		for i := 0; i < regionNX; i += regionStep {
			nodes = append(nodes, j*regionNX+i)
		}
	}
	if err := r.ask(a, nodes); err != nil {
		return nil, err
	}
	nodes = nodes[:0]
	for j := 0; j < regionNY-1; j += regionStep {
		for i := 0; i < regionNX-1; i += regionStep {
			n := j*regionNX + i
			l := r.labels[n]
			same := l == r.labels[n+regionStep] && l == r.labels[n+regionStep*regionNX] && l == r.labels[n+regionStep*(regionNX+1)]
			for dj := range regionStep + 1 {
				for di := range regionStep + 1 {
					if m := n + dj*regionNX + di; same {
						r.labels[m] = l
					} else if di%regionStep != 0 || dj%regionStep != 0 {
						nodes = append(nodes, m)
					}
				}
			}
		}
	}
	if err := r.ask(a, nodes); err != nil {
		return nil, err
	}
	return r, nil
}

// ask sets the labels of the given nodes.
func (r *Regions) ask(a Assigner, nodes []int) error {
	if len(nodes) == 0 {
		return nil
	}
	x := mat.NewDense(len(nodes), 2, nil)
	for row, n := range nodes {
		u, v := float64(n%regionNX)/(regionNX-1), float64(n/regionNX)/(regionNY-1)
		x.Set(row, 0, r.XMin+u*(r.XMax-r.XMin))
		x.Set(row, 1, r.YMin+v*(r.YMax-r.YMin))
	}
	labels := a.Assign(x)
	if len(labels) != len(nodes) {
		return &ShapeError{"regions", fmt.Sprintf("Assign returned %d labels for %d rows", len(labels), len(nodes))}
	}
	for row, n := range nodes {
		if labels[row] < -1 {
			return &ShapeError{"regions", fmt.Sprintf("the label at %s is %d; labels count from 0, and −1 is none",
				point(x.At(row, 0), x.At(row, 1)), labels[row])}
		}
		r.labels[n] = labels[row]
	}
	return nil
}

// Plot implements plot.Plotter.
func (r *Regions) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	rect := vg.Rectangle{
		Min: vg.Point{X: x(r.XMin), Y: y(r.YMin)},
		Max: vg.Point{X: x(r.XMax), Y: y(r.YMax)},
	}
	labels := slices.Sorted(maps.Keys(r.shares()))
	colours := map[int]color.NRGBA{}
	for _, l := range labels {
		colours[l] = r.Color(l)
	}
	drawField(c, rect, func(u, v float64) color.NRGBA {
		i, j := int(math.Round(u*(regionNX-1))), int(math.Round(v*(regionNY-1)))
		return colours[r.labels[j*regionNX+i]]
	})
	for _, l := range labels {
		lines := contours(regionNX, regionNY, func(i, j int) float64 {
			if r.labels[j*regionNX+i] == l {
				return 1
			}
			return 0
		}, 0.5)
		strokeContours(c, p, r.Box, regionNX, regionNY, lines, r.LineStyle)
	}
}

// shares returns the number of nodes with each label.
func (r *Regions) shares() map[int]int {
	n := map[int]int{}
	for _, l := range r.labels {
		n[l]++
	}
	return n
}

// Alt returns, for example, "plane divided into two regions of 35 and 65 % of the
// area".
func (r *Regions) Alt() string {
	shares := r.shares()
	var percent []string
	for _, l := range slices.Sorted(maps.Keys(shares)) {
		percent = append(percent, strconv.Itoa(int(math.Round(100*float64(shares[l])/float64(len(r.labels))))))
	}
	s := "plane divided into " + count(len(percent), "region")
	if len(percent) <= 10 {
		s += " of " + list(percent) + " % of the area"
	}
	return s
}
