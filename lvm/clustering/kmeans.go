package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/climb"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// KMeans is a set of k centres that stand for the rows nearest to them.
//
//	z_i = argmin_k ‖x_i − μ_k‖²           the label of row i
//	J   = Σ_i w_i ‖x_i − μ_{z_i}‖²        the inertia, smaller is better
//
// It is a vector quantiser, not a density. It measures in Euclidean distance,
// so columns in other units weigh differently: standardise them first unless
// their units are the same. It is the limit of a Gaussian mixture with equal
// weights and covariances σ²I as σ² → 0.
type KMeans struct {
	Centers *mat.Dense // μ, k×d
}

// KMeansInit says how a fit finds its first centres.
type KMeansInit int

const (
	PlusPlus   KMeansInit = iota // as InitPlusPlus
	RandomRows                   // as InitRandomRows
)

// String returns the name of the method.
func (i KMeansInit) String() string {
	switch i {
	case PlusPlus:
		return "k-means++"
	case RandomRows:
		return "random rows"
	}
	return fmt.Sprintf("KMeansInit(%d)", int(i))
}

// KMeansOptions are the settings of FitKMeans. The zero value and nil mean
// the defaults.
type KMeansOptions struct {
	// Defaults: MaxIter 300; Tol 0, which stops when a step leaves the
	// inertia as it was, but for rounding; Restarts 10.
	lvm.Options

	// Init finds the first centres of each restart. Default: PlusPlus.
	Init KMeansInit

	// Centers, k×d, are given first centres. There is then a single run, and
	// Init and Restarts are not used. nil: none given.
	Centers mat.Matrix

	// Weights holds a weight w_i ≥ 0 for every row: a row of weight 2 counts
	// as two equal rows, one of weight 0 is not there. nil: all 1.
	Weights []float64
}

// FitKMeans returns the k centres with the smallest inertia among the
// restarts, by Lloyd's iterations from each start. The objective in the trace
// is −J; it never falls, and it ends in a local maximum, so restarts matter.
//
// It panics if Init is not one of its values or, unless centres are
// given, rng is nil. k < 1, data with a NaN, an infinity or a value beyond ±1e140, with
// fewer than k distinct rows, and weights that are negative or sum to nothing
// are a *lvm.DataError; given centres or weights of another shape are a
// *lvm.ShapeError.
//
// Cost: an iteration takes O(n·k·d) time at most. Memory is half of x again and
// O(n + k·d) for every restart and processor at work.
//
// Source: Lloyd (1982), Least squares quantization in PCM; MacQueen (1967).
func FitKMeans(rng *rand.Rand, x mat.Matrix, k int, opts *KMeansOptions) (*KMeans, lvm.Trace, error) {
	const op = "clustering.FitKMeans"
	if opts == nil {
		opts = &KMeansOptions{}
	}
	if err := checkComponents(op, k); err != nil {
		return nil, lvm.Trace{}, err
	}
	if rng == nil && opts.Centers == nil {
		panic("clustering: FitKMeans with a nil generator")
	}
	if opts.Init < PlusPlus || opts.Init > RandomRows {
		panic(fmt.Sprintf("clustering: FitKMeans with %v", opts.Init))
	}
	data, err := newWeighted(op, x, opts.Weights)
	if err != nil {
		return nil, lvm.Trace{}, err
	}
	if err := data.checkDistinct(op, k); err != nil {
		return nil, lvm.Trace{}, err
	}

	settings := opts.Options.Or(lvm.Options{MaxIter: 300, Restarts: 10})
	start := func(rng *rand.Rand) *mat.Dense { return initPlusPlus(rng, data, k) }
	if opts.Init == RandomRows {
		start = func(rng *rand.Rand) *mat.Dense { return initRandomRows(rng, data, k) }
	}
	if opts.Centers != nil {
		given, err := checkCenters(op, opts.Centers, k, data.D)
		if err != nil {
			return nil, lvm.Trace{}, err
		}
		settings.Restarts = 1
		start = func(*rand.Rand) *mat.Dense { return given }
		rng = rand.New(rand.NewPCG(0, 0)) // for the loop to split; nothing draws from it
	}

	single := newScreen(data)
	best, trace, err := climb.Fit(rng, settings, climb.Problem[*lloyd]{
		Op:    op,
		Start: func(rng *rand.Rand) (*lloyd, error) { return newLloyd(op, data, start(rng)).withBounds(single), nil },
		Step:  (*lloyd).step,
		Noise: func(l *lloyd) float64 { return l.noise },
	})
	if err != nil {
		return nil, trace, err
	}
	return &KMeans{Centers: best.centers}, trace, nil
}

// Step returns the centres after one iteration of Lloyd, every row to its
// nearest centre and every centre to the mean of its rows, and the objective
// −J of the receiver.
//
// A centre without rows moves to the row that is farthest from its nearest
// centre; several go to different rows, each the farthest from the centres and
// from the rows already taken. So J never rises.
//
// The errors are those of FitKMeans, less the one about distinct rows; a KMeans
// without centres is a *lvm.DataError.
func (m *KMeans) Step(x mat.Matrix) (*KMeans, float64, error) {
	return m.StepWeighted(x, nil)
}

