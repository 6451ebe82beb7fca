package clustering

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/climb"
)

// GMMOptions are the settings of FitGMM. The zero value and nil mean the
// defaults.
type GMMOptions struct {
	// Defaults: MaxIter 1000, Tol 1e-9, Restarts 4.
	//
	// EM creeps where components overlap: the steps shrink by a constant
	// factor, so a small step does not mean that little is left. Tol is
	// therefore much stricter than the 1e-3 to 1e-5 that is usual, and leaves
	// about six digits of the log-likelihood settled even if the factor is
	// 0.999.
	lvm.Options

	// Shape of the covariances. Default: Full.
	Shape Shape

	// Floor is the smallest variance in every column, as a fraction of the
	// variance of that column over all rows; see GMM.Floor. It keeps a
	// component from collapsing onto a point, where the likelihood has no
	// bound. 0 means 1e-6: a standard deviation of a thousandth of the
	// column's. A negative value means no floor.
	Floor float64

	// Start is a given start, k×d. There is then a single run; its Shape
	// replaces Shape, and its covariances are raised to the floor of this
	// fit. nil: none given.
	Start *GMM

	// Weights holds a weight w_i ≥ 0 for every row: a row of weight 2 counts
	// as two equal rows, one of weight 0 is not there. nil: all 1.
	Weights []float64
}

// FitGMM returns the mixture of k Gaussians with the largest log-likelihood
// among the restarts, by expectation maximisation: GMM.Step, repeated. The
// objective in the trace is the log-likelihood; it never falls.
//
// Each restart starts from one run of k-means with k-means++ on the columns
// divided by their standard deviations (for Spherical by a common one), on at
// most 20,000 rows drawn at random, followed by an M step with the labels as
// responsibilities.
//
// It panics if Shape is not one of its values, Floor is not finite or,
// unless a start is given, rng is nil. k < 1, data with a NaN, an infinity or a value
// beyond ±1e140, with fewer than k distinct rows, with rows that are all equal or
// a column that is constant, is a *lvm.DataError; a Start or weights of another shape are
// a *lvm.ShapeError. If every restart loses a component, as GMM.Step says, the
// error is a *lvm.DegenerateError.
//
// Cost: that of GMM.Step for every iteration.
//
// Source: as GMM.Step; the start is that of Pilikos, Unsupervised Learning,
// Algorithm 2.
func FitGMM(rng *rand.Rand, x mat.Matrix, k int, opts *GMMOptions) (*GMM, lvm.Trace, error) {
	return fitGMM("FitGMM", rng, x, k, opts, lvm.Options{MaxIter: 1000, Tol: 1e-9, Restarts: 4},
		func(op string, data weighted) stepper { return newEM(op, data) })
}

// stepper is a way up for mixtures, with the work space of one climb.
type stepper interface {
	step(m *GMM) (next *GMM, objective float64, err error)
	rounding() float64 // how far it may have moved the last objective
}

// fitGMM is FitGMM by any way up.
func fitGMM(name string, rng *rand.Rand, x mat.Matrix, k int, opts *GMMOptions, defaults lvm.Options, newStepper func(op string, data weighted) stepper) (*GMM, lvm.Trace, error) {
	op := "clustering." + name
	if opts == nil {
		opts = &GMMOptions{}
	}
	if err := checkComponents(op, k); err != nil {
		return nil, lvm.Trace{}, err
	}
	if rng == nil && opts.Start == nil {
		panic(fmt.Sprintf("clustering: %s with a nil generator", name))
	}
	if opts.Shape < Full || opts.Shape > Spherical {
		panic(fmt.Sprintf("clustering: %s with %v", name, opts.Shape))
	}
	if math.IsNaN(opts.Floor) || math.IsInf(opts.Floor, 1) {
		panic(fmt.Sprintf("clustering: %s with a Floor of %v", name, opts.Floor))
	}
	data, err := newWeighted(op, x, opts.Weights)
	if err != nil {
		return nil, lvm.Trace{}, err
	}
	if err := data.checkDistinct(op, k); err != nil {
		return nil, lvm.Trace{}, err
	}
	cols, err := columnsOf(op, data)
	if err != nil {
		return nil, lvm.Trace{}, err
	}

	settings := opts.Options.Or(defaults)
	floor := cols.floor(opts.Floor)
	start := func(rng *rand.Rand) (*GMM, error) { return startGMM(op, rng, data, cols, k, opts.Shape, floor) }
	if opts.Start != nil {
		given, err := givenStart(op, opts.Start, k, data.D, floor)
		if err != nil {
			return nil, lvm.Trace{}, err
		}
		settings.Restarts = 1
		start = func(*rand.Rand) (*GMM, error) { return given, nil }
		rng = rand.New(rand.NewPCG(0, 0)) // for the loop to split; nothing draws from it
	}
	best, trace, err := climb.Fit(rng, settings, climb.Problem[climber]{
		Op: op,
		Start: func(rng *rand.Rand) (climber, error) {
			m, err := start(rng)
			return climber{m, newStepper(op, data)}, err
		},
		Step: func(c climber) (climber, float64, error) {
			next, objective, err := c.way.step(c.GMM)
			return climber{next, c.way}, objective, err
		},
		Noise: func(c climber) float64 { return c.way.rounding() },
	})
	if err != nil {
		return nil, trace, err
	}
	return best.GMM, trace, nil
}

// climber is a mixture on its way up.
type climber struct {
	*GMM
	way stepper
}

// columns holds the mean and the variance of every column.
type columns struct{ mean, variance []float64 }

