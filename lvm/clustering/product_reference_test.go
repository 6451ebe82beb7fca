package clustering_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

// groupMeans returns the share and the means of each group of rows.
func groupMeans(x *mat.Dense, z []int, k int) ([]float64, *mat.Dense) {
	n, d := x.Dims()
	weights, means := make([]float64, k), mat.NewDense(k, d, nil)
	for i, c := range z {
		weights[c] += 1 / float64(n)
		for j := range d {
			means.Set(c, j, means.At(c, j)+x.At(i, j))
		}
	}
	for c, w := range weights {
		for j := range d {
			means.Set(c, j, means.At(c, j)/(w*float64(n)))
		}
	}
	return weights, means
}

// The inner pixels of 600 digits against flexmix (testdata/product.R), from the same
// start. It has no floor; with 1e-12 for one, six probabilities that it puts at 0
// or 1 cost the log-likelihood less than 1e-8.
func TestDigitsOfFlexmix(t *testing.T) {
	data := datasets.Digits()
	x, z := mat.NewDense(600, 16, nil), make([]int, 600)
	x.Apply(func(i, j int, _ float64) float64 {
		if data.X.At(i, 8*(2+j/4)+2+j%4) > 7 {
			return 1
		}
		return 0
	}, x)
	for i := range z {
		z[i] = data.Labels[i] % 3
	}
	weights, probs := groupMeans(x, z, 3)
	m, trace, err := clustering.FitBernoulliMixture(nil, x, 3, &clustering.BernoulliOptions{
		Options: lvm.Options{MaxIter: 10000, Tol: 1e-15}, Floor: 1e-12, Start: &clustering.BernoulliMixture{Weights: weights, Probs: probs}})
	if err != nil || trace.Err() != nil {
		t.Fatal(err, trace.Err())
	}
	for name, v := range map[string][2]float64{
		"log-likelihood": {trace.Final(), -5753.161125574},
		"BIC":            {m.BIC(x), 11826.168734},
		"AIC":            {m.AIC(x), 11606.322251},
	} {
		if math.Abs(v[0]-v[1]) > 1e-6 {
			t.Errorf("%s %.9f, want %v", name, v[0], v[1])
		}
	}
	// flexmix stops where a parameter still moves in its sixth digit
	for c, want := range []float64{0.2929638201, 0.1088664770, 0.5981697028} {
		if math.Abs(m.Weights[c]-want) > 1e-5 {
			t.Errorf("weight %d is %.9f, want %v", c, m.Weights[c], want)
		}
	}
	for _, v := range []struct {
		c, j int
		want float64
	}{{0, 0, 0.6125747825}, {1, 1, 0.3364252612}, {2, 0, 0.6297063739}, {0, 15, 0.8479741519}, {1, 15, 0.8909774192}, {2, 15, 0.4506692329}} {
		if got := m.Probs.At(v.c, v.j); math.Abs(got-v.want) > 1e-5 {
			t.Errorf("θ of component %d, pixel %d is %.9f, want %v", v.c, v.j, got, v.want)
		}
	}
}

// Iris in millimetres, which are whole, against flexmix from the species.
func TestIrisOfFlexmix(t *testing.T) {
	data := datasets.Iris()
	x := mat.DenseCopyOf(data.X)
	x.Apply(func(_, _ int, v float64) float64 { return math.Round(10 * v) }, x)
	weights, rates := groupMeans(x, data.Labels, 3)
	m, trace, err := clustering.FitPoissonMixture(nil, x, 3, &clustering.PoissonOptions{
		Options: lvm.Options{MaxIter: 10000, Tol: 1e-15}, Start: &clustering.PoissonMixture{Weights: weights, Rates: rates}})
	if err != nil || trace.Err() != nil {
		t.Fatal(err, trace.Err())
	}
	for name, v := range map[string][2]float64{
		"log-likelihood": {trace.Final(), -1799.110025928},
		"BIC":            {m.BIC(x), 3668.368946},
		"AIC":            {m.AIC(x), 3626.220052},
	} {
		if math.Abs(v[0]-v[1]) > 1e-6 {
			t.Errorf("%s %.9f, want %v", name, v[0], v[1])
		}
	}
	want := mat.NewDense(3, 4, []float64{
		50.06000002, 34.27999881, 14.62000180, 2.460000829,
		58.74654530, 27.29096794, 43.11534087, 13.664867351,
		66.64992094, 30.20675767, 55.24478977, 19.980158402})
	if !mat.EqualApprox(m.Rates, want, 1e-4) {
		t.Errorf("rates\n%.6f\nwant\n%.6f", mat.Formatted(m.Rates), mat.Formatted(want))
	}
}

// Deaths of women over eighty per day in The Times 1910–1912, with days as row
// weights: data of Hasselblad (1969), with the maximum that Lange (1995), A
// quasi-Newton acceleration of the EM algorithm, gives.
func TestDeathsOfHasselblad(t *testing.T) {
	counts := mat.NewDense(10, 1, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	days := []float64{162, 267, 271, 185, 111, 61, 27, 8, 3, 1}
	start := &clustering.PoissonMixture{Weights: []float64{0.3, 0.7}, Rates: mat.NewDense(2, 1, []float64{1, 2.5})}
	m, trace, err := clustering.FitPoissonMixture(nil, counts, 2, &clustering.PoissonOptions{
		Options: lvm.Options{MaxIter: 20000, Tol: 1e-14}, Start: start, Weights: days})
	if err != nil || trace.Err() != nil {
		t.Fatal(err, trace.Err())
	}
	for name, v := range map[string][3]float64{
		"log-likelihood": {trace.Final(), -1989.946, 5e-4},
		"share":          {m.Weights[0], 0.3599, 5e-5},
		"first rate":     {m.Rates.At(0, 0), 1.256, 5e-4},
		"second rate":    {m.Rates.At(1, 0), 2.663, 5e-4},
	} {
		if math.Abs(v[0]-v[1]) > v[2] {
			t.Errorf("%s %.6f, want %v", name, v[0], v[1])
		}
	}
}
