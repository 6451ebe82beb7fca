package datasets_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/latent-lessons/latent/datasets"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// coins is the simplest mixture: a component z and x = z.
type coins struct{ surplus, offset int }

func (c coins) Sample(rng *rand.Rand, n int) ([]int, *mat.Dense) {
	z, x := make([]int, n+c.surplus), mat.NewDense(n, 1, nil)
	for i := range n {
		z[i] = rng.IntN(2) + c.offset
		x.Set(i, 0, float64(z[i]))
	}
	return z, x
}

var generators = map[string]func(rng *rand.Rand, n int) *datasets.Data{
	"TwoClusters":    datasets.TwoClusters,
	"Elongated":      datasets.Elongated,
	"ThreeGaussians": datasets.ThreeGaussians,
	"Blobs": func(rng *rand.Rand, n int) *datasets.Data {
		return datasets.Blobs(rng, n, 3, &datasets.BlobsOptions{Dim: 5, SD: 0.5, Box: 4})
	},
	"Rings":   func(rng *rand.Rand, n int) *datasets.Data { return datasets.Rings(rng, n, 3) },
	"Mixture": func(rng *rand.Rand, n int) *datasets.Data { return datasets.Mixture(rng, coins{}, n) },
}

// The documented order of the draws, replayed. FMA may change the last bit on
// other processors, hence the tolerance.
func TestDrawOrder(t *testing.T) {
	replays := map[string]func(rng *rand.Rand, n int) [][]float64{
		"TwoClusters": func(rng *rand.Rand, n int) (x [][]float64) {
			for i := range n {
				s := float64(2*(i%2) - 1)
				a, b := rng.NormFloat64(), rng.NormFloat64()
				x = append(x, []float64{2.5*s + a, 1.5*s + b})
			}
			return x
		},
		"Elongated": func(rng *rand.Rand, n int) (x [][]float64) {
			for i := range n {
				s := float64(2*(i%2) - 1)
				along, across := 1.5*rng.NormFloat64(), 0.2*rng.NormFloat64()
				x = append(x, []float64{s + (along-across)/math.Sqrt2, (along + across) / math.Sqrt2})
			}
			return x
		},
		"ThreeGaussians": func(rng *rand.Rand, n int) (x [][]float64) {
			for range n {
				u, a, b := rng.Float64(), rng.NormFloat64(), rng.NormFloat64()
				switch {
				case u < 0.4:
					x = append(x, []float64{a, 0.5*a + 0.8*b})
				case u < 0.75:
					x = append(x, []float64{3 + 0.6*a, 1.5 - 0.6*a + b})
				default:
					x = append(x, []float64{1 + 1.2*a, 3.5 + 0.5*b})
				}
			}
			return x
		},
		"Blobs": func(rng *rand.Rand, n int) (x [][]float64) {
			var centres [3][5]float64
			for c := range centres {
				for j := range centres[c] {
					centres[c][j] = 8*rng.Float64() - 4
				}
			}
			for i := range n {
				row := make([]float64, 5)
				for j := range row {
					row[j] = centres[i%3][j] + 0.5*rng.NormFloat64()
				}
				x = append(x, row)
			}
			return x
		},
		"Rings": func(rng *rand.Rand, n int) (x [][]float64) {
			for i := range n {
				angle, radius := 2*math.Pi*rng.Float64(), float64(i%3+1)+0.1*rng.NormFloat64()
				x = append(x, []float64{radius * math.Cos(angle), radius * math.Sin(angle)})
			}
			return x
		},
	}
	for name, replay := range replays {
		d := generators[name](seeded(7), 20)
		for i, want := range replay(seeded(7), 20) {
			if got := d.X.RawRowView(i); !closeTo(got, want, 1e-12) {
				t.Fatalf("%s: row %d is %v, want %v", name, i, got, want)
			}
		}
	}
}

func TestGeneratorsAreReproducible(t *testing.T) {
	for name, generate := range generators {
		a, b, other := generate(seeded(1), 50), generate(seeded(1), 50), generate(seeded(2), 50)
		valid(t, a)
		if !mat.Equal(a.X, b.X) || !slices.Equal(a.Labels, b.Labels) {
			t.Errorf("%s: the same seed gives other data", name)
		}
		if mat.Equal(a.X, other.X) {
			t.Errorf("%s: another seed gives the same data", name)
		}
		valid(t, generate(seeded(1), 1))
	}
}

func TestGeneratorsPanic(t *testing.T) {
	for name, generate := range generators {
		panics(t, "datasets: "+name+": rng is nil", func() { generate(nil, 5) })
		panics(t, "datasets: "+name+": n = 0, want at least 1", func() { generate(seeded(1), 0) })
	}
	panics(t, "datasets: Rings: k = 0", func() { datasets.Rings(seeded(1), 5, 0) })
	panics(t, "datasets: Blobs: k = 0, options {Dim:0 SD:0 Box:0}", func() { datasets.Blobs(seeded(1), 5, 0, nil) })
	panics(t, "datasets: Blobs: k = 2, options {Dim:0 SD:-1 Box:0}", func() {
		datasets.Blobs(seeded(1), 5, 2, &datasets.BlobsOptions{SD: -1})
	})
	panics(t, "datasets: Mixture: the sampler drew 7 labels and 5 rows, not 5", func() {
		datasets.Mixture(seeded(1), coins{surplus: 2}, 5)
	})
	panics(t, "datasets: Mixture: the sampler drew component -1", func() {
		datasets.Mixture(seeded(1), coins{offset: -1}, 20)
	})
}

