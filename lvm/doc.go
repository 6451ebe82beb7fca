// Package lvm holds the words that every latent variable model in Latent
// shares: Options and Trace for iterative fits, and the typed errors.
//
// The models live one package per chapter: [clustering] and, as they land,
// the later chapters. They all keep the same contract.
//
// A model is a struct with exported parameters. It can be written by hand,
// sampled from and scored without any fit; there is no unfitted object.
//
// Data is a mat.Matrix, n×d, one observation per row. It is never modified
// and never retained.
//
// Fitting returns a new model:
//
//	model, trace, err := clustering.FitGMM(rng, x, k, nil)
//
// and every iterative model has one pure step,
//
//	next, objective, err := model.Step(x)
//
// whose objective belongs to the receiver and is larger when better. FitX is
// the shared loop over that step: restarts, stopping, best of.
//
// Randomness comes in through an explicit *rand.Rand, the first parameter of
// everything that draws. The same seed and data give the same bits on every
// run and for every value of GOMAXPROCS.
//
// A caller's mistake (a nil generator, an option out of range, data of another width than the
// model handed to a method without an error result) panics with a message
// that starts with the package name. Data's fault is a typed error:
// [DataError], [ShapeError], [DegenerateError], [ErrObjectiveFell]. Running
// out of iterations is neither; see [Trace.Err]. Nothing here prints.
//
// [clustering]: https://pkg.go.dev/github.com/latent-lessons/latent/lvm/clustering
package lvm
