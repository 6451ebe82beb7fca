package clustering

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/climb"
	"github.com/latent-lessons/latent/lvm/internal/kernels"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// productEM is what the steps of one fit share.
type productEM struct {
	op     string
	data   weighted
	blocks num.Blocks
	base   float64 // Σ_i w_i Σ_j base(x_ij)
	noise  float64 // how far rounding may move the log-likelihood
}

func newProductEM(op string, l *law, x mat.Matrix, w []float64) (*productEM, error) {
	data, err := newWeighted(op, x, w)
	if err != nil {
		return nil, err
	}
	e := &productEM{op: op, data: data, blocks: num.BlocksOf(data.N)}
	bases, bad := make([]float64, e.blocks.Count()), make([]error, e.blocks.Count())
	e.blocks.Each(func(_, b, lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, v := range data.Row(i) {
				if problem := l.wrong(v); problem != "" {
					bad[b] = &lvm.DataError{Op: op, Row: i, Col: j, Problem: problem, Try: l.try}
					return
				}
				bases[b] += data.w[i] * l.base(v)
			}
		}
	})
	for _, err := range bad {
		if err != nil {
			return nil, err
		}
	}
	e.base = floats.Sum(bases)
	e.noise = 0x1p-48 * math.Abs(e.base) // what it is added to is as large
	return e, nil
}

// productSums are the sums over the rows of a block that an M step needs.
type productSums struct {
	logLik float64
	count  []float64 // N_k = Σ_i w_i γ_ik
	first  []float64 // Σ_i w_i γ_ik x_i, k×d
}

// step returns the next mixture, and the log-likelihood of p.
func (e *productEM) step(p product) (product, float64, error) {
	l, err := p.prepare(e.op)
	if err != nil {
		return p, math.NaN(), err
	}
	d := e.data.D
	if d != l.d {
		return p, math.NaN(), &lvm.ShapeError{Op: e.op, What: "columns of x", Got: d, Want: l.d}
	}
	k := len(l.bias)
	sums := make([]productSums, e.blocks.Count())
	for b := range sums {
		sums[b] = productSums{0, make([]float64, k), make([]float64, k*d)}
	}
	l.sweep(e.data.Rows, func(block, lo int, post kernels.Matrix[float64], logProb []float64) {
		s, w := &sums[block], e.data.w[lo:][:post.Rows]
		s.logLik += kernels.Dot(w, logProb)
		for c := range k {
			of := post.Data[c*post.Rows:][:post.Rows]
			floats.Mul(of, w)
			s.count[c] += kernels.Sum(of)
		}
		kernels.Gemm(1, post.T(), e.data.Block(lo, lo+post.Rows), 1, kernels.Of(k, d, s.first, d))
	})
	total := sums[0]
	for _, s := range sums[1:] {
		total.logLik += s.logLik
		floats.Add(total.count, s.count)
		floats.Add(total.first, s.first)
	}
	next, err := p.maximise(e.op, total)
	return next, total.logLik + e.base, err
}

// maximise is the M step: every mean is that of its rows, or the nearest that the
// floor allows, for the log-likelihood is concave in it.
func (p product) maximise(op string, s productSums) (product, error) {
	k := len(s.count)
	d := len(s.first) / k
	next := product{p.law, make([]float64, k), mat.NewDense(k, d, nil), p.floor}
	n, floor := floats.Sum(s.count), p.floor
	if floor == 0 {
		floor = p.law.floor
	}
	for c, count := range s.count {
		if !(count > 1e-100*n) {
			return next, &lvm.DegenerateError{Op: op, Component: c, Problem: fmt.Sprintf("is empty: its responsibilities sum to %.3g of %.3g rows", count, n), Try: "fewer components, or a start with that one nearer to the data"}
		}
		next.weights[c] = count / n
		row := next.means.RawRowView(c)
		for j := range row {
			row[j] = p.clamp(s.first[c*d+j]/count, floor)
		}
	}
	return next, nil
}

