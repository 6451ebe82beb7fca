package clustering

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// GMMGradient holds the derivatives of the log-likelihood ℓ of a mixture with
// respect to coordinates in which every point is a mixture of its shape:
//
//	π   = softmax(ρ)
//	Σ_k = F + L_k L_kᵀ,   L_k lower triangular with diagonal exp(λ_k)
//
// F is zero without a Floor; with one it is 0.999·diag(Floor), so that a
// mixture on its floor has coordinates too and any other keeps the floor to a
// thousandth. With γ the responsibilities, N_k their sums, and
// S_k = Σ_i γ_ik (x_i − μ_k)(x_i − μ_k)ᵀ:
//
//	∂ℓ/∂ρ_k  = N_k − n π_k
//	∂ℓ/∂μ_k  = Σ_k⁻¹ Σ_i γ_ik (x_i − μ_k)
//	∂ℓ/∂L_k  = 2 (∂ℓ/∂Σ_k) L_k,   below the diagonal, and times L_jj on it
//	∂ℓ/∂Σ_k  = ½ (Σ_k⁻¹ S_k Σ_k⁻¹ − N_k Σ_k⁻¹)
//
// The derivative with respect to the precision is ∂ℓ/∂Σ_k⁻¹ = ½ (N_k Σ_k − S_k);
// both count σ_ij and σ_ji as two.
//
// Source: Ghahramani, Unsupervised Learning, week 2, (1)–(2), which leaves out
// that the weights sum to one; Englebienne, Machine Learning: Pattern
// Recognition, §7.4, where (7.14) is the derivative with respect to Σ but
// labelled as that with respect to Σ⁻¹.
type GMMGradient struct {
	Logits  []float64       // ∂ℓ/∂ρ, k; they sum to zero
	Means   *mat.Dense      // ∂ℓ/∂μ, k×d
	Factors []*mat.TriDense // ∂ℓ/∂L_k, d×d lower triangular, on the diagonal ∂ℓ/∂λ_k

	// Shape is that of the mixture. Tied has one L, and the Factors are all
	// equal. Spherical has one λ_k per component, and its derivative stands
	// everywhere on the diagonal.
	Shape Shape
}

// Norm returns the Euclidean length of the gradient, each coordinate counted
// once. It is zero at a maximum, and at every other fixed point of EM at which no
// floor holds a covariance up.
func (g *GMMGradient) Norm() float64 {
	squares := floats.Dot(g.Logits, g.Logits)
	for k, f := range g.Factors {
		mean := g.Means.RawRowView(k)
		squares += floats.Dot(mean, mean)
		if g.Shape == Tied && k > 0 {
			continue
		}
		d, _ := f.Dims()
		if g.Shape == Spherical {
			d = 1
		}
		for i := range d {
			for j := range i + 1 {
				squares += f.At(i, j) * f.At(i, j)
			}
		}
	}
	return math.Sqrt(squares)
}

// Gradient returns the gradient of the log-likelihood of x.
//
// The errors are those of Step, and a *lvm.DegenerateError for a covariance that
// does not keep to the Floor.
//
// Cost: that of Step.
func (m *GMM) Gradient(x mat.Matrix) (*GMMGradient, error) {
	const op = "clustering.GMM.Gradient"
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return nil, err
	}
	_, s, _, err := newEM(op, data).expect(m)
	if err != nil {
		return nil, err
	}
	return m.gradient(op, s)
}

// gradient returns the gradient, given the moments about the means.
func (m *GMM) gradient(op string, s *moments) (*GMMGradient, error) {
	g := &GMMGradient{Logits: slices.Clone(s.weight), Means: mat.NewDense(s.k, s.d, nil), Shape: m.Shape}
	floats.AddScaled(g.Logits, -floats.Sum(s.weight), m.Weights)
	for k, n := range s.weight {
		first, second := s.first[k*s.d:][:s.d], s.second[k*s.perComp:][:s.perComp]
		if m.Shape == Tied {
			n, second = floats.Sum(s.weight), s.pooled()
		}
		c, err := m.coordinates(op, k)
		if err != nil {
			return nil, err
		}
		g.Factors = append(g.Factors, c.slopes(n, second))
		g.Means.SetRow(k, c.solve(first))
	}
	return g, nil
}

