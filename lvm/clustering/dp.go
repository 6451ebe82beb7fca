package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/latent-lessons/latent/lvm"
)

// DP is the Dirichlet process DP(α, H), a distribution of probability
// distributions G: for every partition A_1, …, A_r of the space,
//
//	(G(A_1), …, G(A_r)) ~ Dirichlet(αH(A_1), …, αH(A_r))
//
// so that E[G(A)] = H(A) and Var[G(A)] = H(A)(1−H(A))/(α+1). G is discrete,
// even if H is continuous: it is a sum of infinitely many weighted atoms.
//
// Its methods panic with a *lvm.DataError unless α is positive and finite,
// and panic if rng is nil.
//
// Source: Ferguson (1973), A Bayesian analysis of some nonparametric problems;
// Pilikos, Unsupervised Learning, §2.3.
type DP[T any] struct {
	Alpha float64                // α, the concentration
	Base  func(rng *rand.Rand) T // H: draws one value
}

// Measure is a discrete distribution, a draw of G:
//
//	G = Σ_l π_l δ(θ_l)
type Measure[T any] struct {
	Weights []float64 // π, sum to one
	Atoms   []T       // θ
}

// Draw draws one value from G.
func (m Measure[T]) Draw(rng *rand.Rand) T {
	checkRand("Measure.Draw", rng)
	return m.Atoms[categorical(rng, m.Weights, 1)]
}

// Mass returns G(A), the weight of the atoms that are in A.
func (m Measure[T]) Mass(in func(T) bool) float64 {
	var g float64
	for l, w := range m.Weights {
		if in(m.Atoms[l]) {
			g += w
		}
	}
	return g
}

// Draw draws G by [StickBreaking]: weights π, and for each an atom from H. The
// part of G that the last atom stands for is smaller than rest.
func (d DP[T]) Draw(rng *rand.Rand, rest float64) Measure[T] {
	m := Measure[T]{Weights: StickBreaking(rng, d.Alpha, rest)}
	m.Atoms = make([]T, len(m.Weights))
	for l := range m.Atoms {
		m.Atoms[l] = d.Base(rng)
	}
	return m
}

// StickBreaking draws the weights of G. A stick of length one is broken again and again,
//
//	β_l ~ Beta(1, α),   π_l = β_l Π_{j<l} (1−β_j)
//
// until what remains is shorter than rest; that is the last weight. It takes
// about α ln(1/rest) breaks. It panics if rng is nil or rest is not
// between 0 and 1, and with a *lvm.DataError unless α is positive and finite, or if
// it would take more than 1e7 breaks.
//
// Source: Sethuraman (1994), A constructive definition of Dirichlet priors;
// cut off as in Ishwaran and James (2001).
func StickBreaking(rng *rand.Rand, alpha, rest float64) []float64 {
	const op = "clustering: StickBreaking"
	if err := checkAlpha(op, alpha); err != nil {
		panic(err)
	}
	checkRand("StickBreaking", rng)
	if !(rest > 0 && rest < 1) {
		panic(fmt.Sprintf("%s until %v remains", op, rest))
	}
	if breaks := -alpha * math.Log(rest); breaks > 1e7 {
		panic(&lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("α = %v takes some %.1g weights", alpha, breaks), Try: "a larger rest, or Urn, which draws values without the weights"})
	}
	var weights []float64
	left := 1.0
	for left >= rest {
		e := rng.ExpFloat64() / alpha // −ln(1−β): 1−β is the α-th root of a uniform variable
		weights = append(weights, -left*math.Expm1(-e))
		left *= math.Exp(-e)
	}
	return append(weights, left)
}

// Urn draws n values θ_1, …, θ_n ~ G without drawing G, which is integrated
// out: the Pólya urn,
//
//	θ_{N+1} | θ_1, …, θ_N ~ (αH + Σ_k N_k δ(θ̄_k)) / (α+N)
//
// Value i is atoms[z[i]]; z is a [CRP]. It panics if n is negative.
//
// Source: Blackwell and MacQueen (1973), Ferguson distributions via Pólya urn
// schemes; Pilikos, Unsupervised Learning, (2.29).
func (d DP[T]) Urn(rng *rand.Rand, n int) (z []int, atoms []T) {
	z = CRP{Alpha: d.Alpha}.Sample(rng, n)
	for _, k := range z {
		if k == len(atoms) {
			atoms = append(atoms, d.Base(rng))
		}
	}
	return z, atoms
}

// Posterior returns the distribution of G given n values drawn from it,
//
//	G | θ_1, …, θ_n ~ DP(α+n, (αH + Σ_i δ(θ_i)) / (α+n))
//
// Source: Ferguson (1973); Pilikos, Unsupervised Learning, (2.28).
func (d DP[T]) Posterior(theta []T) DP[T] {
	if err := checkAlpha("clustering: DP.Posterior", d.Alpha); err != nil {
		panic(err)
	}
	seen := append([]T(nil), theta...)
	total := d.Alpha + float64(len(seen))
	return DP[T]{Alpha: total, Base: func(rng *rand.Rand) T {
		if rng.Float64()*total < d.Alpha {
			return d.Base(rng)
		}
		return seen[rng.IntN(len(seen))]
	}}
}

// categorical draws an index with probability weights[i]/total. The total is
// that of the weights up to rounding; some weight is positive.
func categorical(rng *rand.Rand, weights []float64, total float64) int {
	u, last := rng.Float64()*total, 0
	for i, w := range weights {
		if w > 0 {
			last = i
			if u < w {
				return i
			}
			u -= w
		}
	}
	return last // u exceeded a sum that was rounded
}
