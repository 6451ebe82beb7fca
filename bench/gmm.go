package main

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

// gmmTasks runs 20 iterations of expectation maximisation from given parameters:
// equal weights, the first k rows for means, the unit matrix for covariances. No
// floor on our side, no regularisation on the peer's, so both climb the same path.
//
// The peer reports the log-likelihood of the mixture before its last M step;
// ours is therefore that before the last step as well.
func gmmTasks() []task {
	var tasks []task
	for _, c := range []struct {
		n, d, k int
		shape   clustering.Shape
	}{
		{100000, 8, 8, clustering.Full},
		{100000, 8, 8, clustering.Tied},
		{100000, 8, 8, clustering.Diagonal},
		{100000, 8, 8, clustering.Spherical},
		{10000, 2, 5, clustering.Full},
		{20000, 32, 10, clustering.Full},
	} {
		const iterations = 20
		x := blobs(rand.New(rand.NewPCG(1, 1)), c.n, c.d, c.k, 1)
		start := &clustering.GMM{Means: mat.DenseCopyOf(x.Slice(0, c.k, 0, c.d)), Shape: c.shape}
		for range c.k {
			start.Weights = append(start.Weights, 1/float64(c.k))
			cov := mat.NewSymDense(c.d, nil)
			for j := range c.d {
				cov.SetSym(j, j, 1)
			}
			start.Covs = append(start.Covs, cov)
		}
		opts := &clustering.GMMOptions{
			Options: lvm.Options{MaxIter: iterations, Tol: -1},
			Start:   start,
			Floor:   -1,
		}
		tasks = append(tasks, task{
			Name:   "gmm",
			Title:  fmt.Sprintf("mixture %d×%d, k=%d, %v, %d iterations", c.n, c.d, c.k, c.shape, iterations),
			Arrays: map[string]*mat.Dense{"x": x, "start": start.Means},
			Params: map[string]float64{"iterations": iterations, "shape": float64(c.shape)},
			Run: func() (float64, error) {
				_, trace, err := clustering.FitGMM(nil, x, c.k, opts)
				if err != nil {
					return 0, err
				}
				return trace.Objective[iterations-1], nil
			},
			Tolerance: 1e-9,
		})
	}
	return tasks
}
