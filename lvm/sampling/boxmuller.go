package sampling

import (
	"math"
	"math/rand/v2"
)

// BoxMuller maps the unit square onto the plane so that uniform points
// become standard normal ones,
//
//	z_1 = r cos 2πv,  z_2 = r sin 2πv,  r = √(−2 ln u)
//
// By the change of variables p(z) = p(u, v) |det ∂(u, v)/∂z|, with
// u = exp(−½‖z‖²) the determinant is exp(−½‖z‖²)/2π: two independent
// normal densities. u must be in (0, 1].
//
// Box & Muller 1958; the change of variables is (5.6) of notes 000 and
// (11.5) of notes 002.
func BoxMuller(u, v float64) (z1, z2 float64) {
	r := math.Sqrt(-2 * math.Log(u))
	sin, cos := math.Sincos(2 * math.Pi * v)
	return r * cos, r * sin
}

// NormalPair draws two independent standard normal variables by [BoxMuller].
// For speed take rng.NormFloat64; this is the method that can be read.
func NormalPair(rng *rand.Rand) (z1, z2 float64) {
	return BoxMuller(openUniform(rng), rng.Float64())
}

// PolarPair draws two independent standard normal variables by the polar
// method: a point (a, b) uniform in the unit disc, found by rejection from
// the square around it, has s = a² + b² uniform on (0, 1) and independent of
// its angle, so that no sine is needed,
//
//	z_1 = a √(−2 ln s / s),  z_2 = b √(−2 ln s / s)
//
// A share π/4 of the points in the square are in the disc.
//
// Marsaglia & Bray 1964.
func PolarPair(rng *rand.Rand) (z1, z2 float64) {
	for range maxDiscTries {
		a, b := 2*openUniform(rng)-1, 2*openUniform(rng)-1
		if s := a*a + b*b; s < 1 && s > 0 {
			r := math.Sqrt(-2 * math.Log(s) / s)
			return a * r, b * r
		}
	}
	return NormalPair(rng)
}

// maxDiscTries points outside the disc in a row come once in 10⁶⁶; only a
// broken source does that.
const maxDiscTries = 100
