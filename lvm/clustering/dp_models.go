package clustering

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/sampling"
)

// PoissonLogNormal is a [ClusterModel] of counts, with a prior of the rates that is
// not conjugate. Every column is on its own:
//
//	θ_j   ~ N(m_j, s_j²)        log rate
//	x_j|θ ~ Poisson(exp θ_j)
type PoissonLogNormal struct {
	Mean []float64 // m, d
	SD   []float64 // s, d, positive
}

// Check returns what is wrong with the model for data with d columns: a
// *lvm.ShapeError or a *lvm.DataError.
func (p PoissonLogNormal) Check(d int) error {
	return checkColumns("clustering: PoissonLogNormal", d, p.Mean, map[string][]float64{"SD": p.SD})
}

// Draw draws log rates, d of them.
func (p PoissonLogNormal) Draw(rng *rand.Rand) []float64 {
	theta := make([]float64, len(p.Mean))
	for j, m := range p.Mean {
		theta[j] = m + p.SD[j]*rng.NormFloat64()
	}
	return theta
}

// LogProb returns ln p(x | θ), −Inf unless x holds counts.
func (p PoissonLogNormal) LogProb(theta, x []float64) float64 {
	var l float64
	for j, v := range x {
		if v < 0 || v != math.Floor(v) {
			return math.Inf(-1)
		}
		l += v*theta[j] - math.Exp(theta[j]) - lgamma(v+1)
	}
	return l
}

// Update redraws each log rate by slice sampling.
func (p PoissonLogNormal) Update(rng *rand.Rand, theta []float64, rows [][]float64) []float64 {
	sums := make([]float64, len(theta))
	for _, row := range rows {
		for j, v := range row {
			sums[j] += v
		}
	}
	slice := sampling.Slice{Widths: p.SD, LogDensity: func(theta []float64) float64 {
		var l float64
		for j, t := range theta {
			z := (t - p.Mean[j]) / p.SD[j]
			l += sums[j]*t - float64(len(rows))*math.Exp(t) - 0.5*z*z
		}
		return l
	}}
	next, _ := slice.Step(rng, theta)
	return sampling.Copy(next)
}

// DiagonalGaussian is a [ClusterModel] of independent columns in which mean and
// precision of a column have independent priors: not conjugate together, though each
// is given the other.
//
//	μ_j ~ N(m_j, s_j²),   τ_j ~ Gamma(a, b_j),   x_j | μ_j, τ_j ~ N(μ_j, 1/τ_j)
//
// In contrast to [NIW], where a narrow cluster has a narrow prior of its mean.
type DiagonalGaussian struct {
	Mean  []float64 // m, d
	SD    []float64 // s, d, positive
	Shape float64   // a, positive
	Rate  []float64 // b, d, positive
}

// DiagonalParams are the parameters of one cluster of DiagonalGaussian.
type DiagonalParams struct {
	Mean      []float64 // μ, d
	Precision []float64 // τ, d
}

// Check returns what is wrong with the model for data with d columns: a
// *lvm.ShapeError or a *lvm.DataError.
func (p DiagonalGaussian) Check(d int) error {
	const op = "clustering: DiagonalGaussian"
	if err := checkPositive(op, "Shape", p.Shape); err != nil {
		return err
	}
	return checkColumns(op, d, p.Mean, map[string][]float64{"SD": p.SD, "Rate": p.Rate})
}

// checkColumns checks d means and as many positive numbers of other kinds.
func checkColumns(op string, d int, mean []float64, positive map[string][]float64) error {
	if len(mean) != d {
		return &lvm.ShapeError{Op: op, What: "columns in Mean", Got: len(mean), Want: d}
	}
	for j, v := range mean {
		if v-v != 0 {
			return &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("the Mean is %v", v), Try: "a finite mean"}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(positive)) {
		if got := len(positive[name]); got != d {
			return &lvm.ShapeError{Op: op, What: "columns in " + name, Got: got, Want: d}
		}
		for j, v := range positive[name] {
			if err := checkPositive(op, fmt.Sprintf("%s of column %d", name, j), v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Draw draws means and precisions.
func (p DiagonalGaussian) Draw(rng *rand.Rand) DiagonalParams {
	d := len(p.Mean)
	theta := DiagonalParams{make([]float64, d), make([]float64, d)}
	for j := range d {
		theta.Mean[j] = p.Mean[j] + p.SD[j]*rng.NormFloat64()
		tau := distuv.Gamma{Alpha: p.Shape, Beta: p.Rate[j], Src: rng}.Rand()
		theta.Precision[j] = max(tau, 0x1p-1022) // with a small shape it can underflow
	}
	return theta
}

// LogProb returns ln p(x | θ).
func (p DiagonalGaussian) LogProb(theta DiagonalParams, x []float64) float64 {
	l := -0.5 * float64(len(x)) * math.Log(2*math.Pi)
	for j, v := range x {
		t := v - theta.Mean[j]
		l += 0.5 * (math.Log(theta.Precision[j]) - theta.Precision[j]*t*t)
	}
	return l
}

// Update redraws each mean given its precision, and then the precision given
// the mean.
func (p DiagonalGaussian) Update(rng *rand.Rand, theta DiagonalParams, rows [][]float64) DiagonalParams {
	n, d := float64(len(rows)), len(p.Mean)
	next := DiagonalParams{make([]float64, d), make([]float64, d)}
	for j := range d {
		prior, tau := 1/(p.SD[j]*p.SD[j]), theta.Precision[j]
		var sum, square float64
		for _, row := range rows {
			sum += row[j]
		}
		total := prior + n*tau
		mu := (prior*p.Mean[j]+tau*sum)/total + rng.NormFloat64()/math.Sqrt(total)
		for _, row := range rows {
			square += (row[j] - mu) * (row[j] - mu)
		}
		next.Mean[j] = mu
		next.Precision[j] = distuv.Gamma{Alpha: p.Shape + n/2, Beta: p.Rate[j] + square/2, Src: rng}.Rand()
	}
	return next
}
