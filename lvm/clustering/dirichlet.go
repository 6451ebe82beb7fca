package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Dirichlet is the distribution of k weights π_k ≥ 0 that sum to one, with
// parameters α_k > 0 and α_0 = Σ_k α_k:
//
//	p(π) = Γ(α_0) / Π_k Γ(α_k) · Π_k π_k^{α_k − 1}
//
// Weights counted N_k times have the posterior Dirichlet with α_k + N_k. Its
// methods panic with a *lvm.DataError if there is no α or one that is not
// positive and finite.
//
// Source: Pilikos, Unsupervised Learning, (2.26), where B(α) is the inverse of
// the factor in front.
type Dirichlet struct {
	Alpha []float64 // α, k
}

// LogProb returns ln p(π), the density with respect to π_1, …, π_{k−1}. It is
// −Inf if π is not on the simplex: if a weight is negative or the sum differs
// from one by more than 1e-9. At its border it is the limit, +Inf where
// α_k < 1, and NaN where limits disagree. It panics with a *lvm.ShapeError if
// π has another length than α.
func (d Dirichlet) LogProb(p []float64) float64 {
	const op = "clustering: Dirichlet.LogProb"
	total := d.check(op)
	if len(p) != len(d.Alpha) {
		panic(&lvm.ShapeError{Op: op, What: "weights", Got: len(p), Want: len(d.Alpha)})
	}
	if !(math.Abs(floats.Sum(p)-1) <= 1e-9) {
		return math.Inf(-1)
	}
	l := lgamma(total)
	for k, a := range d.Alpha {
		switch {
		case p[k] < 0:
			return math.Inf(-1)
		case a != 1: // 0·ln 0 is 0
			l += (a - 1) * math.Log(p[k])
		}
		l -= lgamma(a)
	}
	return l
}

// Draw draws one vector of weights: independent gamma variables with shapes
// α_k, divided by their sum. It takes their logarithms, so that with small α,
// where all of them may be too small for a float64, the weights still sum to one.
func (d Dirichlet) Draw(rng *rand.Rand) []float64 {
	d.check("clustering: Dirichlet.Draw")
	checkRand("Dirichlet.Draw", rng)
	p := make([]float64, len(d.Alpha))
	for k, a := range d.Alpha {
		p[k] = logGamma(rng, a)
	}
	norm := num.LogSumExp(p)
	for k, l := range p {
		p[k] = math.Exp(l - norm)
	}
	return p
}

// logGamma draws the logarithm of a gamma variable of shape a: with
// g ~ Gamma(a+1) and u uniform, g·u^{1/a} ~ Gamma(a).
func logGamma(rng *rand.Rand, a float64) float64 {
	g := distuv.Gamma{Alpha: a + 1, Beta: 1, Src: rng}.Rand()
	return math.Log(g) - rng.ExpFloat64()/a
}

// Sample draws n vectors of weights, n×k.
func (d Dirichlet) Sample(rng *rand.Rand, n int) *mat.Dense {
	if n < 0 {
		panic(fmt.Sprintf("clustering: Dirichlet.Sample with n = %d", n))
	}
	d.check("clustering: Dirichlet.Sample")
	if n == 0 {
		return &mat.Dense{}
	}
	p := mat.NewDense(n, len(d.Alpha), nil)
	for i := range n {
		p.SetRow(i, d.Draw(rng))
	}
	return p
}

// Mean returns E[π_k] = α_k/α_0.
func (d Dirichlet) Mean() []float64 {
	total := d.check("clustering: Dirichlet.Mean")
	m := make([]float64, len(d.Alpha))
	floats.ScaleTo(m, 1/total, d.Alpha)
	return m
}

// Cov returns the covariance of the weights, (δ_jk m_k − m_j m_k)/(α_0 + 1)
// with m the mean. It is singular: the weights sum to one.
func (d Dirichlet) Cov() *mat.SymDense {
	total := d.check("clustering: Dirichlet.Cov")
	m := d.Mean()
	c := mat.NewSymDense(len(m), nil)
	for j := range m {
		for k := j; k < len(m); k++ {
			c.SetSym(j, k, -m[j]*m[k]/(total+1))
		}
		c.SetSym(j, j, m[j]*(1-m[j])/(total+1))
	}
	return c
}

// MeanLog returns E[ln π_k] = ψ(α_k) − ψ(α_0).
func (d Dirichlet) MeanLog() []float64 {
	total := d.check("clustering: Dirichlet.MeanLog")
	m := make([]float64, len(d.Alpha))
	for k, a := range d.Alpha {
		m[k] = mathext.Digamma(a) - mathext.Digamma(total)
	}
	return m
}

// KL returns the Kullback–Leibler divergence of d from p, E_d[ln d(π)/p(π)] ≥ 0.
// It panics with a *lvm.ShapeError if p has another number of weights.
func (d Dirichlet) KL(p Dirichlet) float64 {
	const op = "clustering: Dirichlet.KL"
	kl := lgamma(d.check(op)) - lgamma(p.check(op))
	if len(p.Alpha) != len(d.Alpha) {
		panic(&lvm.ShapeError{Op: op, What: "weights", Got: len(p.Alpha), Want: len(d.Alpha)})
	}
	for k, m := range d.MeanLog() {
		a, b := d.Alpha[k], p.Alpha[k]
		kl += lgamma(b) - lgamma(a) + (a-b)*m
	}
	return kl
}

// check panics unless the parameters are what they should be, and returns their sum.
func (d Dirichlet) check(op string) (total float64) {
	if len(d.Alpha) == 0 {
		panic(&lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "the distribution has no weights", Try: "giving Alpha"})
	}
	for k, a := range d.Alpha {
		if err := checkPositive(op, fmt.Sprintf("α of weight %d", k), a); err != nil {
			panic(err)
		}
		total += a
	}
	return total
}

// checkPositive is the error for a parameter that is not positive and finite.
func checkPositive(op, what string, v float64) error {
	if v > 0 && !math.IsInf(v, 1) {
		return nil
	}
	return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the %s is %v", what, v), Try: "a positive number"}
}

func checkRand(name string, rng *rand.Rand) {
	if rng == nil {
		panic("clustering: " + name + " with a nil generator")
	}
}

func lgamma(x float64) float64 {
	l, _ := math.Lgamma(x)
	return l
}
