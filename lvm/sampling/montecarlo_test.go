package sampling

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// The standard error is right: over many repetitions the estimates scatter
// by it, and it falls as n^(−1/2).
func TestExpectStandardError(t *testing.T) {
	rng := newRand(1)
	square := func(x float64) float64 { return x * x } // variance 2 under N(0, 1)
	for _, n := range []int{100, 400, 1600} {
		const repeats = 2000
		var z2, stdErr float64
		for range repeats {
			e, err := Expect(Draws(rng, n, (*rand.Rand).NormFloat64), square)
			if err != nil {
				t.Fatal(err)
			}
			z2 += (e.Value - 1) * (e.Value - 1) * float64(n) / 2 / repeats
			stdErr += e.StdErr / repeats
		}
		// z² has mean 1 and variance 2 + 12·4/n, the excess kurtosis of x².
		if tol := 4 * math.Sqrt((2+48/float64(n))/repeats); math.Abs(z2-1) > tol {
			t.Errorf("n = %d: mean z² = %v", n, z2)
		}
		// StdErr has a downward bias of about (kurtosis 15 − 1)/8n.
		if want := math.Sqrt(2 / float64(n)); math.Abs(stdErr/want-1) > 14/(8*float64(n))+0.02 {
			t.Errorf("n = %d: mean standard error %v, want %v", n, stdErr, want)
		}
	}
}

// The mean of N Cauchy draws is as wide as one draw: its interquartile range
// is 2 for every N (notes 003, A10).
func TestCauchyMeanDoesNotConverge(t *testing.T) {
	iqr := func(draw func(*rand.Rand) float64, n int) float64 {
		rng, means := newRand(uint64(n)), make([]float64, 4000)
		for i := range means {
			e, err := Expect(Draws(rng, n, draw), func(x float64) float64 { return x })
			if err != nil {
				t.Fatal(err)
			}
			means[i] = e.Value
		}
		slices.Sort(means)
		return quantile(means, 0.75) - quantile(means, 0.25)
	}
	for _, n := range []int{1, 10, 1000} {
		// A quartile of 4000 has standard error √(3/16/4000)/p = 0.043, with
		// density p = 1/2π there; the range about √(4/3) times that.
		if got := iqr(Cauchy{Scale: 1}.Draw, n); math.Abs(got-2) > 0.2 {
			t.Errorf("n = %d: interquartile range %v, want 2", n, got)
		}
		// The control: for the Laplace distribution it shrinks.
		if got := iqr(Laplace{Scale: 1}.Draw, n); n > 1 && math.Abs(got*math.Sqrt(float64(n))-1.349*math.Sqrt2) > 0.3 {
			t.Errorf("n = %d: Laplace means have interquartile range %v", n, got)
		}
	}
}

func TestExpectVecAndMat(t *testing.T) {
	target := correlated()
	rng := newRand(2)
	draws := Draws(rng, 40_000, target.draw)
	d := len(draws[0])
	mean, se, err := ExpectVec(draws, func(x []float64) []float64 { return x })
	if err != nil {
		t.Fatal(err)
	}
	second, seSecond, err := ExpectMat(draws, func(x []float64) mat.Matrix {
		v := mat.NewVecDense(d, x)
		var outer mat.Dense
		outer.Outer(1, v, v)
		return &outer
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range d {
		one, err := Expect(draws, func(x []float64) float64 { return x[i] })
		if err != nil || one.Value != mean[i] || one.StdErr != se[i] {
			t.Errorf("coordinate %d: %v alone, %v ± %v as a vector; %v", i, one, mean[i], se[i], err)
		}
		for j := range d {
			one, _ := Expect(draws, func(x []float64) float64 { return x[i] * x[j] })
			if one.Value != second.At(i, j) || one.StdErr != seSecond.At(i, j) {
				t.Errorf("x%d x%d: %v alone, %v ± %v as a matrix", i, j, one, second.At(i, j), seSecond.At(i, j))
			}
		}
	}
}

func TestExpectAccuracy(t *testing.T) {
	// A mean far from zero: sums of squares would lose the variance.
	draws := []float64{1e9, 1e9 + 1, 1e9 + 2}
	e, _ := Expect(draws, func(x float64) float64 { return x })
	if e.Value != 1e9+1 || math.Abs(e.StdErr-1/math.Sqrt(3)) > 1e-12 {
		t.Errorf("%+v", e)
	}
	if e, err := Expect(draws[:1], func(x float64) float64 { return x }); err != nil || e.Value != 1e9 || !math.IsNaN(e.StdErr) {
		t.Errorf("one draw: %+v, %v", e, err)
	}
	if got := RunningMean([]float64{1, 3, 8}); !slices.Equal(got, []float64{1, 2, 4}) {
		t.Errorf("running means %v", got)
	}
}

func TestExpectBadInput(t *testing.T) {
	var data *lvm.DataError
	var shape *lvm.ShapeError
	bad := []float64{0, 0, math.NaN()}
	if _, err := Expect(bad, func(x float64) float64 { return x }); !errors.As(err, &data) || data.Row != 2 {
		t.Error(err)
	}
	if _, _, err := ExpectVec(bad, func(x float64) []float64 { return []float64{0, 1 / x} }); !errors.As(err, &data) || data.Row != 0 || data.Col != 1 {
		t.Error(err)
	}
	if _, err := Expect([]float64{}, math.Abs); !errors.As(err, &data) {
		t.Error(err)
	}
	if _, _, err := ExpectVec([]float64{}, func(float64) []float64 { return nil }); !errors.As(err, &data) {
		t.Error(err)
	}
	if _, _, err := ExpectMat([]float64{}, func(float64) mat.Matrix { return nil }); !errors.As(err, &data) {
		t.Error(err)
	}
	if _, _, err := ExpectVec([]int{1, 2}, func(n int) []float64 { return make([]float64, n) }); !errors.As(err, &shape) || shape.Got != 2 {
		t.Error(err)
	}
	if _, _, err := ExpectMat([]int{1, 2}, func(n int) mat.Matrix { return mat.NewDense(n, 1, nil) }); !errors.As(err, &shape) || shape.Got != 2 {
		t.Error(err)
	}
}
