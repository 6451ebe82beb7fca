package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// NIW is the normal–inverse-Wishart distribution of the mean and the
// covariance of a Gaussian, its conjugate prior:
//
//	Σ   ~ inverse Wishart(Ψ, ν),   E[Σ] = Ψ/(ν−d−1)
//	μ|Σ ~ N(m, Σ/κ)
//
// The prior is worth κ rows for the mean and ν for the covariance. It is the
// same as the normal–Wishart distribution of μ and Λ = Σ⁻¹ with W = Ψ⁻¹.
//
// Its methods panic with a *lvm.DataError or *lvm.ShapeError unless κ > 0,
// ν > d−1, Ψ is positive definite and everything is finite; Check returns it.
//
// Source: Gelman et al. (2013), Bayesian Data Analysis, §3.6; Murphy (2007),
// Conjugate Bayesian analysis of the Gaussian distribution, §9; Bishop (2006),
// Pattern Recognition and Machine Learning, (B.79).
type NIW struct {
	Mean  []float64     // m, d
	Kappa float64       // κ
	Scale *mat.SymDense // Ψ, d×d
	Nu    float64       // ν
}

// DataNIW returns a weak prior in the units of the data: m and Ψ are the mean
// and the covariance of the rows, κ = 0.1 and ν = d+2, so that a cluster is
// expected anywhere among the rows, E[Σ] is the covariance of all, and a few
// rows overrule both.
//
// Data with a NaN, an infinity, a value beyond ±1e140, a constant column,
// columns that determine each other or no more different rows than columns is a
// *lvm.DataError.
func DataNIW(x mat.Matrix) (NIW, error) {
	const op = "clustering.DataNIW"
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return NIW{}, err
	}
	return dataNIW(op, data)
}

func dataNIW(op string, data weighted) (NIW, error) {
	cols, err := columnsOf(op, data)
	if err != nil {
		return NIW{}, err
	}
	s := newMoments(Full, mat.NewDense(1, data.D, cols.mean))
	for i, w := range data.w {
		s.add(0, w, data.Row(i))
	}
	p := NIW{Mean: cols.mean, Kappa: 0.1, Scale: s.scatter(0), Nu: float64(data.D) + 2}
	// Rounding makes the covariance of too few rows look positive definite. Its
	// correlations have a condition of 1e15 then, and beyond 1e12 a posterior has
	// hardly a digit left.
	correlation := mat.NewSymDense(data.D, nil)
	for i := range data.D {
		for j := range i + 1 {
			correlation.SetSym(i, j, p.Scale.At(i, j)/math.Sqrt(p.Scale.At(i, i))/math.Sqrt(p.Scale.At(j, j)))
		}
	}
	var chol mat.Cholesky
	if p.Check(data.D) != nil || !chol.Factorize(correlation) || chol.Cond() > 1e12 {
		return NIW{}, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "the covariance of the rows is not positive definite", Try: "dropping columns that others determine, more rows than columns, or a prior of your own"}
	}
	return p, nil
}

// Check returns what is wrong with the distribution as a prior for data with d
// columns: a *lvm.ShapeError or a *lvm.DataError.
func (p NIW) Check(d int) error { return p.check("clustering: NIW", "the prior", d) }

func (p NIW) check(op, name string, d int) error {
	if d == 0 {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: name + " is empty", Try: "giving Mean, Kappa, Scale and Nu, or DataNIW"}
	}
	if len(p.Mean) != d {
		return &lvm.ShapeError{Op: op, What: "columns in Mean of " + name, Got: len(p.Mean), Want: d}
	}
	if p.Scale == nil || p.Scale.SymmetricDim() != d {
		got := 0
		if p.Scale != nil {
			got = p.Scale.SymmetricDim()
		}
		return &lvm.ShapeError{Op: op, What: "rows in Scale of " + name, Got: got, Want: d}
	}
	for j, v := range p.Mean {
		if v-v != 0 {
			return &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("the Mean of %s is %v", name, v), Try: "a finite mean"}
		}
	}
	if err := checkPositive(op, "Kappa of "+name, p.Kappa); err != nil {
		return err
	}
	if !(p.Nu > float64(d)-1) || math.IsInf(p.Nu, 1) {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the Nu of %s is %v for %d columns", name, p.Nu, d), Try: fmt.Sprintf("more than %d; %d gives the covariance a mean", d-1, d+2)}
	}
	if _, ok := num.NewCholesky(p.Scale); !ok {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "the Scale of " + name + " is not positive definite", Try: "a covariance matrix, such as that of all rows"}
	}
	return nil
}

// clone returns a copy that shares nothing with p.
func (p NIW) clone() NIW {
	own := mat.NewSymDense(len(p.Mean), nil)
	own.CopySym(p.Scale)
	p.Mean, p.Scale = slices.Clone(p.Mean), own
	return p
}

