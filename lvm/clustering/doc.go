// Package clustering finds groups in data: k-means, online k-means, and
// mixtures of Gaussian, Bernoulli and Poisson distributions, with measures of
// how well two groupings agree. CrossValidate, BootstrapLRT, SelectGMM and
// Silhouette help to choose the number of groups.
//
// FitGMM, FitICM and FitGradient lead to a Gaussian mixture by expectation
// maximisation, with hard labels and by gradient ascent; FreeEnergy is the bound
// that explains how they are related.
//
// Every model is a struct with exported parameters. Step is one iteration of
// the model's algorithm, pure, for looking at it frame by frame; FitX is the
// shared loop over the same step with restarts, stopping and best of. Data is
// a mat.Matrix with one observation per row, never modified, never retained.
//
// Bayesian mixtures come by two routes. VBGMM and VBMeans are variational
// posteriors, models like the others. MixtureGibbs, DPGibbs and AuxiliaryGibbs
// sample labels; they are kernels for package sampling, which runs them and
// judges their draws. CRP, DP and Dirichlet are the distributions behind them,
// and CoClustering, PointEstimate and their like report what draws of
// partitions say.
package clustering
