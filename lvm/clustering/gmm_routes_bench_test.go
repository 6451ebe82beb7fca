package clustering

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// routes are the steps that can be taken from one mixture.
var routes = []struct {
	name string
	step func(*GMM, mat.Matrix) (*GMM, float64, error)
}{{"em", (*GMM).Step}, {"icm", (*GMM).StepICM}, {"gradient", (*GMM).StepGradient}}

// BenchmarkRouteStep is the time of one step.
func BenchmarkRouteStep(b *testing.B) {
	x, m := benchMixture(100000, 8, 8, Full)
	for _, r := range routes {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := r.step(m, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRouteClimb is the time from one start up to within a thousandth of a
// nat per row of the maximum, for two components that lie apart, touch and
// overlap; for ICM, which has another maximum, up to where it stands still.
func BenchmarkRouteClimb(b *testing.B) {
	const n = 2000
	for _, apart := range []float64{6, 3, 2} {
		truth := &GMM{Weights: []float64{0.6, 0.4}, Means: mat.NewDense(2, 2, []float64{0, 0, apart, 0}),
			Covs: []*mat.SymDense{sym(2, 1, 0.5, 0.5, 1), sym(2, 1, -0.5, -0.5, 1)}}
		_, x := truth.Sample(rand.New(rand.NewPCG(1, 2)), n)
		best, _, err := FitGMM(nil, x, 2, &GMMOptions{Options: lvm.Options{MaxIter: 100000, Tol: 1e-14}, Start: truth})
		if err != nil {
			b.Fatal(err)
		}
		start := truth.clone()
		start.Means.Set(0, 1, 1)
		start.Means.Set(1, 1, -1)
		start.Weights = []float64{0.5, 0.5}
		enough := best.LogLikelihood(x) - 1e-3*n
		for _, r := range routes {
			b.Run(fmt.Sprintf("%v/%s", apart, r.name), func(b *testing.B) {
				steps := 0
				for b.Loop() {
					m, last := start, 0.0
					for steps = 0; ; steps++ {
						next, objective, err := r.step(m, x)
						if err != nil {
							b.Fatal(err)
						}
						if objective >= enough || objective == last {
							break
						}
						m, last = next, objective
					}
				}
				b.ReportMetric(float64(steps), "steps")
			})
		}
	}
}
