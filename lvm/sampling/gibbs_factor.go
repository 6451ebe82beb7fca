package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-lessons/latent/lvm"
)

// Factor is one factor ψ of a discrete distribution, a table over the values
// of a few variables.
type Factor struct {
	Vars  []int     // the variables, without repetition
	Table []float64 // ψ ≥ 0, the value of the last variable changing fastest
}

// FactorGibbs is the Gibbs sampler of a discrete distribution given by its
// factors,
//
//	p(x) = (1/Z) Π_f ψ_f(x_f),  x_j ∈ {0, …, Levels[j] − 1}
//
// The full conditional of a block is the product of those factors that
// contain one of its variables (its Markov blanket), normalised over the
// values of the block: the other factors cancel. The four-cycle
// p = (1/Z) ψ₁₂ψ₂₄ψ₁₃ψ₃₄ of notes 004 has x₁ | rest ∝ ψ₁₂ψ₁₃, and so on.
//
// A state that no value of a block makes possible, such as a start without
// mass, ends the chain with a [DensityError].
//
// Cost per step: for each block the number of its joint values times the
// number of its factors. It allocates nothing after the first.
type FactorGibbs struct {
	Levels  []int
	Factors []Factor

	// Blocks are the variables redrawn together. nil means one at a time.
	Blocks [][]int

	// Scan is the order of the blocks. The zero value is Systematic.
	Scan Scan

	blocks []factorBlock
	buf    [2][]int
	p      []float64
}

type factorBlock struct {
	vars    []int
	size    int // joint values
	factors []logFactor
}

type logFactor struct {
	vars, stride []int
	log          []float64
}

// Step redraws every block once.
func (g *FactorGibbs) Step(rng *rand.Rand, x []int) ([]int, Info) {
	info := Info{LogDensity: math.NaN(), Acceptance: 1, Accepted: true}
	g.init()
	if info.Err = g.check(x); info.Err != nil {
		return x, info
	}
	y := nextBuffer(&g.buf, x)
	for i := range g.blocks {
		if g.Scan == RandomScan {
			i = rng.IntN(len(g.blocks))
		}
		b := &g.blocks[i]
		p, sum := g.conditional(b, y)
		if !(sum > 0) {
			info.Err = checkDensity("sampling.FactorGibbs", toFloats(x), math.Inf(-1))
			return x, info
		}
		g.assign(b, y, pick(rng, p, sum))
	}
	return y, info
}

// Conditional returns p(x_b | rest) for block b: the probabilities of its
// joint values, the last variable changing fastest. The values of the block
// in x do not matter. It returns NaN if the rest has no mass.
func (g *FactorGibbs) Conditional(b int, x []int) []float64 {
	g.init()
	if err := g.check(x); err != nil {
		panic(err)
	}
	p, sum := g.conditional(&g.blocks[b], slices.Clone(x))
	out := slices.Clone(p)
	for i := range out {
		out[i] /= sum
	}
	return out
}

// LogDensity returns log Π_f ψ_f(x_f), without the constant −log Z.
func (g *FactorGibbs) LogDensity(x []int) float64 {
	var s float64
	for _, f := range g.Factors {
		at := 0
		for _, v := range f.Vars {
			at = at*g.Levels[v] + x[v]
		}
		s += math.Log(f.Table[at])
	}
	return s
}

// conditional returns the weights of the joint values of b given the rest of
// y, and their sum; it spoils the values of b in y.
func (g *FactorGibbs) conditional(b *factorBlock, y []int) (p []float64, sum float64) {
	p = g.p[:b.size]
	top := math.Inf(-1)
	for v := range p {
		g.assign(b, y, v)
		p[v] = 0
		for _, f := range b.factors {
			at := 0
			for i, u := range f.vars {
				at += f.stride[i] * y[u]
			}
			p[v] += f.log[at]
		}
		top = max(top, p[v])
	}
	if math.IsInf(top, -1) {
		return p, 0
	}
	for v, l := range p {
		p[v] = math.Exp(l - top)
		sum += p[v]
	}
	return p, sum
}

// assign sets the variables of b in y to their joint value number v.
func (g *FactorGibbs) assign(b *factorBlock, y []int, v int) {
	for i := len(b.vars) - 1; i >= 0; i-- {
		n := g.Levels[b.vars[i]]
		y[b.vars[i]] = v % n
		v /= n
	}
}

func (g *FactorGibbs) check(x []int) error {
	const op = "sampling.FactorGibbs"
	if len(x) != len(g.Levels) {
		return &lvm.ShapeError{Op: op, What: "length of the state", Got: len(x), Want: len(g.Levels)}
	}
	for i, v := range x {
		if v < 0 || v >= g.Levels[i] {
			return &lvm.DataError{Op: op, Row: -1, Col: i, Problem: fmt.Sprintf("the value is %d", v), Try: fmt.Sprintf("0 to %d", g.Levels[i]-1)}
		}
	}
	return nil
}

// init finds the Markov blanket of every block. Tables and blocks that do
// not fit the variables are a mistake in the program, and panic.
func (g *FactorGibbs) init() {
	if g.blocks != nil {
		return
	}
	factors := make([]logFactor, len(g.Factors))
	for i, f := range g.Factors {
		checkIndices("a factor over", f.Vars, len(g.Levels))
		l := logFactor{vars: f.Vars, stride: make([]int, len(f.Vars)), log: make([]float64, len(f.Table))}
		size := 1
		for j := len(f.Vars) - 1; j >= 0; j-- {
			l.stride[j] = size
			size *= g.Levels[f.Vars[j]]
		}
		if size != len(f.Table) {
			panic(fmt.Sprintf("sampling: FactorGibbs: the table of factor %d has %d entries for %d joint values", i, len(f.Table), size))
		}
		for j, v := range f.Table {
			if !(v >= 0) || math.IsInf(v, 1) {
				panic(fmt.Sprintf("sampling: FactorGibbs: factor %d has the value %v", i, v))
			}
			l.log[j] = math.Log(v)
		}
		factors[i] = l
	}
	blocks := g.Blocks
	if blocks == nil {
		for j := range g.Levels {
			blocks = append(blocks, []int{j})
		}
	}
	largest := 0
	for _, vars := range blocks {
		checkIndices("a block", vars, len(g.Levels))
		b := factorBlock{vars: vars, size: 1}
		for _, v := range vars {
			b.size *= g.Levels[v]
		}
		for _, f := range factors {
			if slices.ContainsFunc(f.vars, func(v int) bool { return slices.Contains(vars, v) }) {
				b.factors = append(b.factors, f)
			}
		}
		largest = max(largest, b.size)
		g.blocks = append(g.blocks, b)
	}
	g.p = make([]float64, largest)
}

// checkIndices panics unless the indices are different and below n.
func checkIndices(what string, indices []int, n int) {
	for i, v := range indices {
		if v < 0 || v >= n || slices.Contains(indices[:i], v) {
			panic(fmt.Sprintf("sampling: %s %v of %d variables", what, indices, n))
		}
	}
}

func toFloats(x []int) []float64 {
	f := make([]float64, len(x))
	for i, v := range x {
		f[i] = float64(v)
	}
	return f
}
