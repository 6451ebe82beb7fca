package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/check"
)

// The promises that every model of the library makes.
func TestConformance(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	_, plane := testGMM(Full).Sample(rng, 1100)
	line := mat.DenseCopyOf(plane.Slice(0, 1100, 1, 2))
	space := mat.NewDense(1100, 5, nil)
	for i := range 1100 {
		for j := range 5 {
			space.Set(i, j, plane.At(i, j%2)*float64(j+1)+rng.NormFloat64())
		}
	}
	for name, x := range map[string]*mat.Dense{"1-D": line, "2-D": plane, "5-D": space} {
		t.Run("k-means "+name, func(t *testing.T) { check.Run(t, kmeansModel(x)) })
		for _, shape := range shapes {
			if name != "2-D" && shape != Full {
				continue // the plane has all that differs between shapes
			}
			t.Run("mixture "+shape.String()+" "+name, func(t *testing.T) { check.Run(t, gmmModel(x, shape)) })
			t.Run("mixture by ICM "+shape.String()+" "+name, func(t *testing.T) { check.Run(t, icmModel(x, shape)) })
			t.Run("mixture by gradient "+shape.String()+" "+name, func(t *testing.T) { check.Run(t, gradientModel(x, shape)) })
		}
	}
}

// bernoulliTruth has three patterns of 24 switches: a sample has few equal rows.
func bernoulliTruth() *BernoulliMixture {
	m := &BernoulliMixture{Weights: []float64{0.5, 0.3, 0.2}, Probs: mat.NewDense(3, 24, nil)}
	m.Probs.Apply(func(c, j int, _ float64) float64 { return 0.5 + 0.4*math.Sin(float64((c+1)*(j+2))) }, m.Probs)
	return m
}

// poissonTruth has three kinds of counts.
func poissonTruth() *PoissonMixture {
	return &PoissonMixture{Weights: []float64{0.5, 0.3, 0.2}, Rates: mat.NewDense(3, 5, []float64{
		50, 3, 200, 0.5, 20,
		60, 9, 190, 0.1, 35,
		20, 4, 220, 2.0, 25})}
}

func TestConformanceOfDiscreteMixtures(t *testing.T) {
	for name, x := range map[string]*mat.Dense{
		"Bernoulli": distinctRows(bernoulliTruth().Sample(rand.New(rand.NewPCG(7, 8)), 1100)),
		"Poisson":   distinctRows(poissonTruth().Sample(rand.New(rand.NewPCG(7, 8)), 1100)),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "Bernoulli" {
				check.Run(t, bernoulliModel(x))
			} else {
				check.Run(t, poissonModel(x))
			}
		})
	}
}

// distinctRows returns the rows of x, each once.
func distinctRows(_ []int, x *mat.Dense) *mat.Dense {
	seen, rows := map[string]bool{}, []float64(nil)
	n, d := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		if key := fmt.Sprint(row); !seen[key] {
			seen[key] = true
			rows = append(rows, row...)
		}
	}
	return mat.NewDense(len(rows)/d, d, rows)
}

func bernoulliModel(x *mat.Dense) check.Model[*BernoulliMixture] {
	return check.Model[*BernoulliMixture]{
		X: x, K: 3, Discrete: true,
		Fit: func(rng *rand.Rand, x mat.Matrix, k int) (*BernoulliMixture, lvm.Trace, error) {
			return FitBernoulliMixture(rng, x, k, &BernoulliOptions{Options: lvm.Options{MaxIter: 50}})
		},
		FitFrom: func(m *BernoulliMixture, x mat.Matrix, steps int) (*BernoulliMixture, lvm.Trace, error) {
			return FitBernoulliMixture(nil, x, 3, &BernoulliOptions{Options: lvm.Options{MaxIter: steps, Tol: -1}, Start: m})
		},
		Step:   (*BernoulliMixture).Step,
		Params: func(m *BernoulliMixture) []float64 { return slices.Concat(m.Weights, m.Probs.RawMatrix().Data) },
		Relabel: func(m *BernoulliMixture, perm []int) *BernoulliMixture {
			return &BernoulliMixture{Weights: permuted(m.Weights, perm), Probs: permutedRows(m.Probs, perm)}
		},
		Assign:    (*BernoulliMixture).Assign,
		Posterior: (*BernoulliMixture).Posterior,
		LogProb:   (*BernoulliMixture).LogProb,
	}
}

