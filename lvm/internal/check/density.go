package check

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// posteriorSums: every row of the posterior is a probability, however far from
// the data, and the label is where it is largest. A row with NaN gets NaN.
func posteriorSums[M any](m Model[M]) error {
	if m.Posterior == nil {
		return nil
	}
	at, err := m.start()
	if err != nil {
		return err
	}
	x := mat.DenseCopyOf(m.X)
	n, d := x.Dims()
	if !m.Discrete {
		x = mat.NewDense(n+2, d, nil)
		x.Copy(m.X)
		for j := range d {
			x.Set(n, j, 1e6)
			x.Set(n+1, j, -1e150)
		}
		n += 2
	}
	post, z := m.Posterior(at, x), m.Assign(at, x)
	if r, c := post.Dims(); r != n || c != m.K {
		return fmt.Errorf("the posterior of %d rows is %d×%d", n, r, c)
	}
	for i := range n {
		var sum float64
		row := post.RawRowView(i)
		for _, p := range row {
			sum += p
			if !(p >= 0) || p > row[z[i]] {
				return fmt.Errorf("row %d has the posterior %v and the label %d", i, row, z[i])
			}
		}
		if math.Abs(sum-1) > float64(m.K)*1e-15 {
			return fmt.Errorf("the posterior of row %d sums to 1 + %v", i, sum-1)
		}
	}
	for _, p := range m.Posterior(at, rowWithNaN(m.X)).RawRowView(1) {
		if !math.IsNaN(p) {
			return fmt.Errorf("a row with NaN has the posterior %v", p)
		}
	}
	return nil
}

// integrates: exp ∘ LogProb integrates to one, by the trapezoidal rule on a
// grid that is finer than the data's features; for smooth densities with light
// tails it converges faster than any power of the grid's width.
func integrates[M any](m Model[M]) error {
	n, d := m.X.Dims()
	if m.LogProb == nil || m.Discrete || d > 2 {
		return nil
	}
	at, _, err := m.Fit(seed(), m.X, m.K)
	if err != nil {
		return err
	}
	const cells = 200
	lo, step := make([]float64, d), make([]float64, d)
	for j := range d {
		col := mat.Col(nil, j, m.X)
		least, most := col[0], col[0]
		for i := range n {
			least, most = min(least, col[i]), max(most, col[i])
		}
		lo[j] = least - (most - least)
		step[j] = 3 * (most - least) / cells
	}
	var sum float64
	x := make([]float64, d)
	for i := range cells + 1 {
		x[0] = lo[0] + float64(i)*step[0]
		if d == 1 {
			sum += math.Exp(m.LogProb(at, x)) * step[0]
			continue
		}
		for j := range cells + 1 {
			x[1] = lo[1] + float64(j)*step[1]
			sum += math.Exp(m.LogProb(at, x)) * step[0] * step[1]
		}
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("the density integrates to %v", sum)
	}
	return nil
}
