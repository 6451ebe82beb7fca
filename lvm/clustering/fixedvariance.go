package clustering

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/kernels"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// FixedVariance is the prior of a round cluster of which the variance is known
// and the mean is not:
//
//	μ   ~ N(m, σ₀² I)
//	x|μ ~ N(μ, σ² I)
//
// Given n rows with mean x̄, μ is Gaussian again, with variance
// v = 1/(1/σ₀² + n/σ²) and mean v (m/σ₀² + n x̄/σ²).
//
// Source: Subakan, Latent Variable Models (CS598PS, 2017), variants 3 and 4,
// with m = 0.
type FixedVariance struct {
	Mean          []float64 // m, d
	PriorVariance float64   // σ₀²
	Variance      float64   // σ²
}

// Check returns what is wrong with the prior for data with d columns: a
// *lvm.ShapeError or a *lvm.DataError.
func (p FixedVariance) Check(d int) error { return p.check("clustering: FixedVariance", d) }

func (p FixedVariance) check(op string, d int) error {
	if len(p.Mean) != d {
		return &lvm.ShapeError{Op: op, What: "columns in Mean of the prior", Got: len(p.Mean), Want: d}
	}
	for j, v := range p.Mean {
		if v-v != 0 {
			return &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("the Mean of the prior is %v", v), Try: "a finite mean"}
		}
	}
	if err := checkPositive(op, "PriorVariance", p.PriorVariance); err != nil {
		return err
	}
	return checkPositive(op, "Variance", p.Variance)
}

// LogMarginal returns ln p(x), the evidence of all rows of x together with μ
// integrated out; 0 for no rows. It panics with what Check returns.
func (p FixedVariance) LogMarginal(x mat.Matrix) float64 {
	n, d := x.Dims()
	if n == 0 {
		return 0
	}
	c := p.mustCollapse(x)
	if d != len(p.Mean) {
		panic(&lvm.ShapeError{Op: "clustering: FixedVariance.LogMarginal", What: "columns of x", Got: d, Want: len(p.Mean)})
	}
	return c.marginal(0)
}

// nextRow returns N(x | v (m/σ₀² + n x̄/σ²), (σ²+v) I).
func (p FixedVariance) nextRow(x mat.Matrix) *StudentMixture {
	d := len(p.Mean)
	c := p.mustCollapse(x)
	mean, scale := mat.NewDense(1, d, nil), mat.NewSymDense(d, nil)
	v := c.posterior(mean.RawRowView(0), 0)
	for j := range d {
		scale.SetSym(j, j, p.Variance+v)
	}
	return &StudentMixture{Weights: []float64{1}, Means: mean, Scales: []*mat.SymDense{scale}, DF: []float64{math.Inf(1)}}
}

// mustCollapse returns all rows as the one cluster.
func (p FixedVariance) mustCollapse(x mat.Matrix) *roundClusters {
	if err := p.Check(len(p.Mean)); err != nil {
		panic(err)
	}
	rows := num.RowsOf(x)
	if rows.N == 0 {
		rows.D = len(p.Mean)
	}
	c := p.collapse(newGibbsData(rows)).(*roundClusters)
	c.grow(1)
	all := make([]int, rows.N)
	for i := range all {
		all[i] = i
	}
	c.fit(0, all)
	return c
}

// roundClusters are clusters with means of their own and the same variance.
type roundClusters struct {
	gibbsData
	FixedVariance

	size   []int
	mean   []float64 // x̄, slots × d
	spread []float64 // Σ ‖x−x̄‖²
	m      []float64
	ones   []float64
}

func (p FixedVariance) collapse(data gibbsData) clusters {
	c := &roundClusters{gibbsData: data, FixedVariance: p, m: make([]float64, data.D), ones: make([]float64, data.D)}
	for j := range c.ones {
		c.ones[j] = 1
	}
	return c
}

func (c *roundClusters) grow(slots int) {
	for len(c.size) < slots {
		c.size, c.spread = append(c.size, 0), append(c.spread, 0)
		c.mean = append(c.mean, make([]float64, c.D)...)
	}
}

func (c *roundClusters) rows(slot int) []float64 { return c.mean[slot*c.D:][:c.D] }

func (c *roundClusters) fit(slot int, rows []int) {
	c.size[slot], c.spread[slot] = len(rows), 0
	mean := c.rows(slot)
	clear(mean)
	for _, i := range rows {
		for j, v := range c.Row(i) {
			mean[j] += v / float64(len(rows))
		}
	}
	for _, i := range rows {
		c.spread[slot] += num.SqDist(c.Row(i), mean)
	}
}

func (c *roundClusters) add(slot, i int) {
	n, mean, x := float64(c.size[slot]), c.rows(slot), c.Row(i)
	c.spread[slot] += n / (n + 1) * num.SqDist(x, mean)
	for j, v := range x {
		mean[j] += (v - mean[j]) / (n + 1)
	}
	c.size[slot]++
}

func (c *roundClusters) remove(slot, i int) {
	n, mean, x := float64(c.size[slot]), c.rows(slot), c.Row(i)
	c.spread[slot] = max(0, c.spread[slot]-n/(n-1)*num.SqDist(x, mean))
	for j, v := range x {
		mean[j] -= (v - mean[j]) / (n - 1)
	}
	c.size[slot]--
}

// posterior sets m to the mean of μ given the rows of the slot, and returns its variance.
func (c *roundClusters) posterior(m []float64, slot int) (v float64) {
	n := float64(c.size[slot])
	v = c.PriorVariance / (1 + n*c.PriorVariance/c.Variance)
	pull := n * v / c.Variance // of x̄; the rest is that of the prior
	for j, x := range c.rows(slot) {
		m[j] = c.Mean[j] + pull*(x-c.Mean[j])
	}
	return v
}

func (c *roundClusters) predict(logp []float64, slot, block int) {
	v := c.Variance + c.posterior(c.m, slot)
	kernels.ScaledSquares(logp, c.block(block), c.m, c.ones)
	base := -0.5 * float64(c.D) * math.Log(2*math.Pi*v)
	for b, q := range logp {
		logp[b] = base - 0.5*q/v
	}
}

func (c *roundClusters) predictOwn(slot, i int) (float64, bool) {
	n, x := float64(c.size[slot]), c.Row(i)
	v := c.PriorVariance / (1 + (n-1)*c.PriorVariance/c.Variance)
	pull := (n - 1) * v / c.Variance
	var q float64
	for j, mean := range c.rows(slot) {
		others := mean - (x[j]-mean)/(n-1)
		t := x[j] - c.Mean[j] - pull*(others-c.Mean[j])
		q += t * t
	}
	v += c.Variance
	return -0.5*float64(c.D)*math.Log(2*math.Pi*v) - 0.5*q/v, true
}

func (c *roundClusters) marginal(slot int) float64 {
	n, d := float64(c.size[slot]), float64(c.D)
	total := c.Variance + n*c.PriorVariance // n times the variance of x̄, μ integrated out
	return -0.5 * (n*d*math.Log(2*math.Pi*c.Variance) + d*math.Log(total/c.Variance) +
		c.spread[slot]/c.Variance + n*num.SqDist(c.rows(slot), c.Mean)/total)
}