// mustCheck panics with what check returns, and returns the factor of Ψ.
func (p NIW) mustCheck(name string) num.Cholesky {
	if err := p.check("clustering: NIW."+name, "the distribution", len(p.Mean)); err != nil {
		panic(err)
	}
	c, _ := num.NewCholesky(p.Scale)
	return c
}

// Posterior returns the distribution of μ and Σ given n rows of N(μ, Σ), with x̄
// their mean:
//
//	κ' = κ+n,  ν' = ν+n,  m' = (κm + n x̄)/κ',
//	Ψ' = Ψ + Σ_i (x_i−x̄)(x_i−x̄)ᵀ + (κn/κ') (x̄−m)(x̄−m)ᵀ
//
// It panics with a *lvm.ShapeError if x has another width.
func (p NIW) Posterior(x mat.Matrix) NIW {
	p.mustCheck("Posterior")
	n, d := x.Dims()
	if n > 0 && d != len(p.Mean) {
		panic(&lvm.ShapeError{Op: "clustering: NIW.Posterior", What: "columns of x", Got: d, Want: len(p.Mean)})
	}
	rows, mean := num.RowsOf(x), make([]float64, len(p.Mean))
	for i := range n {
		for j, v := range rows.Row(i) {
			mean[j] += v / float64(n)
		}
	}
	s := newMoments(Full, mat.NewDense(1, len(mean), mean))
	for i := range n {
		s.add(0, 1, rows.Row(i))
	}
	return p.given(s, 0)
}

// given is Posterior for rows of which the moments of component c are known.
func (p NIW) given(s *moments, c int) NIW {
	d, n := s.d, s.weight[c]
	q := NIW{Mean: make([]float64, d), Kappa: p.Kappa + n, Nu: p.Nu + n, Scale: mat.NewSymDense(d, nil)}
	q.Scale.CopySym(p.Scale)
	copy(q.Mean, p.Mean)
	if !(n > 0) {
		return q
	}
	origin, first, second := s.origin.RawRowView(c), s.first[c*d:][:d], s.second[c*s.perComp:]
	away := make([]float64, d) // x̄ − m
	for j := range away {
		away[j] = origin[j] + first[j]/n - p.Mean[j]
		q.Mean[j] += n / q.Kappa * away[j]
	}
	shrink := p.Kappa * (n / q.Kappa)
	for i := range d {
		for j, v := range second[num.PackedLen(i):][:i+1] {
			v += shrink*away[i]*away[j] - first[i]*(first[j]/n)
			q.Scale.SetSym(i, j, q.Scale.At(i, j)+v)
		}
	}
	return q
}

// LogMarginal returns ln p(x), the evidence of all rows of x together with μ
// and Σ integrated out; 0 for no rows.
//
//	p(x) = π^{−nd/2} Γ_d(ν'/2)/Γ_d(ν/2) · |Ψ|^{ν/2}/|Ψ'|^{ν'/2} · (κ/κ')^{d/2}
func (p NIW) LogMarginal(x mat.Matrix) float64 {
	prior := p.mustCheck("LogMarginal")
	q := p.Posterior(x)
	post, ok := num.NewCholesky(q.Scale)
	if !ok {
		return math.NaN() // x is not finite
	}
	n, _ := x.Dims()
	d := len(p.Mean)
	return 0.5*float64(d)*(math.Log(p.Kappa/q.Kappa)-float64(n)*math.Log(math.Pi)) +
		lgammaMulti(q.Nu/2, d) - lgammaMulti(p.Nu/2, d) +
		0.5*p.Nu*prior.LogDet - 0.5*q.Nu*post.LogDet
}

// lgammaMulti returns ln Γ_d(a) without the constant d(d−1)/4 · ln π, which
// cancels wherever it is used.
func lgammaMulti(a float64, d int) float64 {
	var l float64
	for i := range d {
		l += lgamma(a - float64(i)/2)
	}
	return l
}

// Predictive returns the density of one row with μ and Σ integrated out: a
// Student-t with ν−d+1 degrees of freedom, about m, with the scale
// Ψ (κ+1)/(κ(ν−d+1)).
func (p NIW) Predictive() *StudentMixture {
	p.mustCheck("Predictive")
	return predictive([]float64{1}, []NIW{p})
}

// predictive returns the mixture of what the components predict.
func predictive(weights []float64, components []NIW) *StudentMixture {
	k, d := len(components), len(components[0].Mean)
	m := &StudentMixture{Weights: weights, Means: mat.NewDense(k, d, nil)}
	for c, p := range components {
		df := p.Nu - float64(d) + 1
		scale := mat.NewSymDense(d, nil)
		scale.ScaleSym((p.Kappa+1)/(p.Kappa*df), p.Scale)
		m.Means.SetRow(c, p.Mean)
		m.Scales, m.DF = append(m.Scales, scale), append(m.DF, df)
	}
	return m
}