func TestMixtureKeepsLabels(t *testing.T) {
	d := datasets.Mixture(seeded(3), coins{}, 100)
	for i, c := range d.Labels {
		if d.X.At(i, 0) != float64(c) {
			t.Fatalf("row %d is %v with label %d", i, d.X.At(i, 0), c)
		}
	}
	if len(d.Classes) != 2 {
		t.Errorf("%d classes, want 2", len(d.Classes))
	}
}

// Sample moments of each class against the documented parameters, within five
// standard errors: 60 comparisons, each wrong by chance once in two million.
func TestMoments(t *testing.T) {
	const n = 60000
	for _, test := range []struct {
		name  string
		share []float64 // exact for balanced classes
		mean  [][2]float64
		cov   [][3]float64 // xx, xy, yy
	}{
		{"TwoClusters", nil, [][2]float64{{-2.5, -1.5}, {2.5, 1.5}}, [][3]float64{{1, 0, 1}, {1, 0, 1}}},
		{"Elongated", nil, [][2]float64{{-1, 0}, {1, 0}}, [][3]float64{{1.145, 1.105, 1.145}, {1.145, 1.105, 1.145}}},
		{"ThreeGaussians", []float64{0.4, 0.35, 0.25}, [][2]float64{{0, 0}, {3, 1.5}, {1, 3.5}},
			[][3]float64{{1, 0.5, 0.89}, {0.36, -0.36, 1.36}, {1.44, 0, 0.25}}},
	} {
		d := generators[test.name](seeded(11), n)
		for c, size := range counts(d) {
			m := float64(size)
			if test.share == nil {
				if size != n/2 {
					t.Errorf("%s: class %d has %d rows, want %d", test.name, c, size, n/2)
				}
			} else if p := test.share[c]; math.Abs(m/n-p) > 5*math.Sqrt(p*(1-p)/n) {
				t.Errorf("%s: class %d has a share of %v, want %v", test.name, c, m/n, p)
			}
			var cols [2][]float64
			for i, label := range d.Labels {
				if label == c {
					cols[0], cols[1] = append(cols[0], d.X.At(i, 0)), append(cols[1], d.X.At(i, 1))
				}
			}
			xx, xy, yy := test.cov[c][0], test.cov[c][1], test.cov[c][2]
			for j, v := range []float64{xx, yy} {
				if got := stat.Mean(cols[j], nil); math.Abs(got-test.mean[c][j]) > 5*math.Sqrt(v/m) {
					t.Errorf("%s: class %d, column %d: mean %v, want %v", test.name, c, j, got, test.mean[c][j])
				}
				if got := stat.Variance(cols[j], nil); math.Abs(got-v) > 5*v*math.Sqrt(2/m) {
					t.Errorf("%s: class %d, column %d: variance %v, want %v", test.name, c, j, got, v)
				}
			}
			if got := stat.Covariance(cols[0], cols[1], nil); math.Abs(got-xy) > 5*math.Sqrt((xx*yy+xy*xy)/m) {
				t.Errorf("%s: class %d: covariance %v, want %v", test.name, c, got, xy)
			}
		}
	}
}

func TestRingsAreRound(t *testing.T) {
	d := datasets.Rings(seeded(5), 3000, 3)
	for c := range 3 {
		var radius, angle []float64
		for i, label := range d.Labels {
			if label == c {
				x, y := d.X.At(i, 0), d.X.At(i, 1)
				radius, angle = append(radius, math.Hypot(x, y)), append(angle, math.Atan2(y, x))
			}
		}
		m, s := stat.MeanStdDev(radius, nil)
		if math.Abs(m-float64(c+1)) > 5*0.1/math.Sqrt(1000) || math.Abs(s-0.1) > 5*0.1/math.Sqrt(2000) {
			t.Errorf("ring %d: radius %v, sd %v, want %d and 0.1", c, m, s, c+1)
		}
		// Kolmogorov's distance to the uniform angle exceeds 1.95/√n once in a thousand.
		slices.Sort(angle)
		for i, a := range angle {
			if gap := math.Abs(a/(2*math.Pi) + 0.5 - (float64(i)+0.5)/1000); gap > 1.95/math.Sqrt(1000) {
				t.Fatalf("ring %d: angles are not uniform, distance %v", c, gap)
			}
		}
	}
}