func poissonModel(x *mat.Dense) check.Model[*PoissonMixture] {
	return check.Model[*PoissonMixture]{
		X: x, K: 3, Discrete: true,
		Fit: func(rng *rand.Rand, x mat.Matrix, k int) (*PoissonMixture, lvm.Trace, error) {
			return FitPoissonMixture(rng, x, k, &PoissonOptions{Options: lvm.Options{MaxIter: 50}})
		},
		FitFrom: func(m *PoissonMixture, x mat.Matrix, steps int) (*PoissonMixture, lvm.Trace, error) {
			return FitPoissonMixture(nil, x, 3, &PoissonOptions{Options: lvm.Options{MaxIter: steps, Tol: -1}, Start: m})
		},
		Step:   (*PoissonMixture).Step,
		Params: func(m *PoissonMixture) []float64 { return slices.Concat(m.Weights, m.Rates.RawMatrix().Data) },
		Relabel: func(m *PoissonMixture, perm []int) *PoissonMixture {
			return &PoissonMixture{Weights: permuted(m.Weights, perm), Rates: permutedRows(m.Rates, perm)}
		},
		Assign:    (*PoissonMixture).Assign,
		Posterior: (*PoissonMixture).Posterior,
		LogProb:   (*PoissonMixture).LogProb,
	}
}

func permuted(v []float64, perm []int) []float64 {
	r := make([]float64, len(v))
	for i, p := range perm {
		r[i] = v[p]
	}
	return r
}

func permutedRows(m *mat.Dense, perm []int) *mat.Dense {
	r := mat.DenseCopyOf(m)
	for i, p := range perm {
		r.SetRow(i, m.RawRowView(p))
	}
	return r
}

func kmeansModel(x *mat.Dense) check.Model[*KMeans] {
	return check.Model[*KMeans]{
		X: x, K: 3,
		Fit: func(rng *rand.Rand, x mat.Matrix, k int) (*KMeans, lvm.Trace, error) {
			return FitKMeans(rng, x, k, nil)
		},
		FitFrom: func(m *KMeans, x mat.Matrix, steps int) (*KMeans, lvm.Trace, error) {
			return FitKMeans(nil, x, 3, &KMeansOptions{Options: lvm.Options{MaxIter: steps, Tol: -1}, Centers: m.Centers})
		},
		Step:   (*KMeans).Step,
		Params: func(m *KMeans) []float64 { return m.Centers.RawMatrix().Data },
		Relabel: func(m *KMeans, perm []int) *KMeans {
			r := mat.DenseCopyOf(m.Centers)
			for i, p := range perm {
				r.SetRow(i, m.Centers.RawRowView(p))
			}
			return &KMeans{Centers: r}
		},
		Assign: (*KMeans).Assign,
	}
}

func gmmModel(x *mat.Dense, shape Shape) check.Model[*GMM] {
	return mixtureModel(x, shape, FitGMM, (*GMM).Step)
}

func icmModel(x *mat.Dense, shape Shape) check.Model[*GMM] {
	return mixtureModel(x, shape, FitICM, (*GMM).StepICM)
}

func gradientModel(x *mat.Dense, shape Shape) check.Model[*GMM] {
	return mixtureModel(x, shape, FitGradient, (*GMM).StepGradient)
}

type fitFunc func(rng *rand.Rand, x mat.Matrix, k int, opts *GMMOptions) (*GMM, lvm.Trace, error)

// mixtureModel is a mixture fitted in one of several ways.
func mixtureModel(x *mat.Dense, shape Shape, fit fitFunc, step func(*GMM, mat.Matrix) (*GMM, float64, error)) check.Model[*GMM] {
	return check.Model[*GMM]{
		X: x, K: 3,
		Fit: func(rng *rand.Rand, x mat.Matrix, k int) (*GMM, lvm.Trace, error) {
			return fit(rng, x, k, &GMMOptions{Options: lvm.Options{MaxIter: 50}, Shape: shape})
		},
		FitFrom: func(m *GMM, x mat.Matrix, steps int) (*GMM, lvm.Trace, error) {
			return fit(nil, x, 3, &GMMOptions{Options: lvm.Options{MaxIter: steps, Tol: -1}, Start: m})
		},
		Step: step,
		Params: func(m *GMM) []float64 {
			p := append([]float64(nil), m.Weights...)
			p = append(p, m.Means.RawMatrix().Data...)
			for _, s := range m.Covs {
				for i := range s.SymmetricDim() {
					p = append(p, s.RawSymmetric().Data[i*s.RawSymmetric().Stride+i:][:s.SymmetricDim()-i]...)
				}
			}
			return append(p, m.Floor...)
		},
		Relabel: func(m *GMM, perm []int) *GMM {
			r := m.clone()
			for i, p := range perm {
				r.Weights[i], r.Covs[i] = m.Weights[p], m.Covs[p]
				r.Means.SetRow(i, m.Means.RawRowView(p))
			}
			return r
		},
		Assign:    (*GMM).Assign,
		Posterior: (*GMM).Posterior,
		LogProb:   (*GMM).LogProb,
	}
}
