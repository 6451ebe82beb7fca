package clustering

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/climb"
)

// VBStart says where a variational fit starts.
type VBStart int

const (
	// FromKMeans starts from the clusters of one run of k-means, as FitGMM does.
	FromKMeans VBStart = iota
	// FromRows starts from k different rows drawn at random as means, with the
	// covariance of all rows and equal weights. The starts differ more, so that
	// more of the local maxima are seen.
	FromRows
)

// VBGMMOptions are the settings of FitVBGMM. The zero value and nil mean the
// defaults.
type VBGMMOptions struct {
	// Defaults: MaxIter 1000, Tol 1e-9, Restarts 4.
	lvm.Options

	// Prior of weights and components. nil: Alpha 1, and DataNIW for the components.
	Prior *MixturePrior

	// From says where each restart starts. Default: FromKMeans.
	From VBStart

	// Start is a given start with k components. There is then a single run, and
	// its Prior replaces Prior. nil: none given.
	Start *VBGMM

	// Weights holds a weight w_i ≥ 0 for every row: a row of weight 2 counts
	// as two equal rows, one of weight 0 is not there. nil: all 1.
	Weights []float64
}

// FitVBGMM returns the variational posterior of a mixture of k Gaussians with the
// largest bound among the restarts, by VBGMM.Step, repeated. The objective in the
// trace is the bound, ELBO ≤ ln p(x); it never falls.
//
// k is how many components there may be. With a small Prior.Alpha those that
// the data does not ask for end up empty, see VBGMM.Counts.
//
// It panics if rng is nil, unless a start is given. k < 1, data with a NaN, an
// infinity or a value beyond ±1e140, with fewer than k distinct rows or a column
// that is constant, is a *lvm.DataError; so is a prior with α ≤ 0 or a Scale that
// is not positive definite. A prior, Start or weights of another shape are a
// *lvm.ShapeError.
//
// Cost: that of GMM.Step for every iteration.
//
// Source: as [VBGMM].
func FitVBGMM(rng *rand.Rand, x mat.Matrix, k int, opts *VBGMMOptions) (*VBGMM, lvm.Trace, error) {
	const op = "clustering.FitVBGMM"
	if opts == nil {
		opts = &VBGMMOptions{}
	}
	checkFit("FitVBGMM", rng, opts.From, opts.Start != nil)
	data, cols, err := vbData(op, x, opts.Weights, k)
	if err != nil {
		return nil, lvm.Trace{}, err
	}
	prior, err := opts.prior(op, data)
	if err != nil {
		return nil, lvm.Trace{}, err
	}

	settings := opts.Options.Or(lvm.Options{MaxIter: 1000, Tol: 1e-9, Restarts: 4})
	start := func(rng *rand.Rand) (*VBGMM, error) {
		s, err := opts.From.moments(op, rng, data, cols, k, Full)
		if err != nil {
			return nil, err
		}
		return prior.posterior(s), nil
	}
	if given := opts.Start; given != nil {
		if len(given.Components) != k {
			return nil, lvm.Trace{}, &lvm.ShapeError{Op: op, What: "components of Start", Got: len(given.Components), Want: k}
		}
		settings.Restarts = 1
		start = func(*rand.Rand) (*VBGMM, error) { return given, nil }
		rng = rand.New(rand.NewPCG(0, 0)) // for the loop to split; nothing draws from it
	}
	best, trace, err := climb.Fit(rng, settings, climb.Problem[climbing[*VBGMM]]{
		Op: op,
		Start: func(rng *rand.Rand) (climbing[*VBGMM], error) {
			m, err := start(rng)
			return climbing[*VBGMM]{m, newEM(op, data)}, err
		},
		Step: func(c climbing[*VBGMM]) (climbing[*VBGMM], float64, error) {
			next, bound, err := vbStep(c.em, c.model)
			return climbing[*VBGMM]{next, c.em}, bound, err
		},
		Noise: func(c climbing[*VBGMM]) float64 { return c.em.noise },
	})
	if err != nil {
		return nil, trace, err
	}
	return best.model, trace, nil
}

// climbing is a model on its way up, with the work space of its climb.
type climbing[M any] struct {
	model M
	em    *em
}

// checkFit panics on mistakes of the caller.
func checkFit(name string, rng *rand.Rand, from VBStart, given bool) {
	if rng == nil && !given {
		panic("clustering: " + name + " with a nil generator")
	}
	if from < FromKMeans || from > FromRows {
		panic(fmt.Sprintf("clustering: %s from VBStart(%d)", name, int(from)))
	}
}

// vbData checks the data for a fit of k components.
func vbData(op string, x mat.Matrix, w []float64, k int) (weighted, columns, error) {
	if err := checkComponents(op, k); err != nil {
		return weighted{}, columns{}, err
	}
	data, err := newWeighted(op, x, w)
	if err != nil {
		return data, columns{}, err
	}
	if err := data.checkDistinct(op, k); err != nil {
		return data, columns{}, err
	}
	cols, err := columnsOf(op, data)
	return data, cols, err
}

// prior returns the prior given, or the default for the data.
func (o *VBGMMOptions) prior(op string, data weighted) (MixturePrior, error) {
	switch {
	case o.Start != nil:
		return o.Start.Prior, nil
	case o.Prior != nil:
		if err := o.Prior.check(op, data.D); err != nil {
			return MixturePrior{}, err
		}
		return MixturePrior{Alpha: o.Prior.Alpha, Component: o.Prior.Component.clone()}, nil
	}
	component, err := dataNIW(op, data)
	return MixturePrior{Alpha: 1, Component: component}, err
}

// moments returns the sums that the first posterior is made of.
func (from VBStart) moments(op string, rng *rand.Rand, data weighted, cols columns, k int, shape Shape) (*moments, error) {
	var total float64
	for _, w := range data.w {
		total += w
	}
	if from == FromKMeans {
		s, err := kmeansMoments(op, rng, data, cols, k, shape)
		if err != nil {
			return nil, err
		}
		floats.Scale(total/floats.Sum(s.weight), s.all) // they may be of a part of the rows
		return s, nil
	}
	all := newMoments(shape, mat.NewDense(1, data.D, cols.mean))
	for i, w := range data.w {
		all.add(0, w, data.Row(i))
	}
	origin := mat.NewDense(k, data.D, nil)
	for c, i := range data.draw(rng, k) {
		origin.SetRow(c, data.Row(i))
	}
	s := newMoments(shape, origin)
	for c := range k {
		s.weight[c] = total / float64(k)
		copy(s.second[c*s.perComp:], all.second)
	}
	floats.Scale(1/float64(k), s.second)
	return s, nil
}