// Draw draws a mean and a covariance. It panics if rng is nil.
//
// With Ψ = LLᵀ and A lower triangular, a_ii² ~ χ²(ν−i) for i = 0, 1, … and
// a_ij ~ N(0, 1) below, L A⁻ᵀ A⁻¹ Lᵀ is inverse Wishart (Bartlett 1933).
func (p NIW) Draw(rng *rand.Rand) (mean []float64, cov *mat.SymDense) {
	p.mustCheck("Draw")
	checkRand("NIW.Draw", rng)
	d := len(p.Mean)
	var chol mat.Cholesky
	chol.Factorize(p.Scale)
	var upper mat.TriDense
	chol.UTo(&upper)
	root := mat.DenseCopyOf(&upper) // becomes A⁻¹ Lᵀ, by forward substitution
	for i := range d {
		row := root.RawRowView(i)
		for j := range i {
			a := rng.NormFloat64()
			for c := range row {
				row[c] -= a * root.At(j, c)
			}
		}
		chi := math.Sqrt(distuv.Gamma{Alpha: (p.Nu - float64(i)) / 2, Beta: 0.5, Src: rng}.Rand())
		for c := range row {
			row[c] /= chi
		}
	}
	cov = mat.NewSymDense(d, nil)
	cov.SymOuterK(1, root.T())
	mean = append([]float64(nil), p.Mean...)
	for i := range d {
		e := rng.NormFloat64() / math.Sqrt(p.Kappa)
		for j, v := range root.RawRowView(i) {
			mean[j] += e * v
		}
	}
	return mean, cov
}

// MeanLogDet returns E[ln |Σ⁻¹|] = Σ_{i=0}^{d−1} ψ((ν−i)/2) + d ln 2 − ln |Ψ|.
func (p NIW) MeanLogDet() float64 {
	return p.meanLogDet(p.mustCheck("MeanLogDet").LogDet)
}

func (p NIW) meanLogDet(logDet float64) float64 {
	d := len(p.Mean)
	e := float64(d)*math.Ln2 - logDet
	for i := range d {
		e += mathext.Digamma((p.Nu - float64(i)) / 2)
	}
	return e
}

// KL returns the Kullback–Leibler divergence of q from p, E_q[ln q(μ,Σ)/p(μ,Σ)] ≥ 0.
// It panics with a *lvm.ShapeError if they differ in dimension.
//
// Source: Bishop (2006), Pattern Recognition and Machine Learning, (10.74)
// and (10.77), the difference of the two.
func (q NIW) KL(p NIW) float64 {
	cq, cp := q.mustCheck("KL"), p.mustCheck("KL")
	if len(p.Mean) != len(q.Mean) {
		panic(&lvm.ShapeError{Op: "clustering: NIW.KL", What: "columns", Got: len(p.Mean), Want: len(q.Mean)})
	}
	return q.kl(p, cq, cp)
}

// kl is KL given the factors of both scales.
func (q NIW) kl(p NIW, cq, cp num.Cholesky) float64 {
	d := len(q.Mean)
	away := make([]float64, d)
	for j := range away {
		away[j] = q.Mean[j] - p.Mean[j]
	}
	column := make([]float64, d)
	far, trace := squareBy(cq, away), 0.0 // (m_q−m_p)ᵀΨ_q⁻¹(m_q−m_p) and tr(Ψ_q⁻¹Ψ_p)
	for j := range d {
		// Ψ_p = LLᵀ, and the trace is the sum of the squared lengths of L_q⁻¹L_p.
		clear(column)
		column[j] = 1 / cp.L[num.PackedLen(j+1)-1]
		for i := j + 1; i < d; i++ {
			column[i] = cp.L[num.PackedLen(i)+j]
		}
		trace += squareBy(cq, column)
	}
	wishart := 0.5*q.Nu*cq.LogDet - 0.5*p.Nu*cp.LogDet - 0.5*(q.Nu-p.Nu)*float64(d)*math.Ln2 -
		lgammaMulti(q.Nu/2, d) + lgammaMulti(p.Nu/2, d) +
		0.5*(q.Nu-p.Nu)*q.meanLogDet(cq.LogDet) + 0.5*q.Nu*(trace-float64(d))
	r := p.Kappa / q.Kappa
	normal := 0.5*float64(d)*(r-1-math.Log(r)) + 0.5*p.Kappa*q.Nu*far
	return wishart + normal
}

// squareBy returns vᵀΨ⁻¹v, and spoils v.
func squareBy(c num.Cholesky, v []float64) (q float64) {
	for i := range v {
		row := c.L[num.PackedLen(i):][:i+1]
		for j, z := range v[:i] {
			v[i] -= row[j] * z
		}
		v[i] *= row[i]
		q += v[i] * v[i]
	}
	return q
}
