package sampling

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// MetropolisMatrix returns the transition matrix, n×n with a row for each
// state from, of Metropolis–Hastings on n states with target p, up to a
// factor, and proposal matrix q,
//
//	T(i→j) = q_ij A_ij for j ≠ i,  T(i→i) = 1 − Σ_{j≠i} q_ij A_ij
//	A_ij = min{1, p_j q_ji / (p_i q_ij)}
//
// The diagonal holds the mass of the rejections; without it, as in (11.17)
// of notes 002, the rows do not sum to one. It panics if q is not a
// transition matrix of n states, or an entry of p negative or not finite.
//
// Notes 000, (5.26)–(5.27).
func MetropolisMatrix(p []float64, q mat.Matrix) *mat.Dense {
	n := len(p)
	if r, c := q.Dims(); r != n || c != n {
		panic(fmt.Sprintf("sampling: MetropolisMatrix of %d states with a proposal of %d×%d", n, r, c))
	}
	if _, err := NewMarkovChain(q); err != nil {
		panic("sampling: MetropolisMatrix: the proposal: " + err.Error())
	}
	for i, v := range p {
		if !(v >= 0) || math.IsInf(v, 1) {
			panic(fmt.Sprintf("sampling: MetropolisMatrix: p_%d = %v", i, v))
		}
	}
	t := mat.NewDense(n, n, nil)
	for i := range n {
		stay := 1.0
		for j := range n {
			qij := q.At(i, j)
			if i == j || qij == 0 {
				continue
			}
			flow := qij // a state without mass is always left
			if p[i] > 0 {
				flow *= min(1, p[j]*q.At(j, i)/(p[i]*qij))
			}
			t.Set(i, j, flow)
			stay -= flow
		}
		t.Set(i, i, stay)
	}
	return t
}

// States returns the number of joint values of the variables.
func (g *FactorGibbs) States() int {
	n := 1
	for _, l := range g.Levels {
		n *= l
	}
	return n
}

// State sets x to joint value number i, the last variable changing fastest.
func (g *FactorGibbs) State(i int, x []int) {
	for j := len(g.Levels) - 1; j >= 0; j-- {
		x[j] = i % g.Levels[j]
		i /= g.Levels[j]
	}
}

// Joint returns p(x) for every joint value in the order of State, by
// enumeration; NaN if no value has mass.
func (g *FactorGibbs) Joint() []float64 {
	p, x := make([]float64, g.States()), make([]int, len(g.Levels))
	top := math.Inf(-1)
	for i := range p {
		g.State(i, x)
		p[i] = g.LogDensity(x)
		top = max(top, p[i])
	}
	var z float64
	for i := range p {
		p[i] = math.Exp(p[i] - top)
		z += p[i]
	}
	for i := range p {
		p[i] /= z
	}
	return p
}

// Transition returns the transition matrix of one step, a row for each state
// from, in the order of State. Where the full conditionals of a state do not
// exist its row is NaN.
//
// Cost: O(S²) memory for S states, so it is for small cases.
func (g *FactorGibbs) Transition() *mat.Dense {
	g.init()
	n, x := g.States(), make([]int, len(g.Levels))
	number := func(x []int) int {
		at := 0
		for j, v := range x {
			at = at*g.Levels[j] + v
		}
		return at
	}
	one := make([]*mat.Dense, len(g.blocks))
	for b := range g.blocks {
		one[b] = mat.NewDense(n, n, nil)
		for i := range n {
			g.State(i, x)
			for v, p := range g.Conditional(b, x) {
				g.assign(&g.blocks[b], x, v)
				one[b].Set(i, number(x), p)
			}
		}
	}
	if g.Scan == RandomScan {
		mean := mat.NewDense(n, n, nil)
		for _, t := range one {
			mean.Add(mean, t)
		}
		mean.Scale(1/float64(len(one)), mean)
		for b := range one {
			one[b] = mean
		}
	}
	step := mat.DenseCopyOf(one[0])
	for _, t := range one[1:] {
		var next mat.Dense
		next.Mul(step, t)
		step = &next
	}
	return step
}
