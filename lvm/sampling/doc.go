// Package sampling draws from distributions: directly, by rejection, by
// weighting, and by Markov chains.
//
// A Markov chain sampler is a [Kernel]: one transition of a chain. [Walk]
// iterates it, [Run] keeps draws, [RunChains] runs several chains in
// parallel, and the diagnostics say how far to trust them:
//
//	kernel := &sampling.Metropolis{LogDensity: logp}
//	chain, err := sampling.Run(rng, kernel, []float64{0, 0}, 10_000, nil)
//
// A log density is known up to a constant and is −Inf where there is no
// mass.
package sampling
