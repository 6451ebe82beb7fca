package coding

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm"
)

func TestNewGrid(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0.26, -7.9, 0.74, 5, 0.5, 0})
	g, err := NewGrid(x, 0.1, 2)
	if err != nil {
		t.Fatal(err)
	}
	// Multiples of 0.1 from 0.3 to 0.7; of 2 from −8 to 6.
	if g[0].Bins != 5 || math.Abs(g[0].First-0.3) > 1e-15 || g[1] != (Axis{-8, 2, 8}) {
		t.Errorf("grid %+v", g)
	}
	r, err := g.Round(x)
	if want := mat.NewDense(3, 2, []float64{0.3, -8, 0.7, 6, 0.5, 0}); err != nil || !mat.EqualApprox(r, want, 1e-15) {
		t.Errorf("rounded to %v, %v", mat.Formatted(r), err)
	}
	if want := math.Log2(5) + 3; math.Abs(g.Bits()-want) > 1e-15 {
		t.Errorf("%v bits, want %v", g.Bits(), want)
	}
	// Whole numbers come through unchanged.
	digits := datasets.Digits().X
	widths := make([]float64, 64)
	for j := range widths {
		widths[j] = 1
	}
	if g, err = NewGrid(digits, widths...); err != nil {
		t.Fatal(err)
	}
	if r, err = g.Round(digits); err != nil || !mat.Equal(r, digits) {
		t.Errorf("digits were changed, %v", err)
	}
}

// The grid of some data holds that data, with every value within half a bin of its
// centre: also where values lie halfway between centres, as decimals often do.
func TestGridHoldsItsData(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cases := [][]float64{{2.5, 5}, {-3, -0.5}, {0.25, 0.9}, {-0.35, -0.05}}
	for range 5000 {
		v := make([]float64, 2+rng.IntN(3))
		far := float64(rng.IntN(3)) * 1e6
		for i := range v {
			v[i] = far + float64(rng.IntN(2001)-1000)/100
		}
		cases = append(cases, v)
	}
	for _, v := range cases {
		for _, w := range []float64{1, 0.1, 0.3, 0.02} {
			x := mat.NewDense(len(v), 1, v)
			g, err := NewGrid(x, w)
			if err != nil {
				t.Fatal(err)
			}
			r, err := g.Round(x)
			if err != nil {
				t.Fatalf("%v by %v: %v", v, w, err)
			}
			for i := range v {
				if d := math.Abs(r.At(i, 0) - v[i]); d > w*(0.5+1e-6) {
					t.Errorf("%v by %v: %v became %v", v, w, v[i], r.At(i, 0))
				}
			}
			if span := (mat.Max(x) - mat.Min(x)) / w; float64(g[0].Bins) > span+2+1e-6 {
				t.Errorf("%v by %v: %d bins are too many", v, w, g[0].Bins)
			}
			if again, err := g.Round(r); err != nil || !mat.Equal(again, r) {
				t.Errorf("%v by %v: centres were moved, %v", v, w, err)
			}
		}
	}
}

func TestGridRefuses(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{0, 1, 2, 3})
	place := func(err error) [2]int {
		var data *lvm.DataError
		if !errors.As(err, &data) {
			return [2]int{-9, -9}
		}
		return [2]int{data.Row, data.Col}
	}
	for name, c := range map[string]struct {
		x     mat.Matrix
		width float64
		want  [2]int
	}{
		"NaN":           {mat.NewDense(2, 2, []float64{0, 1, math.NaN(), 3}), 1, [2]int{1, 0}},
		"width 0":       {x, 0, [2]int{-1, 1}},
		"width NaN":     {x, math.NaN(), [2]int{-1, 1}},
		"too many bins": {x, 1e-5, [2]int{-1, 1}},
		"too far out":   {mat.NewDense(1, 2, []float64{0, 1e300}), 1, [2]int{-1, 1}},
		"no rows":       {&mat.Dense{}, 1, [2]int{-1, -1}},
	} {
		if _, err := NewGrid(c.x, 1, c.width); place(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	var shape *lvm.ShapeError
	if _, err := NewGrid(x, 1); !errors.As(err, &shape) {
		t.Errorf("one width for two columns: %v", err)
	}

	good := Axis{0, 1, 4}
	for name, c := range map[string]struct {
		g    Grid
		want [2]int
	}{
		"beyond the end":     {Grid{good, {0, 1, 3}}, [2]int{1, 1}},
		"before the start":   {Grid{{0.6, 1, 4}, good}, [2]int{0, 0}},
		"no bins":            {Grid{good, {0, 1, 0}}, [2]int{-1, 1}},
		"bins without width": {Grid{{0, 0, 4}, good}, [2]int{-1, 0}},
		"lost beside First":  {Grid{{1e17, 1, 4}, good}, [2]int{-1, 0}},
		"infinite":           {Grid{{0, math.Inf(1), 4}, good}, [2]int{-1, 0}},
		"NaN":                {Grid{{math.NaN(), 1, 4}, good}, [2]int{-1, 0}},
		"too many bins":      {Grid{{0, 1, MaxBins + 1}, good}, [2]int{-1, 0}},
	} {
		if _, err := c.g.Round(x); place(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Grid{good}).Round(x); !errors.As(err, &shape) {
		t.Errorf("one axis for two columns: %v", err)
	}
}
