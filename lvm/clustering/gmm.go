package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// Shape says which covariances a Gaussian mixture may have.
type Shape int

const (
	Full      Shape = iota // every component its own Σ_k
	Tied                   // one Σ for all components
	Diagonal               // Σ_k diagonal: ellipses along the axes
	Spherical              // Σ_k = σ_k² I: circles
)

// String returns the name of the shape.
func (s Shape) String() string {
	switch s {
	case Full:
		return "full"
	case Tied:
		return "tied"
	case Diagonal:
		return "diagonal"
	case Spherical:
		return "spherical"
	}
	return fmt.Sprintf("Shape(%d)", int(s))
}

// GMM is a mixture of k Gaussians in d dimensions.
//
//	z    ~ Categorical(π_1, …, π_k)          the component of a row, hidden
//	x|z  ~ N(μ_z, Σ_z)
//	p(x) = Σ_k π_k N(x | μ_k, Σ_k)
//
// A GMM can be written by hand. Its methods check it: the weights sum to one
// within 1e-6, and every Σ_k is positive definite and of the Shape. Step
// returns what is wrong as an error; the methods without an error result
// panic with that error, a *lvm.DataError, *lvm.ShapeError or
// *lvm.DegenerateError, and with a *lvm.ShapeError if x has another width.
//
// Log-likelihoods are sums of log densities, in nats. A density has the unit
// 1/(units of the columns), so in small units it can exceed one and its log
// can be positive.
//
// Source: McLachlan and Peel (2000), Finite Mixture Models, ch. 3; Pilikos,
// Unsupervised Learning, §2.2.
type GMM struct {
	Weights []float64       // π, k, sum to one
	Means   *mat.Dense      // μ, k×d
	Covs    []*mat.SymDense // Σ_k, d×d each whatever the Shape; for Tied all equal
	Shape   Shape

	// Floor holds the smallest variance per column, each above zero: Step
	// chooses among the covariances with Σ_k ≽ diag(Floor), meaning that no
	// direction has less variance than the floor grants it. nil: no floor.
	Floor []float64
}

// Sample draws n rows with the components that they came from.
// It panics if rng is nil or n is negative.
func (m *GMM) Sample(rng *rand.Rand, n int) (z []int, x *mat.Dense) {
	if rng == nil {
		panic("clustering: GMM.Sample with a nil generator")
	}
	if n < 0 {
		panic(fmt.Sprintf("clustering: GMM.Sample with n = %d", n))
	}
	if err := m.check("clustering: GMM.Sample"); err != nil {
		panic(err)
	}
	if n == 0 {
		return nil, &mat.Dense{}
	}
	d := m.dim()
	lower := make([]mat.TriDense, len(m.Covs))
	for k, cov := range m.Covs {
		var f mat.Cholesky
		if !f.Factorize(cov) {
			panic(notPositive("clustering: GMM.Sample", k, m.Floor != nil))
		}
		f.LTo(&lower[k])
	}
	last := len(m.Weights) - 1
	for m.Weights[last] == 0 {
		last-- // u can exceed a sum that was rounded
	}
	z, x = make([]int, n), mat.NewDense(n, d, nil)
	noise := mat.NewVecDense(d, nil)
	for i := range n {
		u, k := rng.Float64(), 0
		for ; k < last && u >= m.Weights[k]; k++ {
			u -= m.Weights[k]
		}
		for j := range d {
			noise.SetVec(j, rng.NormFloat64())
		}
		row := x.RowView(i).(*mat.VecDense)
		row.MulVec(&lower[k], noise)
		row.AddVec(row, m.Means.RowView(k))
		z[i] = k
	}
	return z, x
}

func (m *GMM) dim() int {
	_, d := m.Means.Dims()
	return d
}

// clone returns a copy that shares nothing with m.
func (m *GMM) clone() *GMM {
	c := &GMM{Weights: slices.Clone(m.Weights), Means: mat.DenseCopyOf(m.Means), Shape: m.Shape, Floor: slices.Clone(m.Floor)}
	for _, s := range m.Covs {
		own := mat.NewSymDense(s.SymmetricDim(), nil)
		own.CopySym(s)
		c.Covs = append(c.Covs, own)
	}
	return c
}