func columnsOf(op string, data weighted) (columns, error) {
	first := -1
	for i, w := range data.w {
		if w > 0 {
			first = i
			break
		}
	}
	origin := data.Row(first)
	c := columns{make([]float64, data.D), make([]float64, data.D)}
	var total float64
	varies := make([]bool, data.D)
	for i, w := range data.w {
		total += w
		for j, v := range data.Row(i) {
			c.mean[j] += w * (v - origin[j])
			varies[j] = varies[j] || w > 0 && v != origin[j]
		}
	}
	for j := range c.mean {
		c.mean[j] = origin[j] + c.mean[j]/total
	}
	for i, w := range data.w {
		for j, v := range data.Row(i) {
			t := v - c.mean[j]
			c.variance[j] += w / total * t * t
		}
	}
	if !slices.Contains(varies, true) {
		return c, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "there is one row, or all rows are equal: no variance", Try: "more rows"}
	}
	for j, v := range c.variance {
		switch {
		case !varies[j]:
			return c, &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("the value is %v in every row", origin[j]), Try: "dropping that column"}
		case v < 1/largest:
			return c, &lvm.DataError{Op: op, Row: -1, Col: j, Problem: fmt.Sprintf("its variance of %.3g underflows", v), Try: "multiplying that column by a power of ten"}
		}
	}
	return c, nil
}

// floor returns the smallest variance of each column.
func (c columns) floor(fraction float64) []float64 {
	if fraction < 0 {
		return nil
	}
	if fraction == 0 {
		fraction = 1e-6
	}
	f := make([]float64, len(c.variance))
	for j, v := range c.variance {
		f[j] = fraction * v
	}
	return f
}

// givenStart returns a copy of start that keeps to the floor.
func givenStart(op string, start *GMM, k, d int, floor []float64) (*GMM, error) {
	raised := *start
	raised.Floor = floor
	if _, err := raised.densities(op); err != nil {
		return nil, err
	}
	m := raised.clone()
	if len(m.Weights) != k {
		return nil, &lvm.ShapeError{Op: op, What: "components of Start", Got: len(m.Weights), Want: k}
	}
	if m.dim() != d {
		return nil, &lvm.ShapeError{Op: op, What: "columns of x", Got: d, Want: m.dim()}
	}
	m.constrain()
	return m, nil
}

// startRows is how many rows the k-means of a start looks at, at most.
const startRows = 20000

// startGMM is the M step from the labels of k-means.
func startGMM(op string, rng *rand.Rand, data weighted, cols columns, k int, shape Shape, floor []float64) (*GMM, error) {
	s, err := kmeansMoments(op, rng, data, cols, k, shape)
	if err != nil {
		return nil, err
	}
	return s.maximise(op, shape, floor)
}

// kmeansMoments returns the moments of the clusters that one run of k-means
// finds among the scaled rows, of at most startRows of them.
func kmeansMoments(op string, rng *rand.Rand, data weighted, cols columns, k int, shape Shape) (*moments, error) {
	rows := data.draw(rng, startRows)
	s, err := momentsFrom(op, rng, data, rows, cols, k, shape)
	if _, few := errors.AsType[*lvm.DataError](err); few && len(rows) < data.N {
		// Fewer than k of the rows drawn are distinct.
		return momentsFrom(op, rng, data, data.draw(rng, data.N), cols, k, shape)
	}
	return s, err
}

// momentsFrom is kmeansMoments of some of the rows.
func momentsFrom(op string, rng *rand.Rand, data weighted, rows []int, cols columns, k int, shape Shape) (*moments, error) {
	scale := cols.scale(shape)
	scaled, w := mat.NewDense(len(rows), data.D, nil), make([]float64, len(rows))
	for r, i := range rows {
		w[r] = data.w[i]
		to := scaled.RawRowView(r)
		for j, v := range data.Row(i) {
			to[j] = (v - cols.mean[j]) / scale[j]
		}
	}
	km, _, err := FitKMeans(rng, scaled, k, &KMeansOptions{Options: lvm.Options{Restarts: 1, MaxIter: 50}, Weights: w})
	if err != nil {
		return nil, fmt.Errorf("%s: the start: %w", op, err)
	}

	origin := mat.NewDense(k, data.D, nil)
	origin.Apply(func(c, j int, _ float64) float64 { return cols.mean[j] + scale[j]*km.Centers.At(c, j) }, origin)
	s := newMoments(shape, origin)
	for r, z := range km.Assign(scaled) {
		s.add(z, w[r], data.Row(rows[r]))
	}
	return s, nil
}

// scale returns what k-means divides the columns by.
func (c columns) scale(shape Shape) []float64 {
	var mean float64
	for _, v := range c.variance {
		mean += v / float64(len(c.variance))
	}
	s := make([]float64, len(c.variance))
	for j, v := range c.variance {
		if shape == Spherical {
			v = mean
		}
		s[j] = math.Sqrt(v)
	}
	return s
}

// draw returns the indices of at most n rows of positive weight, in order,
// every set of n equally likely (Knuth, TAOCP 2, Algorithm 3.4.2 S).
func (d weighted) draw(rng *rand.Rand, n int) []int {
	left := 0
	for _, w := range d.w {
		if w > 0 {
			left++
		}
	}
	n = min(n, left)
	rows := make([]int, 0, n)
	for i, w := range d.w {
		if w == 0 {
			continue
		}
		if n == left || rng.IntN(left) < n {
			rows = append(rows, i)
			n--
		}
		left--
	}
	return rows
}
