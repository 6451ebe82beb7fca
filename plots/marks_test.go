package plots

import (
	"errors"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

var (
	_ = []plot.Plotter{&Clusters{}, &Centres{}, &Ellipse{}, Ellipses{}, &Density{}, &Regions{}, &Mixture1D{}, &Trace{}, &Images{}}
	_ = []plot.DataRanger{&Clusters{}, &Centres{}, &Ellipse{}, Ellipses{}, &Density{}, &Regions{}, &Mixture1D{}, &Trace{}, &Images{}}
	_ = []Describer{&Clusters{}, &Centres{}, &Ellipse{}, Ellipses{}, &Density{}, &Regions{}, &Mixture1D{}, &Trace{}, &Images{}}
	_ = []plot.Thumbnailer{&Clusters{}, &Centres{}, &Ellipse{}, Ellipses{}, &Density{}, &Mixture1D{}, &Trace{}}
)

func drop[T any](_ T, err error) error { return err }

// TestRefused lists what constructors must refuse and what the error must say.
func TestRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	bad := mat.NewDense(3, 2, []float64{1, 2, 3, nan, 5, 6})
	thin := mat.NewDense(3, 1, nil)
	eye := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	box := Box{0, 1, 0, 1}
	flat := LogProbFunc(func([]float64) float64 { return 0 })
	zero := AssignFunc(func([]float64) int { return 0 })

	dataErr := func(row, col int) func(error) bool {
		return func(err error) bool {
			var e *DataError
			return errors.As(err, &e) && e.Row == row && e.Col == col && strings.Contains(err.Error(), "row")
		}
	}
	shapeErr := func(err error) bool { var e *ShapeError; return errors.As(err, &e) }
	valueErr := func(err error) bool { var e *ValueError; return errors.As(err, &e) }
	none := func(err error) bool { return errors.Is(err, ErrNoData) }

	for name, c := range map[string]struct {
		err  error
		want func(error) bool
	}{
		"clusters: NaN":               {drop(NewClusters(bad, nil)), dataErr(1, 1)},
		"clusters: nil":               {drop(NewClusters(nil, nil)), none},
		"clusters: empty":             {drop(NewClusters(&mat.Dense{}, nil)), none},
		"clusters: one column":        {drop(NewClusters(thin, nil)), shapeErr},
		"clusters: labels":            {drop(NewClusters(x, []int{0, 1})), shapeErr},
		"clusters: label −2":          {drop(NewClusters(x, []int{0, -2, 1})), shapeErr},
		"soft: NaN":                   {drop(NewSoftClusters(x, bad)), dataErr(1, 1)},
		"soft: rows":                  {drop(NewSoftClusters(x, mat.NewDense(2, 2, []float64{1, 0, 1, 0}))), shapeErr},
		"soft: negative":              {drop(NewSoftClusters(x, mat.NewDense(3, 1, []float64{1, -1, 1}))), shapeErr},
		"soft: zero":                  {drop(NewSoftClusters(x, mat.NewDense(3, 1, []float64{1, 0, 1}))), shapeErr},
		"soft: nil":                   {drop(NewSoftClusters(x, nil)), none},
		"centres: NaN":                {drop(NewCentres(bad)), dataErr(1, 1)},
		"centres: nil":                {drop(NewCentres(nil)), none},
		"ellipse: NaN mean":           {drop(NewEllipse([]float64{1, nan}, eye)), dataErr(1, 0)},
		"ellipse: NaN cov":            {drop(NewEllipse([]float64{1, 1}, mat.NewDense(2, 2, []float64{1, 0, inf, 1}))), dataErr(1, 0)},
		"ellipse: indefinite":         {drop(NewEllipse([]float64{1, 1}, mat.NewSymDense(2, []float64{1, 2, 2, 1}))), shapeErr},
		"ellipse: negative":           {drop(NewEllipse([]float64{1, 1}, mat.NewSymDense(2, []float64{-1, 0, 0, 1}))), shapeErr},
		"ellipse: three":              {drop(NewEllipse([]float64{1, 1, 1}, eye)), shapeErr},
		"ellipses: covs":              {drop(NewEllipses(x, []*mat.SymDense{eye, eye})), shapeErr},
		"ellipses: bad cov":           {drop(NewEllipses(x, []*mat.SymDense{mat.NewSymDense(2, []float64{1, 2, 2, 1})})), shapeErr},
		"density: NaN":                {drop(NewDensity(LogProbFunc(func(x []float64) float64 { return math.Log(x[0] - 0.5) }), box)), valueErr},
		"density: +Inf":               {drop(NewDensity(LogProbFunc(func(x []float64) float64 { return inf }), box)), valueErr},
		"density: zero":               {drop(NewDensity(LogProbFunc(func(x []float64) float64 { return -inf }), box)), shapeErr},
		"density: nil":                {drop(NewDensity(nil, box)), none},
		"density: box":                {drop(NewDensity(flat, Box{1, 1, 0, 1})), shapeErr},
		"regions: box":                {drop(NewRegions(zero, Box{0, nan, 0, 1})), shapeErr},
		"regions: label":              {drop(NewRegions(AssignFunc(func([]float64) int { return -2 }), box)), shapeErr},
		"regions: nil":                {drop(NewRegions(nil, box)), none},
		"regions: count":              {drop(NewRegions(tooFew{}, box)), shapeErr},
		"mixture: empty":              {drop(NewMixture1D(nil, Normals(nil, nil), 0, 1)), none},
		"mixture: NaN weight":         {drop(NewMixture1D([]float64{1, nan}, Normals([]float64{0, 0}, []float64{1, 1}), 0, 1)), dataErr(1, 0)},
		"mixture: range":              {drop(NewMixture1D([]float64{1}, Normals([]float64{0}, []float64{1}), 1, 0)), shapeErr},
		"mixture: sd 0":               {drop(NewMixture1D([]float64{1}, Normals([]float64{0}, []float64{0}), 0, 1)), valueErr},
		"mixture: negative component": {drop(NewMixture1D([]float64{-1}, Normals([]float64{0}, []float64{1}), 0, 1)), valueErr},
		"trace: none":                 {drop(NewTrace()), none},
		"trace: empty run":            {drop(NewTrace([]float64{1}, nil)), none},
		"trace: −Inf":                 {drop(NewTrace([]float64{1}, []float64{0, -inf})), dataErr(1, 1)},
		"images: NaN":                 {drop(NewImages(bad, 2, 1)), dataErr(1, 1)},
		"images: width":               {drop(NewImages(x, 2, 2)), shapeErr},
		"images: size 0":              {drop(NewImages(x, 0, 2)), shapeErr},
		"images: nil":                 {drop(NewImages(nil, 1, 1)), none},
		"images: empty":               {drop(NewImages(&mat.Dense{}, 1, 1)), none},
		"pictures: none":              {drop(NewPictures()), none},
		"pictures: empty":             {drop(NewPictures(image.NewGray(image.Rect(0, 0, 0, 3)))), none},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", name)
		} else if !c.want(c.err) || !strings.Contains(c.err.Error(), "plots: ") {
			t.Errorf("%s: %T: %v", name, c.err, c.err)
		}
	}

	m, err := NewMixture1D([]float64{1}, Normals([]float64{0}, []float64{1}), -1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Histogram([]float64{1, nan}, 3); !dataErr(1, 0)(err) {
		t.Errorf("histogram with NaN: %v", err)
	}
	if err := m.Histogram([]float64{1}, 0); !shapeErr(err) {
		t.Errorf("histogram without bins: %v", err)
	}
}

