package sampling

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The joint distribution test of Geweke 2004: draws of parameters and data
// from the prior and the likelihood must be distributed as those of a chain
// that alternates a kernel on the parameters given the data with a draw of
// data given the parameters. It finds mistakes in densities, gradients and
// conditionals as well as in kernels.
//
// The model is x_i ~ N(μ, 1/τ), i = 1 … 4, with μ ~ N(0, 2²) and
// τ ~ Gamma(3, 2); the state is (μ, log τ).

const jointData = 4

func drawPrior(rng *rand.Rand) []float64 {
	gamma := 0.0
	for range 3 {
		gamma += rng.ExpFloat64() / 2
	}
	return []float64{2 * rng.NormFloat64(), math.Log(gamma)}
}

func drawData(rng *rand.Rand, theta, x []float64) {
	for i := range x {
		x[i] = theta[0] + math.Exp(-theta[1]/2)*rng.NormFloat64()
	}
}

// logPosterior of (μ, log τ) given x, with its gradient.
func logPosterior(x []float64) func(theta, grad []float64) float64 {
	return func(theta, grad []float64) float64 {
		mu, tau := theta[0], math.Exp(theta[1])
		var r, s float64
		for _, v := range x {
			r += v - mu
			s += (v - mu) * (v - mu)
		}
		n := float64(len(x))
		grad[0] = -mu/4 + tau*r
		grad[1] = 3 - 2*tau + n/2 - tau*s/2 // 3 with the Jacobian of log τ
		return -mu*mu/8 + 3*theta[1] - 2*tau + n/2*theta[1] - tau*s/2
	}
}

// gammaInt draws Gamma(k/2, rate 1/2·rate2) for integer k as a sum of squares
// of normals: χ²_k divided by rate2.
func gammaInt(rng *rand.Rand, k int, rate2 float64) float64 {
	var s float64
	for range k {
		z := rng.NormFloat64()
		s += z * z
	}
	return s / rate2
}

func jointFunctions(theta, x []float64) []float64 {
	mu, l := theta[0], theta[1]
	return []float64{mu, mu * mu, l, l * l, mu * l, x[0], x[0] * x[1] / 10, mu * x[0], math.Exp(l)}
}

func TestGewekeJoint(t *testing.T) {
	var x [jointData]float64 // the data that the kernels below are given
	post := logPosterior(x[:])
	scratch := make([]float64, 2)
	logp := func(theta []float64) float64 { return post(theta, scratch) }
	conditionalMu := func(rng *rand.Rand, theta []float64) {
		tau := math.Exp(theta[1])
		var s float64
		for _, v := range x {
			s += v
		}
		q := 0.25 + jointData*tau
		theta[0] = tau*s/q + rng.NormFloat64()/math.Sqrt(q)
	}
	conditionalTau := func(rng *rand.Rand, theta []float64) {
		s := 4.0 // twice the rate of the prior
		for _, v := range x {
			s += (v - theta[0]) * (v - theta[0])
		}
		theta[1] = math.Log(gammaInt(rng, 6+jointData, s))
	}
	wrongTau := func(rng *rand.Rand, theta []float64) { // forgets the rate of the prior
		s := 0.5
		for _, v := range x {
			s += (v - theta[0]) * (v - theta[0])
		}
		theta[1] = math.Log(gammaInt(rng, 6+jointData, s))
	}
	gibbs := func(tau func(*rand.Rand, []float64)) Kernel[vectors] {
		return &Gibbs[float64]{Conditionals: []func(*rand.Rand, []float64){conditionalMu, tau}}
	}
	// The data changes under the kernels, so each step gets a fresh one that
	// remembers no log density.
	for _, c := range []struct {
		name  string
		fresh func() Kernel[vectors]
		right bool
	}{
		{"Metropolis", func() Kernel[vectors] { return &Metropolis{LogDensity: logp, Scale: 0.8} }, true},
		{"slice", func() Kernel[vectors] { return &Slice{LogDensity: logp} }, true},
		{"HMC", func() Kernel[vectors] { return &HMC{Gradient: post, StepSize: 0.4, Steps: 4} }, true},
		{"NUTS", func() Kernel[vectors] { return &NUTS{Gradient: post, StepSize: 0.4, MaxDepth: 5} }, true},
		{"Gibbs", func() Kernel[vectors] { return gibbs(conditionalTau) }, true},
		{"Gibbs with a wrong conditional", func() Kernel[vectors] { return gibbs(wrongTau) }, false},
	} {
		const n = 40_000
		rng := newRand(21)
		theta := drawPrior(rng)
		drawData(rng, theta, x[:])
		var chain, prior [][]float64
		var free [jointData]float64
		for range n {
			next, info := c.fresh().Step(rng, theta)
			if info.Err != nil {
				t.Fatalf("%s: %v", c.name, info.Err)
			}
			theta = next
			drawData(rng, theta, x[:])
			p := drawPrior(rng)
			drawData(rng, p, free[:])
			for i, v := range jointFunctions(theta, x[:]) {
				if len(chain) <= i {
					chain, prior = append(chain, nil), append(prior, nil)
				}
				chain[i] = append(chain[i], v)
				prior[i] = append(prior[i], jointFunctions(p, free[:])[i])
			}
		}
		far := 0.0
		for i := range chain {
			se := math.Hypot(MCSEMean([][]float64{chain[i]}), math.Sqrt(variance(prior[i])/n))
			far = max(far, math.Abs(mean(chain[i])-mean(prior[i]))/se)
		}
		if (far < tooFar) != c.right {
			t.Errorf("%s: the joint distributions differ by %.2f standard errors", c.name, far)
		}
	}
}
