package clustering

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// Mixture is what GMM, BernoulliMixture and PoissonMixture have in common, and
// what choosing among mixtures needs to know of them.
type Mixture interface {
	LogProb(x []float64) float64
	LogLikelihood(x mat.Matrix) float64
	Posterior(x mat.Matrix) *mat.Dense
	Assign(x mat.Matrix) []int
	Sample(rng *rand.Rand, n int) (z []int, x *mat.Dense)
	NumParams() int
	AIC(x mat.Matrix) float64
	BIC(x mat.Matrix) float64
	ICL(x mat.Matrix) float64
}

// Family fits mixtures of one kind with any number of components, to any data:
// Gaussians, Bernoullis, Poissons, or a function of your own.
type Family func(rng *rand.Rand, x mat.Matrix, k int) (Mixture, lvm.Trace, error)

// Gaussians returns the family of FitGMM with the given options. Row weights and
// a Start among them fit only data of that size.
func Gaussians(opts *GMMOptions) Family { return family(FitGMM, opts) }

// Bernoullis returns the family of FitBernoulliMixture, as Gaussians does.
func Bernoullis(opts *BernoulliOptions) Family { return family(FitBernoulliMixture, opts) }

// Poissons returns the family of FitPoissonMixture, as Gaussians does.
func Poissons(opts *PoissonOptions) Family { return family(FitPoissonMixture, opts) }

func family[M Mixture, O any](fit func(*rand.Rand, mat.Matrix, int, O) (M, lvm.Trace, error), opts O) Family {
	return func(rng *rand.Rand, x mat.Matrix, k int) (Mixture, lvm.Trace, error) {
		m, trace, err := fit(rng, x, k, opts)
		if err != nil {
			return nil, trace, err
		}
		return m, trace, nil
	}
}

// Criterion is a number by which mixtures are compared: smaller is better.
type Criterion int

const (
	BIC Criterion = iota // GMM.BIC
	ICL                  // GMM.ICL
	AIC                  // GMM.AIC
)

// String returns the name of the criterion.
func (c Criterion) String() string {
	switch c {
	case BIC:
		return "BIC"
	case ICL:
		return "ICL"
	case AIC:
		return "AIC"
	}
	return fmt.Sprintf("Criterion(%d)", int(c))
}

// inParallel calls f for every task below n, each with a generator of its own,
// split from rng in order before the first begins.
func inParallel(rng *rand.Rand, n int, f func(task int, rng *rand.Rand)) {
	rngs := make([]*rand.Rand, n)
	for i := range rngs {
		rngs[i] = num.Split(rng)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, own := range rngs {
		slots <- struct{}{}
		wg.Go(func() {
			f(i, own)
			<-slots
		})
	}
	wg.Wait()
}
