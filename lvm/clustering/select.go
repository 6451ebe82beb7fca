package clustering

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// SelectOptions are the settings of SelectGMM. The zero value and nil mean the
// defaults.
type SelectOptions struct {
	lvm.Options           // as in GMMOptions
	Floor       float64   // as in GMMOptions
	Shapes      []Shape   // the shapes to try; nil: all four
	By          Criterion // what decides; default: BIC
}

// Candidate is one mixture that SelectGMM has tried.
type Candidate struct {
	K     int
	Shape Shape

	Model         *GMM // nil if the fit failed
	Trace         lvm.Trace
	NumParams     int
	BIC, ICL, AIC float64 // smaller is better

	// Err says why the fit failed; nil if it did not.
	Err error

	// Collapsed lists the components that only the floor of the fit keeps from
	// shrinking onto a point, a line or a plane. The likelihood of such a
	// mixture, and with it every criterion, tells of the floor and not of the data.
	Collapsed []int
}

// Sound reports whether the fit succeeded and no component has collapsed.
func (c *Candidate) Sound() bool { return c.Err == nil && len(c.Collapsed) == 0 }

// Value returns the criterion of the candidate.
func (c *Candidate) Value(by Criterion) float64 {
	return [...]float64{BIC: c.BIC, ICL: c.ICL, AIC: c.AIC}[by]
}

// Selection is the table of all that SelectGMM has tried.
type Selection struct {
	Candidates []Candidate // shape by shape in the order of the options, K = 1, 2, … within
	By         Criterion
}

// Best returns the sound candidate with the smallest value of the criterion, the
// first among equals; nil if none is sound.
func (s *Selection) Best() *Candidate {
	var best *Candidate
	for i := range s.Candidates {
		c := &s.Candidates[i]
		if c.Sound() && (best == nil || c.Value(s.By) < best.Value(s.By)) {
			best = c
		}
	}
	return best
}

// SelectGMM fits Gaussian mixtures with 1, 2, …, most components of every shape,
// and returns them all with their criteria; Selection.Best is the choice.
//
// With one component, Full and Tied are the same mixture. Candidates whose fit
// fails, or in which a component has collapsed, stay in the table with the
// reason; they are never the best. A higher Floor may save them. If no candidate is sound,
// SelectGMM returns the table with the error of the first fit that failed, or
// else a *lvm.DegenerateError that names a component that has collapsed.
//
// It panics if rng is nil, or a shape or the criterion is not one of its
// values. The result does not depend on the number of cores.
//
// Cost: most·len(Shapes) calls of FitGMM.
//
// Source: Fraley and Raftery (2002), Model-based clustering, discriminant
// analysis, and density estimation.
func SelectGMM(rng *rand.Rand, x mat.Matrix, most int, opts *SelectOptions) (*Selection, error) {
	const op = "clustering.SelectGMM"
	checkRand("SelectGMM", rng)
	if opts == nil {
		opts = &SelectOptions{}
	}
	if err := checkComponents(op, most); err != nil {
		return nil, err
	}
	if opts.By < BIC || opts.By > AIC {
		panic(fmt.Sprintf("clustering: SelectGMM by %v", opts.By))
	}
	tried := opts.Shapes
	if tried == nil {
		tried = []Shape{Full, Tied, Diagonal, Spherical}
	}
	for _, shape := range tried {
		if shape < Full || shape > Spherical {
			panic(fmt.Sprintf("clustering: SelectGMM with %v", shape))
		}
	}
	s := &Selection{make([]Candidate, most*len(tried)), opts.By}
	inParallel(rng, len(s.Candidates), func(i int, rng *rand.Rand) {
		c := &s.Candidates[i]
		c.Shape, c.K = tried[i/most], 1+i%most
		c.Model, c.Trace, c.Err = FitGMM(rng, x, c.K, &GMMOptions{Options: opts.Options, Shape: c.Shape, Floor: opts.Floor})
		if c.Err == nil {
			c.NumParams, c.Collapsed = c.Model.NumParams(), c.Model.collapsed()
			c.BIC, c.ICL, c.AIC = c.Model.BIC(x), c.Model.ICL(x), c.Model.AIC(x)
		}
	})
	if s.Best() != nil {
		return s, nil
	}
	for _, c := range s.Candidates {
		if c.Err != nil {
			return s, fmt.Errorf("%s: %d components, %v: %w", op, c.K, c.Shape, c.Err)
		}
	}
	c := s.Candidates[0]
	return s, &lvm.DegenerateError{Op: op, Component: c.Collapsed[0], Problem: fmt.Sprintf("of the first candidate has collapsed, and so has one of each of the other %d", len(s.Candidates)-1), Try: "a higher Floor, or dropping columns that others determine"}
}

// collapsed lists the components with a covariance that touches the floor: those
// for which Σ − 1.001 diag(Floor) is not positive definite.
func (m *GMM) collapsed() (touching []int) {
	for c, cov := range m.Covs {
		above := mat.NewSymDense(m.dim(), nil)
		above.CopySym(cov)
		for j, f := range m.Floor {
			above.SetSym(j, j, cov.At(j, j)-1.001*f)
		}
		var chol mat.Cholesky
		if !chol.Factorize(above) {
			touching = append(touching, c)
		}
	}
	return slices.Clip(touching)
}
