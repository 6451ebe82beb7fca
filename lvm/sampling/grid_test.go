package sampling

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/latent-lessons/latent/lvm"
)

func box(d int, lower, upper float64) ([]float64, []float64) {
	lo, hi := make([]float64, d), make([]float64, d)
	for j := range d {
		lo[j], hi[j] = lower, upper
	}
	return lo, hi
}

// Both rules are exact for polynomials linear in each variable, on boxes of
// unequal sides.
func TestGridExact(t *testing.T) {
	for _, rule := range []Rule{Midpoint, Trapezoid} {
		for _, points := range []int{2, 3, 10} {
			g := &Grid{Lower: []float64{-1, 0, 2}, Upper: []float64{2, 0.5, 6}, Points: points, Rule: rule}
			got, err := g.Integrate(func(x []float64) float64 { return 3 + 2*x[0] - x[1]*x[2] + x[0]*x[1]*x[2] })
			// Volume 6; centre (½, ¼, 4); a multilinear function averages to its
			// value there.
			if want := 6.0 * (3 + 1 - 1 + 0.5); err != nil || math.Abs(got-want) > 1e-13*want {
				t.Errorf("rule %v, %d points: %v, want %v; %v", rule, points, got, want, err)
			}
		}
	}
}

// On smooth functions the errors are h²/24 ∫f″ and −h²/12 ∫f″ to leading order.
func TestGridOrder(t *testing.T) {
	want := math.E - 1
	for _, n := range []int{10, 20, 40} {
		h := 1 / float64(n)
		mid, _ := (&Grid{Lower: []float64{0}, Upper: []float64{1}, Points: n}).Integrate(func(x []float64) float64 { return math.Exp(x[0]) })
		trap, _ := (&Grid{Lower: []float64{0}, Upper: []float64{1}, Points: n + 1, Rule: Trapezoid}).Integrate(func(x []float64) float64 { return math.Exp(x[0]) })
		if e := (want - mid) / (h * h / 24 * want); math.Abs(e-1) > 0.01 {
			t.Errorf("midpoint, %d points: error %v times the theory's", n, e)
		}
		if e := (want - trap) / (-h * h / 12 * want); math.Abs(e-1) > 0.01 {
			t.Errorf("trapezoid, %d cells: error %v times the theory's", n, e)
		}
	}
}

// With the same number of points, the grid is ahead of random draws in one
// dimension and behind in eight.
func TestGridCurseOfDimensionality(t *testing.T) {
	errorOf := func(d, points int) (grid, random float64) {
		f := func(x []float64) float64 {
			p := 1.0
			for _, v := range x {
				p *= 4 * v * v * v // integral 1
			}
			return p
		}
		lo, hi := box(d, 0, 1)
		g := &Grid{Lower: lo, Upper: hi, Points: points}
		n, err := g.Len()
		if err != nil {
			t.Fatal(err)
		}
		sum, err := g.Integrate(f)
		if err != nil {
			t.Fatal(err)
		}
		return math.Abs(sum - 1), math.Sqrt((math.Pow(16.0/7, float64(d)) - 1) / float64(n))
	}
	if grid, random := errorOf(1, 4096); grid > random/1000 {
		t.Errorf("one dimension: grid %v, random %v", grid, random)
	}
	if grid, random := errorOf(8, 4); grid < random {
		t.Errorf("eight dimensions: grid %v, random %v", grid, random)
	}
}

func TestGridDensities(t *testing.T) {
	lo, hi := box(2, -9, 9)
	for _, rule := range []Rule{Midpoint, Trapezoid} {
		g := &Grid{Lower: lo, Upper: hi, Points: 100, Rule: rule}
		// Unnormalised, and far below what exp can hold. For a Gaussian that the
		// box contains both rules are accurate beyond any order.
		const rho = 0.6
		logp := func(x []float64) float64 {
			return -5000 - (x[0]*x[0]-2*rho*x[0]*x[1]+x[1]*x[1])/(2*(1-rho*rho))
		}
		logZ, err := g.LogIntegrate(logp)
		if want := -5000 + math.Log(2*math.Pi*math.Sqrt(1-rho*rho)); err != nil || math.Abs(logZ-want) > 1e-9 {
			t.Errorf("log Z = %v, want %v; %v", logZ, want, err)
		}
		cov, err := g.Expect(logp, func(x []float64) float64 { return x[0] * x[1] })
		if err != nil || math.Abs(cov-rho) > 1e-9 {
			t.Errorf("E[x0 x1] = %v, want %v; %v", cov, rho, err)
		}
	}
	g := &Grid{Lower: lo, Upper: hi, Points: 10}
	if logZ, err := g.LogIntegrate(func([]float64) float64 { return math.Inf(-1) }); err != nil || !math.IsInf(logZ, -1) {
		t.Errorf("no mass: log Z = %v, %v", logZ, err)
	}
}

func TestGridOrderOfPoints(t *testing.T) {
	g := &Grid{Lower: []float64{0, 10}, Upper: []float64{2, 13}, Points: 2, Rule: Trapezoid}
	var got string
	for x, w := range g.All() {
		got += fmt.Sprint(x, w, " ")
	}
	if want := "[0 10] 1.5 [0 13] 1.5 [2 10] 1.5 [2 13] 1.5 "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for range g.All() {
		break // leaving early must not panic
	}
}

func TestGridBadInput(t *testing.T) {
	one := func([]float64) float64 { return 1 }
	inf, nan := math.Inf(1), math.NaN()
	lo20, hi20 := box(20, 0, 1)
	for name, g := range map[string]*Grid{
		"no axes":     {Points: 3},
		"unequal":     {Lower: []float64{0, 0}, Upper: []float64{1}, Points: 3},
		"empty":       {Lower: []float64{1}, Upper: []float64{1}, Points: 3},
		"infinite":    {Lower: []float64{0}, Upper: []float64{inf}, Points: 3},
		"NaN":         {Lower: []float64{nan}, Upper: []float64{1}, Points: 3},
		"no points":   {Lower: []float64{0}, Upper: []float64{1}},
		"one corner":  {Lower: []float64{0}, Upper: []float64{1}, Points: 1, Rule: Trapezoid},
		"too many":    {Lower: lo20, Upper: hi20, Points: 10},
		"over limit":  {Lower: []float64{0}, Upper: []float64{1}, Points: 11, MaxPoints: 10},
		"overflowing": {Lower: lo20, Upper: hi20, Points: math.MaxInt / 2, MaxPoints: math.MaxInt},
	} {
		if v, err := g.Integrate(one); err == nil || v != 0 {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		for range g.All() {
			t.Errorf("%s has points", name)
			break
		}
	}
	g := &Grid{Lower: []float64{-1}, Upper: []float64{1}, Points: 3}
	var data *lvm.DataError
	var density *DensityError
	if _, err := g.Integrate(func(x []float64) float64 { return 1 / x[0] }); !errors.As(err, &data) || data.Row != 1 {
		t.Error(err)
	}
	if _, err := g.LogIntegrate(func([]float64) float64 { return nan }); !errors.As(err, &density) {
		t.Error(err)
	}
	if _, err := g.Expect(func([]float64) float64 { return -inf }, one); !errors.As(err, &data) {
		t.Error(err)
	}
	if _, err := g.Expect(one, func(x []float64) float64 { return 1 / x[0] }); !errors.As(err, &data) || data.Row != 1 {
		t.Error(err)
	}
}
