package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Sampler is a model that draws n observations x (n×d) together with the
// component z of each, as a mixture does.
type Sampler interface {
	Sample(rng *rand.Rand, n int) (z []int, x *mat.Dense)
}

// Mixture draws n observations from s; the labels are the components. The order
// of the draws is that of s.Sample.
func Mixture(rng *rand.Rand, s Sampler, n int) *Data {
	check("Mixture", rng, n)
	z, x := s.Sample(rng, n)
	rows, _ := x.Dims()
	if len(z) != n || rows != n {
		panic(fmt.Sprintf("datasets: Mixture: the sampler drew %d labels and %d rows, not %d", len(z), rows, n))
	}
	k := 0
	for _, c := range z {
		if c < 0 {
			panic(fmt.Sprintf("datasets: Mixture: the sampler drew component %d", c))
		}
		k = max(k, c+1)
	}
	return generated("mixture", x, z, numbered("component ", 0, k), fmt.Sprintf("drawn from %T", s))
}

// BlobsOptions sets the shape of [Blobs]. nil means the defaults.
type BlobsOptions struct {
	Dim int     // d; 0 means 2
	SD  float64 // standard deviation of every cluster; 0 means 1
	Box float64 // centres are uniform between −Box and Box; 0 means 10
}

// Blobs generates k round Gaussian clusters of equal size in d dimensions, their
// centres placed at random:
//
//	μ_c ~ U[−Box, Box]^d,   x_i ~ N(μ_c, SD² I),   c = i mod k
//
// Draws: the centres one after the other, then the rows one after the other. It
// panics when k < 1 or an option is negative.
func Blobs(rng *rand.Rand, n, k int, opts *BlobsOptions) *Data {
	check("Blobs", rng, n)
	var o BlobsOptions
	if opts != nil {
		o = *opts
	}
	if k < 1 || o.Dim < 0 || !(o.SD >= 0) || !(o.Box >= 0) {
		panic(fmt.Sprintf("datasets: Blobs: k = %d, options %+v", k, o))
	}
	if o.Dim == 0 {
		o.Dim = 2
	}
	if o.SD == 0 {
		o.SD = 1
	}
	if o.Box == 0 {
		o.Box = 10
	}
	centres := mat.NewDense(k, o.Dim, nil)
	for i := range k {
		row := centres.RawRowView(i)
		for j := range row {
			row[j] = o.Box * (2*rng.Float64() - 1)
		}
	}
	x, z := mat.NewDense(n, o.Dim, nil), make([]int, n)
	for i := range n {
		z[i] = i % k
		row := x.RawRowView(i)
		for j, m := range centres.RawRowView(z[i]) {
			row[j] = m + o.SD*rng.NormFloat64()
		}
	}
	return generated("blobs", x, z, numbered("cluster ", 0, k),
		fmt.Sprintf("%d Gaussians of sd %g, centres uniform in [−%g, %g]^%d", k, o.SD, o.Box, o.Box, o.Dim))
}

// TwoClusters generates two round clusters that k-means from random rows finds in
// about three iterations, as in Figs. 2.1 and 2.2 of Pilikos, Unsupervised Learning
// (2017), where n = 1500: x_i ~ N(±(2.5, 1.5), I), row i from cluster i mod 2. The
// notes give no parameters; these are ours.
//
// Draws: the rows one after the other.
func TwoClusters(rng *rand.Rand, n int) *Data {
	check("TwoClusters", rng, n)
	return planar(rng, "two clusters", inTurn(2), n, []gaussian{
		{mean: [2]float64{-2.5, -1.5}, factor: [2][2]float64{{1, 0}, {0, 1}}},
		{mean: [2]float64{2.5, 1.5}, factor: [2][2]float64{{1, 0}, {0, 1}}},
	}, "N(−(2.5, 1.5), I) and N((2.5, 1.5), I), equal parts")
}

// Elongated generates two long parallel clusters, clearly apart, on which k-means
// fails, as in Fig. 7.4 of Englebienne, Pattern Recognition (2013), whose
// parameters are not given; these are ours. Row i belongs to cluster i mod 2, with
// mean (−1, 0) or (1, 0), standard deviation 1.5 along the diagonal (1, 1)/√2 and
// 0.2 across it, so that
//
//	Σ = [ 1.145  1.105 ]
//	    [ 1.105  1.145 ]
//
// The axes of the clusters are √2 or seven standard deviations apart. Yet cutting
// both in half across the diagonal has a smaller sum of squares than telling them
// apart: this cut is the optimum of k-means, and where it ends up when it starts at
// the true means. About three quarters of the rows are then labelled right.
//
// Draws: the rows one after the other, first along, then across.
func Elongated(rng *rand.Rand, n int) *Data {
	check("Elongated", rng, n)
	const along, across = 1.5 * math.Sqrt2 / 2, 0.2 * math.Sqrt2 / 2
	long := [2][2]float64{{along, -across}, {along, across}}
	return planar(rng, "elongated clusters", inTurn(2), n, []gaussian{
		{mean: [2]float64{-1, 0}, factor: long},
		{mean: [2]float64{1, 0}, factor: long},
	}, "means (−1, 0) and (1, 0), sd 1.5 along (1, 1)/√2 and 0.2 across, equal parts")
}