// fitProduct is the fit that FitBernoulliMixture and FitPoissonMixture share.
func fitProduct(l *law, rng *rand.Rand, x mat.Matrix, k int, opts lvm.Options, floor float64, given *product, w []float64) (product, lvm.Trace, error) {
	op := "clustering.Fit" + l.model
	if err := checkComponents(op, k); err != nil {
		return product{}, lvm.Trace{}, err
	}
	if given == nil {
		checkRand("Fit"+l.model, rng)
	}
	if !(floor >= 0 && floor < l.most) {
		panic(fmt.Sprintf("clustering: Fit%s with a Floor of %v", l.model, floor))
	}
	e, err := newProductEM(op, l, x, w)
	if err != nil {
		return product{}, lvm.Trace{}, err
	}
	if err := e.data.checkDistinct(op, k); err != nil {
		return product{}, lvm.Trace{}, err
	}
	settings := opts.Or(lvm.Options{MaxIter: 1000, Tol: 1e-9, Restarts: 4})
	start := func(rng *rand.Rand) (product, error) { return e.start(rng, product{law: l, floor: floor}, k) }
	if given != nil {
		from, err := e.from(*given, k, floor)
		if err != nil {
			return product{}, lvm.Trace{}, err
		}
		settings.Restarts = 1
		start = func(*rand.Rand) (product, error) { return from, nil }
		rng = rand.New(rand.NewPCG(0, 0)) // for the loop to split; nothing draws from it
	}
	return climb.Fit(rng, settings, climb.Problem[product]{
		Op: op, Start: start, Step: e.step,
		Noise: func(product) float64 { return e.noise },
	})
}

// start is the M step from the labels of one run of k-means on some of the rows,
// on a scale on which their variances are alike.
func (e *productEM) start(rng *rand.Rand, p product, k int) (product, error) {
	rows := e.data.draw(rng, startRows)
	m, err := e.startFrom(rng, p, k, rows)
	if _, few := errors.AsType[*lvm.DataError](err); few && len(rows) < e.data.N {
		// Fewer than k of the rows drawn are distinct.
		return e.startFrom(rng, p, k, e.data.draw(rng, e.data.N))
	}
	return m, err
}

func (e *productEM) startFrom(rng *rand.Rand, p product, k int, rows []int) (product, error) {
	y, w := mat.NewDense(len(rows), e.data.D, nil), make([]float64, len(rows))
	for r, i := range rows {
		w[r] = e.data.w[i]
		to := y.RawRowView(r)
		for j, v := range e.data.Row(i) {
			to[j] = p.even(v)
		}
	}
	km, _, err := FitKMeans(rng, y, k, &KMeansOptions{Options: lvm.Options{Restarts: 1, MaxIter: 50}, Weights: w})
	if err != nil {
		return p, fmt.Errorf("%s: the start: %w", e.op, err)
	}
	s := productSums{0, make([]float64, k), make([]float64, k*e.data.D)}
	for r, c := range km.Assign(y) {
		s.count[c] += w[r]
		floats.AddScaled(s.first[c*e.data.D:][:e.data.D], w[r], e.data.Row(rows[r]))
	}
	return p.maximise(e.op, s)
}

// from returns a copy of a given start that keeps to the floor.
func (e *productEM) from(given product, k int, floor float64) (product, error) {
	given.floor = floor
	if err := given.check(e.op); err != nil {
		return given, err
	}
	if len(given.weights) != k {
		return given, &lvm.ShapeError{Op: e.op, What: "components of Start", Got: len(given.weights), Want: k}
	}
	if _, d := given.means.Dims(); d != e.data.D {
		return given, &lvm.ShapeError{Op: e.op, What: "columns of x", Got: e.data.D, Want: d}
	}
	if floor == 0 {
		floor = given.law.floor
	}
	own := product{given.law, append([]float64(nil), given.weights...), mat.DenseCopyOf(given.means), given.floor}
	own.means.Apply(func(_, _ int, m float64) float64 { return own.clamp(m, floor) }, own.means)
	return own, nil
}