type tooFew struct{}

func (tooFew) Assign(mat.Matrix) []int { return []int{0} }

// TestCopied checks that a mark keeps nothing of its input.
func TestCopied(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	labels := []int{0, 1}
	run := []float64{1, 2}
	c, _ := NewClusters(x, labels)
	tr, _ := NewTrace(run)
	im, _ := NewImages(x, 2, 1)
	x.Set(0, 0, 99)
	labels[0], run[0] = 9, 9
	if c.Points[0].X != 1 || c.Labels[0] != 0 || tr.Runs[0][0] != 1 || im.values[0][0] != 1 {
		t.Error("a mark changes when its input does")
	}
}

// TestEllipse checks the contour's defining equation and that its box is tight.
func TestEllipse(t *testing.T) {
	for _, cov := range [][3]float64{{2, 1, 1}, {1, 0, 4}, {0.5, -0.6, 0.8}, {1, 1, 1}, {0, 0, 2}} {
		e, err := NewEllipse([]float64{3, -1}, mat.NewSymDense(2, []float64{cov[0], cov[1], cov[1], cov[2]}))
		if err != nil {
			t.Fatal(err)
		}
		e.SD = 1.5
		xmin, xmax, ymin, ymax := plotter.XYRange(e.points())
		a, b, c, d := e.DataRange()
		// 120 points come within 1 − cos(π/120) = 3e-4 radii of the extremes.
		for i, v := range [][2]float64{{xmin, a}, {xmax, b}, {ymin, c}, {ymax, d}} {
			if math.Abs(v[0]-v[1]) > 4e-4*e.SD*2 {
				t.Errorf("Σ = %v: side %d of the box is %v, the points reach %v", cov, i, v[1], v[0])
			}
		}
		det := cov[0]*cov[2] - cov[1]*cov[1]
		if det == 0 {
			continue
		}
		for _, p := range e.points() {
			dx, dy := p.X-3, p.Y+1
			q := (cov[2]*dx*dx - 2*cov[1]*dx*dy + cov[0]*dy*dy) / det
			if math.Abs(q-e.SD*e.SD) > 1e-9 {
				t.Errorf("Σ = %v: (x−μ)ᵀΣ⁻¹(x−μ) = %v at (%v, %v), want %v", cov, q, p.X, p.Y, e.SD*e.SD)
			}
		}
	}
	if got := MassSD(0.95); math.Abs(got-2.447746830680816) > 1e-12 { // √ of the χ²₂ quantile, R: sqrt(qchisq(.95, 2))
		t.Errorf("MassSD(0.95) = %v", got)
	}
}

