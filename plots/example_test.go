package plots_test

import (
	"fmt"
	"image"
	"image/color"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/plotter"

	"github.com/latent-lessons/latent/plots"
)

// eruptions returns 150 points like the eruptions of Old Faithful, how long they
// last and how long the wait for the next is, and which kind each is of.
func eruptions() (x *mat.Dense, labels []int) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := 150
	x, labels = mat.NewDense(n, 2, nil), make([]int, n)
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		if rng.Float64() < 0.36 {
			x.SetRow(i, []float64{2.04 + 0.26*a, 54.5 + 1.7*a + 5.5*b})
		} else {
			x.SetRow(i, []float64{4.29 + 0.41*a, 80 + 2.3*a + 5.5*b})
			labels[i] = 1
		}
	}
	return x, labels
}

var (
	means = mat.NewDense(2, 2, []float64{2.04, 54.5, 4.29, 80})
	covs  = []*mat.SymDense{
		mat.NewSymDense(2, []float64{0.0676, 0.442, 0.442, 33}),
		mat.NewSymDense(2, []float64{0.168, 0.943, 0.943, 35.5}),
	}
)

// logProb is the mixture density of the two kinds of eruption.
func logProb(x []float64) float64 {
	p := 0.0
	for k, w := range []float64{0.36, 0.64} {
		c := covs[k]
		dx, dy := x[0]-means.At(k, 0), x[1]-means.At(k, 1)
		det := c.At(0, 0)*c.At(1, 1) - c.At(0, 1)*c.At(0, 1)
		q := (c.At(1, 1)*dx*dx - 2*c.At(0, 1)*dx*dy + c.At(0, 0)*dy*dy) / det
		p += w * math.Exp(-q/2) / (2 * math.Pi * math.Sqrt(det))
	}
	return math.Log(p)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func save(p interface{ Save(string) error }, name string) {
	if err := p.Save("testdata/" + name + ".png"); err != nil {
		log.Fatal(err)
	}
}

func ExampleNewClusters() {
	x, labels := eruptions()
	f := plots.New("Two kinds of eruption", "duration (min)", "wait for the next (min)")
	f.Add(
		must(plots.NewClusters(x, labels)),
		must(plots.NewCentres(means)),
	)
	save(f, "clusters")
	fmt.Println(f.Alt())
	// Output:
	// Two kinds of eruption. Horizontal axis: duration (min), 1.5 to 5.15; vertical axis: wait for the next (min), 45.3 to 95.6. 150 points in two clusters of 46 and 104. Centres at (2.04, 54.5) and (4.29, 80).
}

func ExampleNewSoftClusters() {
	x, _ := eruptions()
	n, _ := x.Dims()
	posterior := mat.NewDense(n, 2, nil)
	for i := range n {
		p := 1 / (1 + math.Exp(2*(x.At(i, 0)-3.1)))
		posterior.SetRow(i, []float64{p, 1 - p})
	}
	f := plots.New("Between the clusters the colours mix", "duration (min)", "wait for the next (min)")
	points := must(plots.NewSoftClusters(x, posterior))
	f.Add(points)
	save(f, "soft")
	fmt.Println(points.Alt())
	// Output:
	// 150 points in two clusters of 46 and 104, colours mixed by posterior probability
}

func ExampleNewEllipses() {
	x, labels := eruptions()
	points := must(plots.NewClusters(x, labels))
	points.Names = []string{"short", "long"}
	ellipses := must(plots.NewEllipses(means, covs))
	ellipses.SetSD(plots.MassSD(0.95))
	f := plots.New("Each ellipse holds 95 % of its component", "duration (min)", "wait for the next (min)")
	f.Add(points, ellipses)
	save(f, "ellipses")
	fmt.Println(points.Alt())
	fmt.Println(ellipses.Alt())
	// Output:
	// 150 points in two clusters of short (46) and long (104)
	// two ellipses at 2.45 sd: around (2.04, 54.5), sd 0.26 and 5.74, correlation 0.296; around (4.29, 80), sd 0.41 and 5.96, correlation 0.386
}

func ExampleNewEllipse() {
	f := plots.New("Where 39 %, 86 % and 99 % of a correlated Gaussian lie", "x", "y")
	f.Equal = true
	cov := mat.NewSymDense(2, []float64{2, 1, 1, 1})
	for k, sd := range []float64{1, 2, 3} {
		e := must(plots.NewEllipse([]float64{1, -1}, cov))
		e.SD = sd
		e.LineStyle = plots.Line(k)
		f.AddAs(fmt.Sprintf("%g sd", sd), e)
		fmt.Println(e.Alt())
	}
	save(f, "ellipse")
	// Output:
	// ellipse at 1 sd around (1, −1), sd 1.41 and 1, correlation 0.707
	// ellipse at 2 sd around (1, −1), sd 1.41 and 1, correlation 0.707
	// ellipse at 3 sd around (1, −1), sd 1.41 and 1, correlation 0.707
}

func ExampleNewDensity() {
	x, labels := eruptions()
	f := plots.New("The density of the mixture and the data", "duration (min)", "wait for the next (min)")
	density := must(plots.NewDensity(plots.LogProbFunc(logProb), plots.Bounds(x)))
	f.Add(density, must(plots.NewClusters(x, labels)))
	save(f, "density")
	fmt.Println(density.Alt())
	// Output:
	// density with contours around 50, 80 and 95 % of the probability, highest at (4.3, 80.1)
}

func ExampleNewDensity_viridis() {
	x, _ := eruptions()
	d := must(plots.NewDensity(plots.LogProbFunc(logProb), plots.Bounds(x)))
	d.Colors = plots.Viridis()
	d.LineStyle.Color = color.White
	f := plots.New("The same density in viridis", "duration (min)", "wait for the next (min)")
	f.Add(d)
	save(f, "viridis")
	fmt.Println(d.Alt())
	// Output:
	// density with contours around 50, 80 and 95 % of the probability, highest at (4.3, 80.1)
}

func ExampleNewRegions() {
	centres := mat.NewDense(3, 2, []float64{0, 0, 3, 1, 1, 3})
	rng := rand.New(rand.NewPCG(3, 4))
	x := mat.NewDense(240, 2, nil)
	nearest := plots.AssignFunc(func(x []float64) int {
		best, d := 0, math.Inf(1)
		for k := range 3 {
			if dk := math.Hypot(x[0]-centres.At(k, 0), x[1]-centres.At(k, 1)); dk < d {
				best, d = k, dk
			}
		}
		return best
	})
	for i := range 240 {
		k := i % 3
		x.SetRow(i, []float64{centres.At(k, 0) + 0.7*rng.NormFloat64(), centres.At(k, 1) + 0.7*rng.NormFloat64()})
	}
	labels := nearest.Assign(x)
	f := plots.New("Every point belongs to the nearest centre", "x (cm)", "y (cm)")
	f.Equal = true
	regions := must(plots.NewRegions(nearest, plots.Bounds(x)))
	f.Add(
		regions,
		must(plots.NewClusters(x, labels)),
		must(plots.NewCentres(centres)),
	)
	save(f, "regions")
	fmt.Println(regions.Alt())
	// Output:
	// plane divided into three regions of 28, 36 and 36 % of the area
}

func ExampleNewMixture1D() {
	weights, mu, sd := []float64{0.3, 0.45, 0.25}, []float64{-2, 0.5, 3.5}, []float64{0.6, 1, 0.5}
	rng := rand.New(rand.NewPCG(5, 6))
	data := make([]float64, 400)
	for i := range data {
		k, u := 0, rng.Float64()
		for ; u > weights[k]; k++ {
			u -= weights[k]
		}
		data[i] = mu[k] + sd[k]*rng.NormFloat64()
	}
	m := must(plots.NewMixture1D(weights, plots.Normals(mu, sd), -5, 6))
	if err := m.Histogram(data, 30); err != nil {
		log.Fatal(err)
	}
	f := plots.New("Three Gaussians make one complicated density", "x", "density")
	f.Add(m)
	save(f, "mixture")
	fmt.Println(m.Alt())
	// Output:
	// mixture of three components with weights 0.3, 0.45 and 0.25, peaks of 0.208 at −1.98, 0.18 at 0.5 and 0.201 at 3.5; histogram of 400 values
}

func ExampleNewTrace() {
	var runs [][]float64
	for r := range 5 {
		run := make([]float64, 12+2*r)
		for i := range run {
			run[i] = -1130 - 35*float64(r*r%4) - 250*math.Exp(-float64(i)*(0.3+0.1*float64(r)))
		}
		runs = append(runs, run)
	}
	f := plots.New("Restarts end in different maxima", "iteration", "log-likelihood (nat)")
	trace := must(plots.NewTrace(runs...))
	f.Add(trace)
	save(f, "trace")
	fmt.Println(trace.Alt())
	// Output:
	// objective from −1380 to −1130 in 19 iterations; best of five runs, which end between −1166 and −1130
}

func ExampleNewImages() {
	x := mat.NewDense(10, 64, nil)
	names := make([]string, 10)
	for k := range 10 {
		names[k] = fmt.Sprintf("k = %d", k+1)
		for j := range 64 {
			r := math.Hypot(float64(j%8)-3.5, float64(j/8)-3.5)
			x.Set(k, j, 8*(1+math.Cos(r*float64(k+1)/2)))
		}
	}
	images := must(plots.NewImages(x, 8, 8))
	images.Captions = names
	images.Invert = true
	f := plots.Bare("Rings of 8×8 pixels")
	f.Add(images)
	save(f, "images")
	fmt.Println(images.Alt())
	// Output:
	// ten images of 8×8 pixels, values from 0.00171 to 16: k = 1, k = 2, k = 3, k = 4, k = 5, k = 6, k = 7, k = 8, k = 9 and k = 10
}

func ExampleNewPictures() {
	var pictures []image.Image
	for _, levels := range []int{2, 4, 256} {
		img := image.NewRGBA(image.Rect(0, 0, 120, 90))
		for y := range 90 {
			for x := range 120 {
				q := func(v int) uint8 { return uint8(v * levels / 256 * 255 / (levels - 1)) }
				img.SetRGBA(x, y, color.RGBA{q(2 * x), q(2 * y), q(255 - 2*x), 255})
			}
		}
		pictures = append(pictures, img)
	}
	m := must(plots.NewPictures(pictures...))
	m.Captions = []string{"8 colours", "64 colours", "all colours"}
	f := plots.Bare("Fewer levels per channel")
	f.Add(m)
	save(f, "pictures")
	fmt.Println(m.Alt())
	// Output:
	// three images of 120×90 pixels: 8 colours, 64 colours and all colours
}

func ExampleNewGrid() {
	x, _ := eruptions()
	var panels []*plots.Figure
	for i, split := range []float64{1.8, 2.4, 3.1, 3.1, 4.2} {
		a := plots.AssignFunc(func(x []float64) int {
			if x[0] < split {
				return 0
			}
			return 1
		})
		f := plots.New(fmt.Sprintf("iteration %d", i), "duration (min)", "wait (min)")
		f.Add(
			must(plots.NewRegions(a, plots.Bounds(x))),
			must(plots.NewClusters(x, a.Assign(x))),
			must(plots.NewCentres(mat.NewDense(2, 2, []float64{split - 0.5, 60, split + 0.7, 75}))),
		)
		panels = append(panels, f)
	}
	plots.ShareAxes(panels...)
	g := plots.NewGrid(3, panels...)
	g.Title = "A moving border between two clusters"
	save(g, "grid")
	fmt.Println(panels[4].Alt())
	// Output:
	// iteration 4. Horizontal axis: duration (min), 1.3 to 5.34; vertical axis: wait (min), 42.8 to 98.1. Plane divided into two regions of 72 and 28 % of the area. 150 points in two clusters of 81 and 69. Centres at (3.7, 60) and (4.9, 75).
}

func ExampleFigure_AddAs() {
	line := make(plotter.XYs, 60)
	noisy := make(plotter.XYs, 60)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range line {
		x := float64(i) / 10
		line[i] = plotter.XY{X: x, Y: math.Sin(x)}
		noisy[i] = plotter.XY{X: x, Y: math.Sin(x) + 0.2*rng.NormFloat64()}
	}
	l := must(plotter.NewLine(line))
	l.LineStyle = plots.Line(0)
	s := must(plotter.NewScatter(noisy))
	s.GlyphStyle = plots.Glyph(1)

	f := plots.New("gonum's own plotters mix with the marks", "time (s)", "voltage (mV)")
	f.AddAs("measured", s)
	f.AddAs("true", l)
	save(f, "gonum")
	fmt.Println(f.Alt())
	// Output:
	// gonum's own plotters mix with the marks. Horizontal axis: time (s), 0 to 5.9; vertical axis: voltage (mV), −1.54 to 1.23. Measured: 60 points, x from 0 to 5.9, y from −1.54 to 1.23. True: line of 60 points from (0, 0) to (5.9, −0.374), lowest −1 at 4.7, highest 1 at 1.6.
}

func ExampleLine() {
	f := plots.New("Eight categories differ in colour, shape and dashes", "x", "category")
	for k := range 8 {
		row := make(plotter.XYs, 9)
		for i := range row {
			row[i] = plotter.XY{X: float64(i), Y: float64(k)}
		}
		line := must(plotter.NewLine(row))
		line.LineStyle = plots.Line(k)
		points := must(plotter.NewScatter(row))
		points.GlyphStyle = plots.Glyph(k)
		points.Radius = 4
		f.Add(points)
		f.AddAs(fmt.Sprintf("category %d", k), line)
	}
	save(f, "categories")
	fmt.Println(plots.Color(0), plots.Color(1))
	// Output:
	// {0 114 178 255} {213 94 0 255}
}
