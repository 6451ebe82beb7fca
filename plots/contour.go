package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// contours returns the lines on which a function, given at the nodes of a grid
// with nx columns and ny rows, crosses a level, by marching squares: in each cell
// the points where its edges are crossed are joined. The points are in units of the
// grid and interpolated linearly. The order of the lines depends on nothing but the
// values, unlike with gonum's Contour, so pictures come out the same every time.
func contours(nx, ny int, value func(i, j int) float64, level float64) [][]vg.Point {
	// Edge 2n leads right from node n, edge 2n+1 up. Each belongs to at most two
	// cells and so has at most two neighbours on the line, counted from 1.
	links := make([][2]int32, 2*nx*ny)
	join := func(a, b int) {
		for _, e := range [][2]int{{a, b}, {b, a}} {
			l := &links[e[0]]
			l[min(l[0], 1)] = int32(e[1] + 1)
		}
	}
	above := func(i, j int) bool { return value(i, j) > level }
	for j := range ny - 1 {
		for i := range nx - 1 {
			n := j*nx + i
			a, b, c, d := above(i, j), above(i+1, j), above(i+1, j+1), above(i, j+1)
			bottom, right, top, left := 2*n, 2*(n+1)+1, 2*(n+nx), 2*n+1
			var cut []int
			for _, e := range []struct {
				crossed bool
				edge    int
			}{{a != b, bottom}, {b != c, right}, {c != d, top}, {d != a, left}} {
				if e.crossed {
					cut = append(cut, e.edge)
				}
			}
			switch len(cut) {
			case 2:
				join(cut[0], cut[1])
			case 4: // a saddle: the middle decides which corners hang together
				mid := (value(i, j) + value(i+1, j) + value(i, j+1) + value(i+1, j+1)) / 4
				if (mid > level) == a {
					join(bottom, right)
					join(top, left)
				} else {
					join(left, bottom)
					join(right, top)
				}
			}
		}
	}

	where := func(edge int) vg.Point {
		i, j := edge/2%nx, edge/2/nx
		a, x, y := value(i, j), float64(i), float64(j)
		if edge%2 == 0 {
			x += (level - a) / (value(i+1, j) - a)
		} else {
			y += (level - a) / (value(i, j+1) - a)
		}
		return vg.Point{X: vg.Length(x), Y: vg.Length(y)}
	}
	var lines [][]vg.Point
	follow := func(start int) {
		line := []vg.Point{where(start)}
		prev, e := -1, start
		for {
			l := links[e]
			links[e] = [2]int32{}
			next := int(l[0]) - 1
			if next == prev || next < 0 {
				next = int(l[1]) - 1
			}
			if next < 0 {
				break
			}
			line = append(line, where(next))
			if next == start {
				break
			}
			prev, e = e, next
		}
		lines = append(lines, line)
	}
	for e, l := range links { // lines that end at the border
		if l[0] > 0 && l[1] == 0 {
			follow(e)
		}
	}
	for e, l := range links { // closed lines
		if l[0] > 0 && links[e][0] > 0 {
			follow(e)
		}
	}
	return lines
}

// strokeContours draws lines of contours of a grid that covers b.
func strokeContours(c draw.Canvas, p *plot.Plot, b Box, nx, ny int, lines [][]vg.Point, sty draw.LineStyle) {
	x, y := p.Transforms(&c)
	for _, line := range lines {
		pts := make([]vg.Point, len(line))
		for i, pt := range line {
			pts[i] = vg.Point{
				X: x(b.XMin + float64(pt.X)/float64(nx-1)*(b.XMax-b.XMin)),
				Y: y(b.YMin + float64(pt.Y)/float64(ny-1)*(b.YMax-b.YMin)),
			}
		}
		c.StrokeLines(sty, c.ClipLinesXY(pts)...)
	}
}
