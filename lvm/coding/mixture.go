package coding

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Mixture codes rows that are rounded to a grid under a Gaussian mixture
//
//	p(x) = Σ_k π_k P(x | k),   P(x | k) = Π_j P(x_j | x_1 … x_{j−1}, k)
//
// where P(x_j | …) is the mass that the conditional Gaussian, given the centres of
// the bins of the columns before it, puts on the bin of x_j; the first and the last
// bin of an axis get what lies beyond. In the limit of a fine grid p(x) is the
// density times the volume of a bin.
//
// Sender and receiver need the same Mixture, bit for bit, and must compute alike:
// the same program on processors of one family. Where they do not, Decode refuses
// the message.
type Mixture struct {
	Model *clustering.GMM
	Grid  Grid
}

// coder is a Mixture made ready for many rows.
type coder struct {
	grid      Grid
	logWeight []float64 // ln π, k
	prior     *Table
	parts     []gaussian

	// scratch
	posterior *Table
	score     []float64 // k
	residual  []float64 // d: (x − mean)/sd of the columns so far
	slots     []slots   // d
}

type slots struct{ start, freq uint32 }

// gaussian is a component, column after column.
type gaussian struct {
	mean []float64
	chol num.Cholesky
}

// column returns mean and standard deviation of column j given the residuals of
// the columns before it: x = μ + L ε.
func (g *gaussian) column(j int, residual []float64) (mean, sd float64) {
	row := g.chol.L[num.PackedLen(j):]
	mean = g.mean[j]
	for i := range j {
		mean += row[i] * residual[i]
	}
	return mean, 1 / row[j]
}

// coder checks m and makes it ready.
func (m *Mixture) coder(op string) (*coder, error) {
	if m.Model == nil {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "there is no Model", Try: "clustering.FitGMM"}
	}
	if err := m.Model.Check(); err != nil {
		return nil, err
	}
	k, d := m.Model.Means.Dims()
	if err := m.Grid.check(op, d); err != nil {
		return nil, err
	}
	prior, err := NewTable(m.Model.Weights, precision)
	if err != nil {
		return nil, err
	}
	c := &coder{
		grid: m.Grid, prior: prior, posterior: &Table{Starts: make([]uint32, k+1), Precision: precision},
		score: make([]float64, k), residual: make([]float64, d), slots: make([]slots, d),
	}
	for k, w := range m.Model.Weights {
		g := gaussian{mean: m.Model.Means.RawRowView(k)}
		g.chol, _ = num.NewCholesky(m.Model.Covs[k])
		c.parts, c.logWeight = append(c.parts, g), append(c.logWeight, math.Log(w))
	}
	return c, nil
}

// ready returns the coder and the rows of x as bins.
func (m *Mixture) ready(op string, x mat.Matrix) (*coder, [][]int, error) {
	c, err := m.coder(op)
	if err != nil {
		return nil, nil, err
	}
	rows, err := m.Grid.rows(op, x)
	if err != nil {
		return nil, nil, err
	}
	bins := make([][]int, rows.N)
	for i := range bins {
		bins[i] = make([]int, rows.D)
		for j, v := range rows.Row(i) {
			bins[i][j] = m.Grid[j].bin(v)
		}
	}
	return c, bins, nil
}

// walk calls f for every column of a row with the mean and the standard deviation
// that component k gives it.
func (c *coder) walk(k int, row []int, f func(j int, mean, sd float64)) {
	for j := range row {
		mean, sd := c.parts[k].column(j, c.residual)
		f(j, mean, sd) // which may find out row[j]
		c.residual[j] = (c.grid[j].centre(row[j]) - mean) / sd
	}
}

// logJoint sets score to ln π_k P(x | k).
func (c *coder) logJoint(row []int) []float64 {
	for k := range c.score {
		c.score[k] = c.logWeight[k]
		c.walk(k, row, func(j int, mean, sd float64) { c.score[k] += c.grid[j].logMass(row[j], mean, sd) })
	}
	return c.score
}
