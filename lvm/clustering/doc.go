// Package clustering finds groups in data: k-means, online k-means and
// Gaussian mixtures, with measures of how well two groupings agree.
//
// Every model is a struct with exported parameters. Step is one iteration of
// the model's algorithm, pure, for looking at it frame by frame; FitX is the
// shared loop over the same step with restarts, stopping and best of. Data is
// a mat.Matrix with one observation per row, never modified, never retained.
package clustering