// lloyd runs k-means until no label changes, and counts the iterations that
// changed some.
func lloyd(x, centres *mat.Dense) (labels []int, inertia float64, iterations int) {
	n, d := x.Dims()
	k, _ := centres.Dims()
	labels = slices.Repeat([]int{-1}, n)
	for ; ; iterations++ {
		changed := false
		sum, count := mat.NewDense(k, d, nil), make([]float64, k)
		inertia = 0
		for i := range n {
			best, nearest := math.Inf(1), 0
			for c := range k {
				var dist float64
				for j, v := range x.RawRowView(i) {
					dist += (v - centres.At(c, j)) * (v - centres.At(c, j))
				}
				if dist < best {
					best, nearest = dist, c
				}
			}
			changed = changed || labels[i] != nearest
			labels[i] = nearest
			inertia += best
			count[nearest]++
			for j, v := range x.RawRowView(i) {
				sum.Set(nearest, j, sum.At(nearest, j)+v)
			}
		}
		if !changed {
			return labels, inertia, iterations
		}
		for c := range k {
			for j := range d {
				sum.Set(c, j, sum.At(c, j)/count[c])
			}
		}
		centres = sum
	}
}

// randomRows picks two different rows as centres.
func randomRows(rng *rand.Rand, x *mat.Dense) *mat.Dense {
	p := rng.Perm(x.RawMatrix().Rows)
	c := mat.NewDense(2, 2, nil)
	c.SetRow(0, x.RawRowView(p[0]))
	c.SetRow(1, x.RawRowView(p[1]))
	return c
}

// agreement is the share of equal labels, the better of the two namings.
func agreement(a, b []int) float64 {
	same := 0.0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	same /= float64(len(a))
	return max(same, 1-same)
}

// Fig. 2.2 of the notes shows three iterations.
func TestTwoClustersTakesThreeIterations(t *testing.T) {
	var iterations []float64
	for seed := range uint64(100) {
		rng := seeded(seed)
		d := datasets.TwoClusters(rng, 1500)
		labels, _, it := lloyd(d.X, randomRows(rng, d.X))
		iterations = append(iterations, float64(it))
		// Bayes' error is Φ(−|(2.5, 1.5)|) = 0.0018.
		if got := agreement(labels, d.Labels); got < 0.99 {
			t.Errorf("seed %d: k-means agrees with %.3f of the labels", seed, got)
		}
	}
	slices.Sort(iterations)
	if median, longest := iterations[50], iterations[99]; median != 3 || longest > 7 {
		t.Errorf("median of the iterations %v, largest %v; want 3 and at most 7", median, longest)
	}
}

// The claims of Elongated's comment, with TwoClusters above as the control on
// which the same k-means succeeds.
func TestElongatedDefeatsKMeans(t *testing.T) {
	for seed := range uint64(20) {
		rng := seeded(seed)
		d := datasets.Elongated(rng, 400)

		apart := make([]int, 400) // a line along the diagonal tells the clusters apart
		for i := range apart {
			if d.X.At(i, 0) > d.X.At(i, 1) {
				apart[i] = 1
			}
		}
		if got := agreement(apart, d.Labels); got < 0.995 { // Φ(−√2/2/0.2) = 0.0002 fall on the wrong side
			t.Errorf("seed %d: the diagonal agrees with %.3f of the labels", seed, got)
		}

		means := d.ClassMeans()
		var truth float64 // sum of squares of the true clusters
		for i, c := range d.Labels {
			for j, v := range d.X.RawRowView(i) {
				truth += (v - means.At(c, j)) * (v - means.At(c, j))
			}
		}

		best, optimum := math.Inf(1), []int(nil)
		for range 20 {
			if labels, inertia, _ := lloyd(d.X, randomRows(rng, d.X)); inertia < best {
				best, optimum = inertia, labels
			}
		}
		fromTruth, inertia, _ := lloyd(d.X, means)
		for name, labels := range map[string][]int{"the optimum": optimum, "the start at the true means": fromTruth} {
			if got := agreement(labels, d.Labels); got > 0.85 {
				t.Errorf("seed %d: %s agrees with %.3f of the labels", seed, name, got)
			}
		}
		if best > truth/1.2 || inertia > truth/1.2 {
			t.Errorf("seed %d: sums of squares %.1f (optimum), %.1f (from the true means), %.1f (truth)", seed, best, inertia, truth)
		}
	}
}

func TestBlobsDefaults(t *testing.T) {
	d := datasets.Blobs(seeded(1), 3000, 3, nil)
	if n, dim := d.X.Dims(); n != 3000 || dim != 2 || len(d.Classes) != 3 {
		t.Errorf("%d×%d, %d classes", n, dim, len(d.Classes))
	}
	means := d.ClassMeans()
	if mat.Max(means) > 10.2 || mat.Min(means) < -10.2 {
		t.Errorf("centres outside the box: %v", mat.Formatted(means))
	}
	var square float64
	for i, c := range d.Labels {
		square += math.Pow(d.X.At(i, 0)-means.At(c, 0), 2) + math.Pow(d.X.At(i, 1)-means.At(c, 1), 2)
	}
	if v := square / 6000; math.Abs(v-1) > 5*math.Sqrt(2.0/6000) {
		t.Errorf("variance %v, want 1", v)
	}
	if fmt.Sprint(counts(d)) != "[1000 1000 1000]" {
		t.Errorf("class counts %v", counts(d))
	}
}

func closeTo(a, b []float64, tol float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tol })
}