// TestDensityLevels uses that the smallest region with mass m of a Gaussian in two
// dimensions ends where the density is 1−m of its maximum.
func TestDensityLevels(t *testing.T) {
	d, err := NewDensity(LogProbFunc(func(x []float64) float64 {
		return 7 - (x[0]*x[0]-x[0]*x[1]+x[1]*x[1])/1.5
	}), Box{-6, 6, -6, 6})
	if err != nil {
		t.Fatal(err)
	}
	d.Mass = []float64{0.1, 0.5, 0.8, 0.95}
	for i, l := range d.levels() {
		// The grid has one node per 0.01 square units, which holds at most
		// 0.01·√3/(4π) = 0.0014 of the mass, and by symmetry up to four nodes are equal.
		if got, want := math.Exp(l), 1-d.Mass[i]; math.Abs(got-want) > 0.0056 {
			t.Errorf("mass %v ends at %.4f of the maximum, want %.4f", d.Mass[i], got, want)
		}
	}
	if d.peak != [2]float64{0, 0} {
		t.Errorf("peak at %v", d.peak)
	}
	if got := d.at(0.5, 0.5); got != 1 {
		t.Errorf("relative density at the peak is %v", got)
	}
}

// TestContours checks a circle, which is closed, and a line, which is not.
func TestContours(t *testing.T) {
	const n = 41
	circle := contours(n, n, func(i, j int) float64 { return math.Hypot(float64(i)-20, float64(j)-20) }, 12)
	if len(circle) != 1 || circle[0][0] != circle[0][len(circle[0])-1] {
		t.Fatalf("a circle has %d contours, or one that is not closed", len(circle))
	}
	for _, p := range circle[0] {
		// Linear interpolation of the radius between nodes 1 apart: h²/8r.
		if r := math.Hypot(float64(p.X)-20, float64(p.Y)-20); math.Abs(r-12) > 1.0/8/12 {
			t.Errorf("point at radius %v, want 12", r)
		}
	}
	line := contours(n, n, func(i, j int) float64 { return float64(i + 2*j) }, 30.5)
	if len(line) != 1 {
		t.Fatalf("a line has %d contours", len(line))
	}
	ends := []float64{float64(line[0][0].Y), float64(line[0][len(line[0])-1].Y)}
	slices.Sort(ends)
	if ends[0] != 0 || ends[1] != 15.25 {
		t.Errorf("the line ends at y = %v, want 0 and 15.25", ends)
	}
	// Two hills that touch in a saddle: the middle decides.
	saddle := func(mid float64) int {
		v := [][]float64{{0, 0, 0, 0}, {0, 1, mid, 0}, {0, mid, 1, 0}, {0, 0, 0, 0}}
		return len(contours(4, 4, func(i, j int) float64 { return v[j][i] }, 0.5))
	}
	if a, b := saddle(0.4), saddle(-0.9); a != 1 || b != 2 {
		t.Errorf("hills over a high pass have %d contours, want 1; over a low pass %d, want 2", a, b)
	}
	if none := contours(n, n, func(i, j int) float64 { return 1 }, 2); len(none) != 0 {
		t.Errorf("a plain has %d contours", len(none))
	}
}