// ThreeGaussians generates a mixture of three overlapping Gaussians in the plane,
// as in Fig. 1.1 of Pilikos, Unsupervised Learning (2017): points whose number of
// groups is not plain to see. The parameters, which the notes do not give, are
//
//	π = (0.4, 0.35, 0.25)
//	μ = (0, 0), (3, 1.5), (1, 3.5)
//	Σ = [1 0.5; 0.5 0.89], [0.36 −0.36; −0.36 1.36], [1.44 0; 0 0.25]
//
// Draws: for each row the component, by inverting its distribution function at one
// uniform number, then two normal numbers.
func ThreeGaussians(rng *rand.Rand, n int) *Data {
	check("ThreeGaussians", rng, n)
	component := func(int) int {
		switch u := rng.Float64(); {
		case u < 0.4:
			return 0
		case u < 0.75:
			return 1
		}
		return 2
	}
	return planar(rng, "three Gaussians", component, n, []gaussian{
		{mean: [2]float64{0, 0}, factor: [2][2]float64{{1, 0}, {0.5, 0.8}}},
		{mean: [2]float64{3, 1.5}, factor: [2][2]float64{{0.6, 0}, {-0.6, 1}}},
		{mean: [2]float64{1, 3.5}, factor: [2][2]float64{{1.2, 0}, {0, 0.5}}},
	}, "π = (0.4, 0.35, 0.25), μ = (0, 0), (3, 1.5), (1, 3.5), full covariances")
}

// Rings generates k concentric rings of radius 1, 2, …, k, blurred along the radius
// with standard deviation 0.1: clusters that have the same mean, which no k-means
// and no small Gaussian mixture tells apart. Row i belongs to ring i mod k.
//
// Draws: for each row the angle, uniform, then the radius, normal. It panics when
// k < 1.
func Rings(rng *rand.Rand, n, k int) *Data {
	check("Rings", rng, n)
	if k < 1 {
		panic(fmt.Sprintf("datasets: Rings: k = %d", k))
	}
	x, z := mat.NewDense(n, 2, nil), make([]int, n)
	for i := range n {
		z[i] = i % k
		angle := 2 * math.Pi * rng.Float64()
		radius := float64(z[i]+1) + 0.1*rng.NormFloat64()
		sin, cos := math.Sincos(angle)
		x.SetRow(i, []float64{radius * cos, radius * sin})
	}
	return generated("rings", x, z, numbered("ring ", 0, k), fmt.Sprintf("radii 1 to %d, sd 0.1 along the radius", k))
}

// gaussian is N(mean, factor·factorᵀ) in the plane.
type gaussian struct {
	mean   [2]float64
	factor [2][2]float64
}

// planar draws n rows, the i-th from the Gaussian number component(i).
func planar(rng *rand.Rand, name string, component func(i int) int, n int, gaussians []gaussian, source string) *Data {
	x, z := mat.NewDense(n, 2, nil), make([]int, n)
	for i := range n {
		z[i] = component(i)
		g := &gaussians[z[i]]
		a, b := rng.NormFloat64(), rng.NormFloat64()
		for j, f := range g.factor {
			x.Set(i, j, g.mean[j]+f[0]*a+f[1]*b)
		}
	}
	return generated(name, x, z, numbered("cluster ", 0, len(gaussians)), source)
}

// inTurn deals the rows out to k clusters.
func inTurn(k int) func(i int) int { return func(i int) int { return i % k } }

func generated(name string, x *mat.Dense, z []int, classes []string, source string) *Data {
	_, d := x.Dims()
	return &Data{Name: name, X: x, Columns: numbered("x", 1, d), Labels: z, Classes: classes, Source: "generated: " + source}
}

// check panics with a message of our own where rng or mat would do it with theirs.
func check(name string, rng *rand.Rand, n int) {
	if rng == nil {
		panic("datasets: " + name + ": rng is nil")
	}
	if n < 1 {
		panic(fmt.Sprintf("datasets: %s: n = %d, want at least 1", name, n))
	}
}
