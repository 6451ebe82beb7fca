package main

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

// kmeansTasks runs 20 iterations of Lloyd from given centres, the first k rows.
// How much the bounds save depends on the data, so there are blobs far apart
// (distance between centres / width of a blob, in each column: 10), blobs that
// overlap (1) and no clusters at all (0).
func kmeansTasks() []task {
	var tasks []task
	for _, c := range []struct {
		n, d, k int
		apart   float64
		kind    string
	}{
		{200000, 16, 32, 10, "far apart"},
		{200000, 16, 32, 1, "overlapping"},
		{200000, 16, 32, 0, "no clusters"},
		{50000, 2, 50, 1, "overlapping"},
		{20000, 64, 100, .5, "overlapping"},
		{10000, 300, 100, .2, "overlapping"},
	} {
		const iterations = 20
		x := blobs(rand.New(rand.NewPCG(1, 1)), c.n, c.d, c.k, c.apart)
		start := mat.DenseCopyOf(x.Slice(0, c.k, 0, c.d))
		opts := &clustering.KMeansOptions{
			Options: lvm.Options{MaxIter: iterations, Tol: -1},
			Centers: start,
		}
		tasks = append(tasks, task{
			Name:   "kmeans",
			Title:  fmt.Sprintf("k-means %d×%d, k=%d, %d iterations, %s", c.n, c.d, c.k, iterations, c.kind),
			Arrays: map[string]*mat.Dense{"x": x, "start": start},
			Params: map[string]float64{"iterations": iterations},
			Run: func() (float64, error) {
				_, trace, err := clustering.FitKMeans(nil, x, c.k, opts)
				if err != nil {
					return 0, err
				}
				return -trace.Final(), nil
			},
			Tolerance: 1e-9,
		})
	}
	return tasks
}

// blobs returns n rows around k centres: unit normals around centres that are
// drawn from a normal of width apart.
func blobs(rng *rand.Rand, n, d, k int, apart float64) *mat.Dense {
	centers := make([]float64, k*d)
	for i := range centers {
		centers[i] = apart * rng.NormFloat64()
	}
	x := mat.NewDense(n, d, nil)
	for i := range n {
		z := rng.IntN(k)
		row := x.RawRowView(i)
		for j := range row {
			row[j] = centers[z*d+j] + rng.NormFloat64()
		}
	}
	return x
}