// pooled returns the second moments of all components together.
func (s *moments) pooled() []float64 {
	all := make([]float64, s.perComp)
	for k := range s.k {
		floats.Add(all, s.second[k*s.perComp:][:s.perComp])
	}
	return all
}

// coordinates are those of one covariance, Σ = F + L Lᵀ.
type coordinates struct {
	shape  Shape
	cov    *mat.SymDense
	chol   mat.Cholesky  // of Σ; not used if L is diagonal
	floor  []float64     // F, a diagonal
	factor *mat.TriDense // L
}

func (m *GMM) coordinates(op string, k int) (*coordinates, error) {
	d := m.dim()
	c := &coordinates{shape: m.Shape, cov: m.Covs[k], floor: make([]float64, d), factor: mat.NewTriDense(d, mat.Lower, nil)}
	for j, f := range m.Floor {
		if m.Shape == Spherical {
			f = slices.Max(m.Floor)
		}
		c.floor[j] = 0.999 * f
	}
	ok := true
	if m.Shape >= Diagonal {
		for j, f := range c.floor {
			c.factor.SetTri(j, j, math.Sqrt(c.cov.At(j, j)-f))
			ok = ok && c.cov.At(j, j) > f
		}
	} else {
		above := mat.NewSymDense(d, nil)
		above.CopySym(c.cov)
		for j, f := range c.floor {
			above.SetSym(j, j, above.At(j, j)-f)
		}
		var l mat.Cholesky
		if ok = c.chol.Factorize(c.cov) && l.Factorize(above); ok {
			l.LTo(c.factor)
		}
	}
	if !ok {
		return nil, &lvm.DegenerateError{Op: op, Component: k, Problem: "has a covariance below the Floor", Try: "a lower Floor, or Step, which raises it"}
	}
	return c, nil
}

// solve returns Σ⁻¹ v.
func (c *coordinates) solve(v []float64) []float64 {
	to := slices.Clone(v)
	if c.shape >= Diagonal {
		for j := range to {
			to[j] /= c.cov.At(j, j)
		}
		return to
	}
	b := mat.NewVecDense(len(to), to)
	solved(c.chol.SolveVecTo(b, b))
	return to
}

// slopes returns ∂ℓ/∂L given N and the second moments S.
func (c *coordinates) slopes(n float64, second []float64) *mat.TriDense {
	d := c.cov.SymmetricDim()
	g := mat.NewTriDense(d, mat.Lower, nil)
	if c.shape >= Diagonal {
		var sum float64
		for j, s := range second {
			v, l := c.cov.At(j, j), c.factor.At(j, j)
			slope := (s/v - n) / v * l * l
			g.SetTri(j, j, slope)
			sum += slope
		}
		for j := 0; c.shape == Spherical && j < d; j++ {
			g.SetTri(j, j, sum)
		}
		return g
	}
	// 2 ∂ℓ/∂Σ = Σ⁻¹ (S Σ⁻¹ − N I)
	a, twice := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	for i := range d {
		for j, s := range second[num.PackedLen(i):][:i+1] {
			a.Set(i, j, s)
			a.Set(j, i, s)
		}
	}
	solved(c.chol.SolveTo(a, a))
	for j := range d {
		a.Set(j, j, a.At(j, j)-n)
	}
	solved(c.chol.SolveTo(twice, a.T()))
	var byL mat.Dense
	byL.Mul(twice, c.factor)
	for i := range d {
		for j := range i + 1 {
			g.SetTri(i, j, byL.At(i, j))
		}
		g.SetTri(i, i, byL.At(i, i)*c.factor.At(i, i))
	}
	return g
}

