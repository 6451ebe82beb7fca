package clustering

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// FreeEnergy is the lower bound on the log-likelihood ℓ(θ) that any
// responsibilities q give, in its parts, in nats:
//
//	F(q, θ) = Σ_i Σ_k q_ik ln( π_k N(x_i | μ_k, Σ_k) / q_ik ) = Expected + Entropy
//	ℓ(θ)    = F(q, θ) + Gap
//
// The E step of EM makes the Gap zero, with q = Posterior; the M step raises
// Expected and leaves Entropy as it is. Either way F rises, so EM is ascent in
// the coordinates q and θ by turns.
//
// In physics the free energy is −F.
//
// Source: Neal and Hinton (1998), A view of the EM algorithm that justifies
// incremental, sparse, and other variants; Lücke, Machine Learning I, §4, (80)
// and (88)–(92).
type FreeEnergy struct {
	Expected float64 // Q = Σ_i Σ_k q_ik ln π_k N(x_i | μ_k, Σ_k), the expected complete-data log-likelihood
	Entropy  float64 // H = −Σ_i Σ_k q_ik ln q_ik, from 0 for certain labels to n ln k
	Gap      float64 // Σ_i KL(q_i ‖ p(z | x_i, θ)), never negative
}

// Bound returns F = Expected + Entropy.
func (f FreeEnergy) Bound() float64 { return f.Expected + f.Entropy }

// FreeEnergy returns the free energy for the responsibilities q, n×k, which
// need not be the Posterior. A row that does not sum to one exactly is divided
// by its sum.
//
// If q gives rows to a component of weight zero, Expected is −Inf and Gap +Inf.
//
// A mixture that its methods refuse and data that is not finite are an error as
// in Step, and so is a row with density zero. q of another shape is a
// *lvm.ShapeError, and one that is negative, not finite or whose rows do not
// sum to one within 1e-6 is a *lvm.DataError.
//
// Cost: O(n·k·d²), for diagonal and spherical covariances O(n·k·d).
func (m *GMM) FreeEnergy(x, q mat.Matrix) (FreeEnergy, error) {
	const op = "clustering.GMM.FreeEnergy"
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return FreeEnergy{}, err
	}
	e := newEM(op, data)
	gs, err := e.prepare(m)
	if err != nil {
		return FreeEnergy{}, err
	}
	given, err := responsibilities(op, q, data.N, len(gs))
	if err != nil {
		return FreeEnergy{}, err
	}

	parts := make([]FreeEnergy, e.blocks.Count())
	e.blocks.Each(func(_, block, lo, hi int) {
		chunk, joint := newEStep(gs, data.N), make([]float64, len(gs))
		for ; lo < hi; lo += chunk.size {
			chunk.load(data.Rows, lo, min(hi, lo+chunk.size))
			chunk.joint()
			for b := range chunk.logProb {
				for k := range joint {
					joint[k] = chunk.of(k)[b]
				}
				parts[block].add(given.Row(lo+b), joint)
			}
		}
	})
	var f FreeEnergy
	for _, p := range parts {
		f.Expected += p.Expected
		f.Entropy += p.Entropy
		f.Gap += p.Gap
	}
	if math.IsNaN(f.Gap) {
		return FreeEnergy{}, e.outOfRange(m)
	}
	return f, nil
}

// add counts in a row with responsibilities q and log densities ln p(x, z=k).
func (f *FreeEnergy) add(q, joint []float64) {
	logP := num.LogSumExp(joint)
	var total, gap float64
	for _, v := range q {
		total += v
	}
	for k, v := range q {
		if v == 0 {
			continue // v ln v goes to zero with v
		}
		v /= total
		f.Expected += v * joint[k]
		f.Entropy -= v * math.Log(v)
		gap += v * (math.Log(v) - (joint[k] - logP))
	}
	f.Gap += max(0, gap) // it may be rounded below
}

// responsibilities returns the rows of q after checking that they are n
// distributions over k components.
func responsibilities(op string, q mat.Matrix, n, k int) (num.Rows, error) {
	rows, cols := q.Dims()
	if rows != n {
		return num.Rows{}, &lvm.ShapeError{Op: op, What: "rows of q", Got: rows, Want: n}
	}
	if cols != k {
		return num.Rows{}, &lvm.ShapeError{Op: op, What: "columns of q", Got: cols, Want: k}
	}
	r := num.RowsOf(q)
	for i := range n {
		var sum float64
		for c, v := range r.Row(i) {
			if !(v >= 0) || math.IsInf(v, 1) {
				return num.Rows{}, &lvm.DataError{Op: op, Row: i, Col: c, Problem: fmt.Sprintf("the responsibility is %v", v), Try: "probabilities, such as those of Posterior"}
			}
			sum += v
		}
		if !(math.Abs(sum-1) <= 1e-6) {
			return num.Rows{}, &lvm.DataError{Op: op, Row: i, Col: -1, Problem: fmt.Sprintf("the responsibilities sum to %.9g", sum), Try: "dividing them by that"}
		}
	}
	return r, nil
}
