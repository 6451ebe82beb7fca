package main

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

// vbTasks runs 20 iterations of the variational mixture from the posteriors that
// given labels lead to. Both sides reckon with other constants in their bounds, so
// that Σ_k α_k |m_k|² of the parameters reached is compared.
func vbTasks() []task {
	const n, d, k, iterations = 100000, 8, 8, 20
	x := blobs(rand.New(rand.NewPCG(1, 1)), n, d, k, 1)
	labels, prior, err := labelled(x, k)
	if err != nil {
		panic(err)
	}
	start := &clustering.VBGMM{Prior: clustering.MixturePrior{Alpha: 1, Component: prior}}
	for c := range k {
		var rows []float64
		for i := range n {
			if labels.At(i, 0) == float64(c) {
				rows = append(rows, x.RawRowView(i)...)
			}
		}
		size := len(rows) / d
		start.Alpha = append(start.Alpha, start.Prior.Alpha/k+float64(size))
		start.Components = append(start.Components, prior.Posterior(mat.NewDense(size, d, rows)))
	}
	opts := &clustering.VBGMMOptions{Options: lvm.Options{MaxIter: iterations, Tol: -1}, Start: start}
	return []task{{
		Name:   "vb",
		Title:  fmt.Sprintf("variational mixture %d×%d, k=%d, full, %d iterations", n, d, k, iterations),
		Arrays: priorArrays(x, labels, prior),
		Params: map[string]float64{"k": k, "iterations": iterations, "alpha": 1, "kappa": prior.Kappa, "nu": prior.Nu},
		Run: func() (objective float64, err error) {
			m, _, err := clustering.FitVBGMM(nil, x, k, opts)
			if err != nil {
				return 0, err
			}
			for c, q := range m.Components {
				for _, v := range q.Mean {
					objective += m.Alpha[c] * v * v
				}
			}
			return objective, nil
		},
		Tolerance: 1e-9,
	}}
}

// dpTasks runs collapsed Gibbs sweeps over a Dirichlet process mixture from given
// labels. The peer keeps sufficient statistics of the clusters, factorises afresh
// the two that a row leaves and enters, and asks all clusters at once what they
// predict. The random numbers differ, so that the objectives, ln p(x, z) on average
// over the sweeps, agree to Monte Carlo error.
func dpTasks() []task {
	var tasks []task
	for _, c := range []struct{ n, d, sweeps int }{
		{1000, 2, 20},
		{1000, 8, 20},
		{10000, 2, 3},
		{10000, 8, 3},
	} {
		x := blobs(rand.New(rand.NewPCG(1, 1)), c.n, c.d, 8, 3)
		labels, prior, err := labelled(x, 8)
		if err != nil {
			panic(err)
		}
		start := clustering.DPState{Alpha: 1}
		for _, l := range labels.RawMatrix().Data {
			start.Z = append(start.Z, int(l))
		}
		tasks = append(tasks, task{
			Name:   "dp",
			Title:  fmt.Sprintf("Dirichlet process mixture %d×%d, %d Gibbs sweeps", c.n, c.d, c.sweeps),
			Arrays: priorArrays(x, labels, prior),
			Params: map[string]float64{"sweeps": float64(c.sweeps), "alpha": 1, "kappa": prior.Kappa, "nu": prior.Nu},
			Run: func() (objective float64, err error) {
				g := &clustering.DPGibbs{X: x, Prior: prior}
				rng, s := rand.New(rand.NewPCG(1, 1)), start
				for range c.sweeps {
					next, info := g.Step(rng, s)
					if info.Err != nil {
						return 0, info.Err
					}
					s, objective = next, objective+info.LogDensity/float64(c.sweeps)
				}
				return objective, nil
			},
			Tolerance: 1e-2,
		})
	}
	return tasks
}

// labelled returns labels of the rows by k-means, and the default prior.
func labelled(x *mat.Dense, k int) (*mat.Dense, clustering.NIW, error) {
	n, _ := x.Dims()
	m, _, err := clustering.FitKMeans(rand.New(rand.NewPCG(1, 1)), x, k, nil)
	if err != nil {
		return nil, clustering.NIW{}, err
	}
	labels := mat.NewDense(n, 1, nil)
	for i, l := range m.Assign(x) {
		labels.Set(i, 0, float64(l))
	}
	prior, err := clustering.DataNIW(x)
	return labels, prior, err
}

func priorArrays(x, labels *mat.Dense, prior clustering.NIW) map[string]*mat.Dense {
	return map[string]*mat.Dense{
		"x": x, "labels": labels, "mean": mat.NewDense(1, len(prior.Mean), prior.Mean), "scale": mat.DenseCopyOf(prior.Scale),
	}
}
