package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// GaussianGibbs is the Gibbs sampler of a Gaussian N(μ, Σ) by blocks. With
// the precision Q = Σ⁻¹ the full conditional of block b is
//
//	x_b | x_{−b} ~ N(μ_b − Q_bb⁻¹ Q_{b,−b} (x_{−b} − μ_{−b}), Q_bb⁻¹)
//
// In two dimensions with correlation ρ the lag-1 autocorrelation of each
// coordinate is ρ² per sweep and its autocorrelation time (1+ρ²)/(1−ρ²):
// strong correlation means tiny steps along the axes. One block of all
// coordinates draws independently.
//
// Cost per step: O(d²), and it allocates nothing after the first.
//
// Notes 000, §5.4 (blocks of 1, 2, 4); the axis-parallel path is the figure
// of notes 004, “Gibbs Sampling in Action”.
type GaussianGibbs struct {
	Mean []float64     // μ, d
	Cov  mat.Symmetric // Σ, d×d, positive definite

	// Blocks are the coordinates of each block. nil means one block for each
	// coordinate.
	Blocks [][]int

	// Scan is the order of the blocks. The zero value is Systematic.
	Scan Scan

	blocks []gaussianBlock
	buf    [2][]float64
	z      []float64
}

// gaussianBlock is x_b ~ N(μ_b + gain·(x − μ), LLᵀ).
type gaussianBlock struct {
	at    []int
	gain  []float64 // |b|×d by rows, zero in the columns of the block
	lower []float64 // |b|×|b| by rows
}

// Step redraws every block once.
func (g *GaussianGibbs) Step(rng *rand.Rand, x []float64) ([]float64, Info) {
	info := Info{LogDensity: math.NaN(), Acceptance: 1, Accepted: true}
	if g.blocks == nil {
		if err := g.init(); err != nil {
			info.Err = err
			return x, info
		}
	}
	if len(x) != len(g.Mean) {
		info.Err = &lvm.ShapeError{Op: "sampling.GaussianGibbs", What: "length of the state", Got: len(x), Want: len(g.Mean)}
		return x, info
	}
	for j, v := range x {
		if v-v != 0 {
			info.Err = &lvm.DataError{Op: "sampling.GaussianGibbs", Row: -1, Col: j, Problem: fmt.Sprintf("the state is %v", v), Try: "a finite start"}
			return x, info
		}
	}
	y := nextBuffer(&g.buf, x)
	for i := range g.blocks {
		if g.Scan == RandomScan {
			i = rng.IntN(len(g.blocks))
		}
		g.redraw(rng, &g.blocks[i], y)
	}
	return y, info
}

func (g *GaussianGibbs) redraw(rng *rand.Rand, b *gaussianBlock, y []float64) {
	d, k := len(y), len(b.at)
	z, mean := g.z[:k], g.z[d:d+k]
	for i := range k {
		z[i] = rng.NormFloat64()
		mean[i] = g.Mean[b.at[i]]
		for j, w := range b.gain[i*d : (i+1)*d] {
			mean[i] += w * (y[j] - g.Mean[j])
		}
		for j, l := range b.lower[i*k : i*k+i+1] {
			mean[i] += l * z[j]
		}
	}
	for i, at := range b.at {
		y[at] = mean[i]
	}
}

func (g *GaussianGibbs) init() error {
	const op = "sampling.GaussianGibbs"
	d := len(g.Mean)
	for j, v := range g.Mean {
		if v-v != 0 {
			return &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("the mean is %v", v), Try: "a finite mean"}
		}
	}
	if _, err := lowerFactor(op, g.Cov, d); err != nil {
		return err
	}
	var chol mat.Cholesky
	var q mat.SymDense
	chol.Factorize(g.Cov)
	if err := chol.InverseTo(&q); err != nil {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "the covariance is singular to working precision", Try: "adding a small multiple of the identity"}
	}
	at := g.Blocks
	if at == nil {
		at = make([][]int, d)
		for i := range at {
			at[i] = []int{i}
		}
	}
	blocks := make([]gaussianBlock, len(at))
	for i, b := range at {
		block, err := newGaussianBlock(op, &q, b)
		if err != nil {
			return err
		}
		blocks[i] = block
	}
	g.blocks, g.z = blocks, make([]float64, 2*d)
	return nil
}

func newGaussianBlock(op string, q *mat.SymDense, at []int) (gaussianBlock, error) {
	d, k := q.SymmetricDim(), len(at)
	checkIndices("a block", at, d)
	b := gaussianBlock{at: at, gain: make([]float64, k*d)}
	qbb, rest := mat.NewSymDense(k, nil), mat.NewDense(k, d, nil)
	for i, r := range at {
		for j, c := range at {
			qbb.SetSym(i, j, q.At(r, c))
		}
		for j := range d {
			if !slices.Contains(at, j) {
				rest.Set(i, j, -q.At(r, j))
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(qbb) {
		return b, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the conditional precision of block %v is not positive definite", at), Try: "adding a small multiple of the identity to the covariance"}
	}
	gain := mat.NewDense(k, d, b.gain)
	var cov mat.SymDense
	if err := chol.SolveTo(gain, rest); err != nil {
		return b, err
	}
	if err := chol.InverseTo(&cov); err != nil {
		return b, err
	}
	var err error
	b.lower, err = lowerFactor(op, &cov, k)
	return b, err
}