// solved lets pass that a matrix is ill-conditioned; expect has refused those
// that leave no digits.
func solved(err error) {
	if _, ill := err.(mat.Condition); err != nil && !ill {
		panic(err)
	}
}

// Ascend returns the mixture at ρ + rate·∂ℓ/∂ρ and so on in the coordinates of
// the gradient: for a small positive rate one with a larger log-likelihood.
// ℓ is a sum over the rows, so that the rate is like 1/n.
//
// Every rate leads to a mixture, up to those so large that a covariance
// overflows or becomes singular in floating point, which is a
// *lvm.DegenerateError. A gradient of another shape is a *lvm.ShapeError or
// *lvm.DataError.
func (m *GMM) Ascend(g *GMMGradient, rate float64) (*GMM, error) {
	const op = "clustering.GMM.Ascend"
	if _, err := m.densities(op); err != nil {
		return nil, err
	}
	if err := g.check(op, m); err != nil {
		return nil, err
	}
	next, err := m.ascend(op, g, rate)
	if err != nil {
		return nil, err
	}
	_, err = next.densities(op)
	if err != nil {
		return nil, fmt.Errorf("after a step of %v times the gradient: %w", rate, err)
	}
	return next, nil
}

func (g *GMMGradient) check(op string, m *GMM) error {
	if g.Shape != m.Shape {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the gradient is that of a %v mixture, and the mixture %v", g.Shape, m.Shape), Try: "the Gradient of this mixture"}
	}
	k, d := len(m.Weights), m.dim()
	var rows, cols int
	if g.Means != nil {
		rows, cols = g.Means.Dims()
	}
	for _, v := range []struct {
		what      string
		got, want int
	}{{"numbers in Logits", len(g.Logits), k}, {"rows of Means in the gradient", rows, k}, {"columns of Means in the gradient", cols, d}, {"matrices in Factors", len(g.Factors), k}} {
		if v.got != v.want {
			return &lvm.ShapeError{Op: op, What: v.what, Got: v.got, Want: v.want}
		}
	}
	for c, f := range g.Factors {
		n := 0
		if f != nil {
			n, _ = f.Dims()
		}
		if n != d {
			return &lvm.ShapeError{Op: op, What: fmt.Sprintf("rows of Factors[%d]", c), Got: n, Want: d}
		}
	}
	return nil
}

// ascend is Ascend without the checks.
func (m *GMM) ascend(op string, g *GMMGradient, rate float64) (*GMM, error) {
	next := m.clone()
	for k, w := range m.Weights {
		next.Weights[k] = math.Log(w) + rate*g.Logits[k]
	}
	total := num.LogSumExp(next.Weights)
	for k, l := range next.Weights {
		next.Weights[k] = math.Exp(l - total)
	}
	for k, f := range g.Factors {
		floats.AddScaled(next.Means.RawRowView(k), rate, g.Means.RawRowView(k))
		if m.Shape == Tied && k > 0 {
			next.Covs[k].CopySym(next.Covs[0])
			continue
		}
		c, err := m.coordinates(op, k)
		if err != nil {
			return nil, err
		}
		c.move(next.Covs[k], f, rate)
	}
	return next, nil
}

// move sets cov to the covariance at L + rate·g.
func (c *coordinates) move(cov *mat.SymDense, g *mat.TriDense, rate float64) {
	d := len(c.floor)
	l := mat.NewTriDense(d, mat.Lower, nil)
	for i := range d {
		for j := range i {
			l.SetTri(i, j, c.factor.At(i, j)+rate*g.At(i, j))
		}
		l.SetTri(i, i, c.factor.At(i, i)*math.Exp(rate*g.At(i, i)))
	}
	for i := range d {
		for j := range i + 1 {
			if c.shape >= Diagonal && i != j {
				continue
			}
			v := c.floor[j]
			if i != j {
				v = 0
			}
			for e := range j + 1 {
				v += l.At(i, e) * l.At(j, e)
			}
			cov.SetSym(i, j, v)
		}
	}
}
