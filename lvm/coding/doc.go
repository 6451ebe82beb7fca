// Package coding turns a probability model into a lossless code: what the model
// finds probable becomes short.
//
// [Stack] is the entropy coder, [Table] a distribution of a few symbols made ready
// for it, [Grid] the rounding without which a real number has no finite code, and
// [Mixture] codes rows under a Gaussian mixture with bits back, at the cost of
// their negative log-likelihood. Lengths are in bits.
//
// Source: Shannon (1948), A mathematical theory of communication; Hinton and Zemel
// (1994), Autoencoders, minimum description length and Helmholtz free energy;
// Duda (2009), Asymmetric numeral systems; Townsend, Bird and Barber (2019),
// Practical lossless compression with latent variables using bits back coding.
package coding