// StepWeighted is Step with a weight w_i ≥ 0 for every row; nil means ones.
func (m *KMeans) StepWeighted(x mat.Matrix, w []float64) (*KMeans, float64, error) {
	const op = "clustering.KMeans.Step"
	if err := checkPresent(op, m.Centers); err != nil {
		return nil, 0, err
	}
	data, err := newWeighted(op, x, w)
	if err != nil {
		return nil, 0, err
	}
	k, _ := m.Centers.Dims()
	centers, err := checkCenters(op, m.Centers, k, data.D)
	if err != nil {
		return nil, 0, err
	}
	next, objective, err := newLloyd(op, data, centers).step()
	if err != nil {
		return nil, 0, err
	}
	return &KMeans{Centers: next.centers}, objective, nil
}

// Assign returns the index of the nearest centre of every row, the lowest
// among equally near ones. A row with a NaN or an infinity gets −1. It panics
// with a *lvm.ShapeError if x has another width than the centres, and with a
// *lvm.DataError if there are no centres.
func (m *KMeans) Assign(x mat.Matrix) []int {
	rows, centers := m.rows("clustering.KMeans.Assign", x)
	labels := make([]int, rows.N)
	num.BlocksOf(rows.N).Each(func(_, _, lo, hi int) {
		d2 := make([]float64, centers.N)
		for i := lo; i < hi; i++ {
			labels[i], _ = nearest(rows.Row(i), centers, d2)
		}
	})
	return labels
}

// Inertia returns J = Σ_i min_k ‖x_i − μ_k‖², smaller is better; NaN if a row
// is not finite. It panics with a *lvm.ShapeError if x has another width than
// the centres, and with a *lvm.DataError if there are no centres.
func (m *KMeans) Inertia(x mat.Matrix) float64 {
	rows, centers := m.rows("clustering.KMeans.Inertia", x)
	blocks := num.BlocksOf(rows.N)
	parts := make([]float64, blocks.Count())
	blocks.Each(func(_, b, lo, hi int) {
		d2 := make([]float64, centers.N)
		for i := lo; i < hi; i++ {
			_, least := nearest(rows.Row(i), centers, d2)
			parts[b] += least
		}
	})
	var sum float64
	for _, s := range parts {
		sum += s
	}
	return sum
}

// rows returns the rows of x and of the centres, which must be as wide.
func (m *KMeans) rows(op string, x mat.Matrix) (rows, centers num.Rows) {
	if err := checkPresent(op, m.Centers); err != nil {
		panic(err)
	}
	rows, centers = num.RowsOf(x), num.RowsOf(m.Centers)
	if rows.D != centers.D {
		panic(&lvm.ShapeError{Op: op, What: "columns of x", Got: rows.D, Want: centers.D})
	}
	return rows, centers
}

// checkPresent returns an error if there are no centres.
func checkPresent(op string, centers *mat.Dense) error {
	if centers == nil || centers.IsEmpty() {
		return &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "there are no centres", Try: "giving Centers, or FitKMeans"}
	}
	return nil
}

// checkCenters returns a copy of centres that are k×d and finite.
func checkCenters(op string, centers mat.Matrix, k, d int) (*mat.Dense, error) {
	r, c := centers.Dims()
	if r != k {
		return nil, &lvm.ShapeError{Op: op, What: "rows of the centres", Got: r, Want: k}
	}
	if c != d {
		return nil, &lvm.ShapeError{Op: op, What: "columns of x", Got: d, Want: c}
	}
	own := mat.DenseCopyOf(centers)
	for i, v := range own.RawMatrix().Data {
		if !(math.Abs(v) <= largest) {
			return nil, &lvm.DataError{Op: op, Row: -1, Col: i % d, Problem: fmt.Sprintf("centre %d has the value %v", i/d, v), Try: "centres among the data"}
		}
	}
	return own, nil
}

// nearest returns the index of the row of centers that is nearest to x, the
// lowest among equals, and the squared distance; −1 and NaN if there is none
// because x is not finite. d2 is scratch for a distance to every centre.
func nearest(x []float64, centers num.Rows, d2 []float64) (int, float64) {
	centers.SqDists(d2, x, 0)
	best, least, _ := num.TwoLeast(d2)
	if best < 0 {
		return farNearest(x, centers)
	}
	return best, least
}

// farNearest is nearest for distances whose squares overflow: it compares
// them in a unit in which they do not.
func farNearest(x []float64, centers num.Rows) (int, float64) {
	const unit = 0x1p-600
	best, least := -1, math.Inf(1)
	for k := range centers.N {
		var d2 float64
		for j, c := range centers.Row(k) {
			t := x[j]*unit - c*unit
			d2 += t * t
		}
		if d2 < least {
			best, least = k, d2
		}
	}
	if best < 0 {
		return -1, math.NaN()
	}
	return best, math.Inf(1)
}