// TestRegionsInferred compares the labels inferred from their neighbours with those
// of every node, and counts how many were asked for.
func TestRegionsInferred(t *testing.T) {
	asked := 0
	label := func(x []float64) int {
		asked++
		switch {
		case x[1] < 0.3*math.Sin(3*x[0]):
			return 0
		case math.Hypot(x[0]-1, x[1]-1) < 0.4:
			return 2
		}
		return 1
	}
	r, err := NewRegions(AssignFunc(label), Box{-2, 3, -2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if asked > 20_000 {
		t.Errorf("asked for %d of %d labels", asked, len(r.labels))
	}
	for n, got := range r.labels {
		u, v := float64(n%regionNX)/(regionNX-1), float64(n/regionNX)/(regionNY-1)
		x := []float64{-2 + u*5, -2 + v*5}
		if want := label(x); got != want {
			t.Fatalf("node at %v has label %d, want %d", x, got, want)
		}
	}
}

func TestMixture1D(t *testing.T) {
	m, err := NewMixture1D([]float64{0.3, 0.7}, Normals([]float64{-2, 3}, []float64{0.5, 1}), -8, 12)
	if err != nil {
		t.Fatal(err)
	}
	area := 0.0
	for i := 1; i < len(m.total); i++ {
		area += (m.total[i].X - m.total[i-1].X) * (m.total[i].Y + m.total[i-1].Y) / 2
	}
	if math.Abs(area-1) > 1e-6 { // the trapezoidal rule is all but exact for Gaussians
		t.Errorf("the density integrates to %v", area)
	}
	if want := "mixture of two components with weights 0.3 and 0.7, peaks of 0.239 at −2 and 0.279 at 3"; m.Alt() != want {
		t.Errorf("Alt = %q, want %q", m.Alt(), want)
	}
	if err := m.Histogram([]float64{-2, -2, 3, 3, 3}, 5); err != nil {
		t.Fatal(err)
	}
	area = 0
	for _, b := range m.hist {
		area += b.Weight * (b.Max - b.Min)
	}
	if math.Abs(area-1) > 1e-12 {
		t.Errorf("the histogram has area %v", area)
	}
}

func TestTraceBest(t *testing.T) {
	tr, err := NewTrace([]float64{5, 3}, []float64{1, 9}, []float64{2, 9, 9}, []float64{7})
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.Best(); got != 1 {
		t.Errorf("highest end: run %d, want 1", got)
	}
	tr.Lower = true
	if got := tr.Best(); got != 0 {
		t.Errorf("lowest end: run %d, want 0", got)
	}
	tr.First = 1
	if xmin, xmax, ymin, ymax := tr.DataRange(); xmin != 1 || xmax != 3 || ymin != 1 || ymax != 9 {
		t.Errorf("range %v to %v, %v to %v", xmin, xmax, ymin, ymax)
	}
}

// TestImagePixels checks that image pixels come out sharp, in their place and with
// the exact grey.
func TestImagePixels(t *testing.T) {
	m, err := NewImages(mat.NewDense(2, 6, []float64{0, 1, 2, 3, 4, 10, 10, 4, 3, 2, 1, 0}), 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	m.Cols = 2
	f := Bare("")
	f.Add(m)
	img, err := f.Image()
	if err != nil {
		t.Fatal(err)
	}
	// Count the pixels of each grey: all image pixels have about the same area.
	count := map[uint8]int{}
	for _, v := range []float64{0, 1, 2, 3, 4, 10} {
		count[uint8(math.Round(25.5*v))] = 0
	}
	total := 0
	for i := 0; i < len(img.Pix); i += 4 {
		if _, ok := count[img.Pix[i]]; ok && img.Pix[i] == img.Pix[i+1] {
			count[img.Pix[i]]++
			total++
		}
	}
	for v, n := range count {
		if v == 255 {
			continue // also the background
		}
		if share := float64(n) / float64(total-count[255]); math.Abs(share-0.2) > 0.02 {
			t.Errorf("grey %d covers %.3f of the dark pixels, want 0.2", v, share)
		}
	}
	m.Colors = Viridis()
	m.Invert = true
	if got := m.colour(0); got != (color.NRGBA{253, 231, 37, 255}) {
		t.Errorf("inverted minimum in viridis is %v, want its last colour", got)
	}
	constant, _ := NewImages(mat.NewDense(1, 4, []float64{3, 3, 3, 3}), 2, 2)
	if got := constant.colour(3); got != (color.Gray{128}) {
		t.Errorf("a constant image is %v, want middle grey", got)
	}
}

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		n      int
		aspect float64
		want   int
	}{{1, 1, 1}, {3, 4.0 / 3, 3}, {10, 1, 5}, {100, 1, 10}, {16, 1, 4}, {7, 1, 4}, {2, 0.2, 2}} {
		if got := columns(c.n, c.aspect); got != c.want {
			t.Errorf("%d images of aspect %.2f: %d columns, want %d", c.n, c.aspect, got, c.want)
		}
	}
	if got := Columns(mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}), 2, 0); !mat.Equal(got, mat.NewDense(2, 2, []float64{3, 1, 6, 4})) {
		t.Errorf("Columns: %v", mat.Formatted(got))
	}
}

func TestSoftColours(t *testing.T) {
	x := mat.NewDense(3, 2, nil)
	c, err := NewSoftClusters(x, mat.NewDense(3, 2, []float64{1, 0, 0.2, 0.2, 0.25, 0.75}))
	if err != nil {
		t.Fatal(err)
	}
	a, b := Color(0), Color(1)
	for i, want := range []color.NRGBA{a, mix(a, b, 0.5), mix(a, b, 0.75)} {
		if c.colours[i] != want {
			t.Errorf("row %d is %v, want %v", i, c.colours[i], want)
		}
	}
	if !slices.Equal(c.Labels, []int{0, 0, 1}) {
		t.Errorf("labels %v", c.Labels)
	}
}

// A mean without a standard deviation would only show while drawing.
func TestNormalsOfDifferentLength(t *testing.T) {
	defer func() {
		if msg, _ := recover().(string); !strings.Contains(msg, "2 means and 1 standard deviations") {
			t.Errorf("got %q", msg)
		}
	}()
	Normals([]float64{0, 1}, []float64{1})
	t.Error("no panic")
}
