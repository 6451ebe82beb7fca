package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/kernels"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// A law is a distribution of single values with the mean m, of the form
//
//	ln p(x | m) = x·slope(m) − cost(m) + base(x).
type law struct {
	model  string  // the name of the mixture
	params string  // the name of its means
	floor  float64 // smallest mean by default
	most   float64 // no floor reaches it

	wrong   func(x float64) string // what is wrong with a value; "" if nothing is
	try     string                 // what to do about it
	inside  func(m float64) bool   // whether m can be a mean
	inRange string                 // the same in words
	clamp   func(m, floor float64) float64
	even    func(x float64) float64 // to a scale with a like variance everywhere

	slope, cost, base func(float64) float64
	draw              func(rng *rand.Rand, m float64) float64
}

// product is a mixture in which the columns are independent within a component:
// the form that BernoulliMixture and PoissonMixture share.
type product struct {
	*law
	weights []float64
	means   *mat.Dense // k×d
	floor   float64    // 0: that of the law
}

// check reports what is wrong with p.
func (p product) check(op string) error {
	k := len(p.weights)
	if k == 0 || p.means == nil || p.means.IsEmpty() {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "the mixture has no components", Try: fmt.Sprintf("giving Weights and %s, or Fit%s", p.params, p.model)}
	}
	rows, _ := p.means.Dims()
	if rows != k {
		return &lvm.ShapeError{Op: op, What: "rows of " + p.params, Got: rows, Want: k}
	}
	if !(p.floor >= 0 && p.floor < p.most) {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("the Floor is %v", p.floor), Try: "a small positive number, or 0 for the default"}
	}
	if err := checkMixing(op, p.weights); err != nil {
		return err
	}
	for c := range k {
		for j, m := range p.means.RawRowView(c) {
			if !p.inside(m) {
				return &lvm.DegenerateError{Op: op, Component: c, Problem: fmt.Sprintf("has %v in column %d of %s", m, j, p.params), Try: p.inRange}
			}
		}
	}
	return nil
}

// linear is a product made ready for many rows:
//
//	ln π_k p(x | k) = bias_k + Σ_j slope_kj x_j + Σ_j base(x_j).
type linear struct {
	*law
	d     int
	bias  []float64
	slope kernels.Matrix[float64] // k×d
}

func (p product) prepare(op string) (linear, error) {
	if err := p.check(op); err != nil {
		return linear{}, err
	}
	k, d := p.means.Dims()
	l := linear{p.law, d, make([]float64, k), kernels.Of(k, d, make([]float64, k*d), d)}
	for c, w := range p.weights {
		l.bias[c] = math.Log(w)
		for j, m := range p.means.RawRowView(c) {
			l.bias[c] -= p.cost(m)
			l.slope.Data[c*d+j] = p.slope(m)
		}
	}
	return l, nil
}

// mustPrepare is prepare for methods without an error result.
func (p product) mustPrepare(method string, x mat.Matrix) linear {
	op := "clustering: " + p.model + "." + method
	l, err := p.prepare(op)
	if err != nil {
		panic(err)
	}
	if _, d := x.Dims(); d != l.d {
		panic(&lvm.ShapeError{Op: op, What: "columns of x", Got: d, Want: l.d})
	}
	return l
}

// productRows is how many rows an E step takes at a time.
const productRows = 256

// sweep runs the E step, some rows at a time, and hands f the posterior p(k | x),
// stored by columns, and ln p(x) less the bases, both of the rows from lo on.
func (l linear) sweep(rows num.Rows, f func(block, lo int, post kernels.Matrix[float64], logProb []float64)) {
	k := len(l.bias)
	num.BlocksOf(rows.N).Each(func(_, block, lo, hi int) {
		for ; lo < hi; lo += productRows {
			x := rows.Block(lo, min(hi, lo+productRows))
			joint, logProb := kernels.Of(k, x.Rows, make([]float64, k*x.Rows), x.Rows), make([]float64, x.Rows)
			for c, b := range l.bias {
				of := joint.Data[c*x.Rows:][:x.Rows]
				for i := range of {
					of[i] = b
				}
			}
			kernels.Gemm(1, l.slope, x.T(), 1, joint)
			kernels.LogSumExpRows(logProb, joint.T())
			f(block, lo, joint.T(), logProb)
		}
	})
}

// baseOf returns Σ_j base(x_j), the part of ln p(x) that all components share: −Inf
// if no component can give the row, NaN if it has a NaN.
func (l *law) baseOf(row []float64) float64 {
	var sum float64
	for _, v := range row {
		switch {
		case math.IsNaN(v):
			return v
		case l.wrong(v) != "":
			sum = math.Inf(-1)
		default:
			sum += l.base(v)
		}
	}
	return sum
}

// logProbs returns ln p(x_i) of every row.
func (l linear) logProbs(x mat.Matrix) []float64 {
	rows := num.RowsOf(x)
	out := make([]float64, rows.N)
	l.sweep(rows, func(_, lo int, _ kernels.Matrix[float64], logProb []float64) {
		for i, v := range logProb {
			if out[lo+i] = l.baseOf(rows.Row(lo + i)); out[lo+i]-out[lo+i] == 0 {
				out[lo+i] += v
			}
		}
	})
	return out
}

func (l linear) posterior(x mat.Matrix) *mat.Dense {
	rows := num.RowsOf(x)
	if rows.N == 0 {
		return &mat.Dense{}
	}
	k := len(l.bias)
	out := mat.NewDense(rows.N, k, nil)
	l.sweep(rows, func(_, lo int, post kernels.Matrix[float64], _ []float64) {
		for i := range post.Rows {
			to, base := out.RawRowView(lo+i), l.baseOf(rows.Row(lo+i))
			for c := range to {
				if to[c] = post.Data[c*post.Rows+i]; base-base != 0 {
					to[c] = math.NaN()
				}
			}
		}
	})
	return out
}

// assign returns the most probable components, −1 for rows without a posterior.
func (l linear) assign(x mat.Matrix) []int {
	n, _ := x.Dims()
	z, post := make([]int, n), l.posterior(x)
	for i := range z {
		row := post.RawRowView(i)
		for c, p := range row {
			if p > row[z[i]] {
				z[i] = c
			}
		}
		if math.IsNaN(row[0]) {
			z[i] = -1
		}
	}
	return z
}

func (p product) sample(rng *rand.Rand, n int) (z []int, x *mat.Dense) {
	checkRand(p.model+".Sample", rng)
	if n < 0 {
		panic(fmt.Sprintf("clustering: %s.Sample with n = %d", p.model, n))
	}
	if err := p.check("clustering: " + p.model + ".Sample"); err != nil {
		panic(err)
	}
	if n == 0 {
		return nil, &mat.Dense{}
	}
	_, d := p.means.Dims()
	z, x = make([]int, n), mat.NewDense(n, d, nil)
	for i := range z {
		z[i] = categorical(rng, p.weights, 1)
		row := x.RawRowView(i)
		for j, m := range p.means.RawRowView(z[i]) {
			row[j] = p.draw(rng, m)
		}
	}
	return z, x
}

func (p product) numParams() int {
	if err := p.check("clustering: " + p.model + ".NumParams"); err != nil {
		panic(err)
	}
	k, d := p.means.Dims()
	return k - 1 + k*d
}