// Check returns what is wrong with m, nil if nothing is: the error with which the
// other methods panic.
func (m *GMM) Check() error {
	_, err := m.densities("clustering.GMM.Check")
	return err
}

// check reports what is wrong with m apart from covariances that are not
// positive definite.
func (m *GMM) check(op string) error {
	k := len(m.Weights)
	if k == 0 || m.Means == nil || m.Means.IsEmpty() {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "the mixture has no components", Try: "giving Weights, Means and Covs, or FitGMM"}
	}
	rows, d := m.Means.Dims()
	if rows != k {
		return &lvm.ShapeError{Op: op, What: "rows of Means", Got: rows, Want: k}
	}
	if len(m.Covs) != k {
		return &lvm.ShapeError{Op: op, What: "matrices in Covs", Got: len(m.Covs), Want: k}
	}
	if m.Floor != nil && len(m.Floor) != d {
		return &lvm.ShapeError{Op: op, What: "variances in Floor", Got: len(m.Floor), Want: d}
	}
	for j, f := range m.Floor {
		if !(f > 0) || math.IsInf(f, 1) {
			return &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("the variance in Floor is %v", f), Try: "a positive number, or a nil Floor"}
		}
	}
	if m.Shape < Full || m.Shape > Spherical {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("%v is not a shape", m.Shape), Try: "Full, Tied, Diagonal or Spherical"}
	}
	if err := checkMixing(op, m.Weights); err != nil {
		return err
	}
	for k := range m.Covs {
		if err := m.checkComponent(op, k, d); err != nil {
			return err
		}
	}
	return nil
}

// checkMixing reports what is wrong with the weights of components.
func checkMixing(op string, weights []float64) error {
	var sum float64
	for k, w := range weights {
		if !(w >= 0) {
			return &lvm.DegenerateError{Op: op, Component: k, Problem: fmt.Sprintf("has the weight %v", w), Try: "weights between 0 and 1"}
		}
		sum += w
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the weights of the components sum to %.9g", sum), Try: "dividing them by that"}
	}
	return nil
}

func (m *GMM) checkComponent(op string, k, d int) error {
	for _, v := range m.Means.RawRowView(k) {
		if v-v != 0 {
			return &lvm.DegenerateError{Op: op, Component: k, Problem: fmt.Sprintf("has %v in its mean", v), Try: "finite means"}
		}
	}
	cov := m.Covs[k]
	if cov == nil || cov.SymmetricDim() != d {
		got := 0
		if cov != nil {
			got = cov.SymmetricDim()
		}
		return &lvm.ShapeError{Op: op, What: fmt.Sprintf("rows of Covs[%d]", k), Got: got, Want: d}
	}
	for i := range d {
		for j := range i + 1 {
			v := cov.At(i, j)
			switch {
			case v-v != 0:
				return &lvm.DegenerateError{Op: op, Component: k, Problem: fmt.Sprintf("has %v in its covariance", v), Try: "finite covariances"}
			case m.Shape == Tied && v != m.Covs[0].At(i, j):
				return &lvm.DegenerateError{Op: op, Component: k, Problem: "has another covariance than component 0, but the shape is tied", Try: "Shape: Full"}
			case m.Shape >= Diagonal && i != j && v != 0:
				return &lvm.DegenerateError{Op: op, Component: k, Problem: fmt.Sprintf("has a covariance that is not %v", m.Shape), Try: "Shape: Full"}
			case m.Shape == Spherical && i == j && v != cov.At(0, 0):
				return &lvm.DegenerateError{Op: op, Component: k, Problem: "has variances that differ, but the shape is spherical", Try: "Shape: Diagonal"}
			}
		}
	}
	return nil
}

// notPositive is the error for a covariance that has collapsed.
func notPositive(op string, k int, floor bool) error {
	try := "a Floor, fewer components, another Shape, or dropping columns that others determine"
	if floor {
		try = "a higher Floor, or dropping columns that others determine"
	}
	return &lvm.DegenerateError{Op: op, Component: k, Problem: "has a covariance that is not positive definite: in some direction its rows do not vary", Try: try}
}
