package clustering

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// constrain takes the covariances of the rows about their means, S_k, to those
// of the shape and the floor that maximise
//
//	Q = −½ Σ_k π_k ( ln |Σ_k| + tr(Σ_k⁻¹ S_k) )   subject to   Σ_k ≽ diag(Floor).
func (m *GMM) constrain() {
	d := m.dim()
	switch m.Shape {
	case Full:
		for _, s := range m.Covs {
			raise(s, m.Floor)
		}
	case Tied:
		pooled := mat.NewSymDense(d, nil)
		for k, s := range m.Covs {
			for i := range d {
				for j := i; j < d; j++ {
					pooled.SetSym(i, j, pooled.At(i, j)+m.Weights[k]*s.At(i, j))
				}
			}
		}
		raise(pooled, m.Floor)
		for _, s := range m.Covs {
			s.CopySym(pooled)
		}
	case Diagonal:
		for _, s := range m.Covs {
			for j := range m.Floor {
				s.SetSym(j, j, max(s.At(j, j), m.Floor[j]))
			}
		}
	case Spherical:
		for _, s := range m.Covs {
			variance := mat.Trace(s) / float64(d)
			for _, f := range m.Floor {
				variance = max(variance, f)
			}
			for j := range d {
				s.SetSym(j, j, variance)
			}
		}
	}
}

// raise replaces S by the Σ ≽ diag(f) that minimises ln |Σ| + tr(Σ⁻¹ S). In units
// in which every column has floor 1, with S = U Λ Uᵀ, that is U max(Λ, 1) Uᵀ: the
// trace is least when Σ has the eigenvectors of S, and then each eigenvalue σ
// minimises ln σ + λ/σ, which falls up to σ = λ and rises beyond.
func raise(s *mat.SymDense, f []float64) {
	if f == nil {
		return
	}
	d := s.SymmetricDim()
	above := mat.NewSymDense(d, nil)
	above.CopySym(s)
	for j, v := range f {
		above.SetSym(j, j, s.At(j, j)-v)
	}
	var chol mat.Cholesky
	if chol.Factorize(above) {
		return // S ≽ diag(f) as it is
	}
	for i := range d {
		for j := i; j < d; j++ {
			above.SetSym(i, j, s.At(i, j)/math.Sqrt(f[i])/math.Sqrt(f[j]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(above, true) {
		return // not finite; factoring S will say so
	}
	var u mat.Dense
	eigen.VectorsTo(&u)
	lambda := eigen.Values(nil)
	for i := range d {
		for j := i; j < d; j++ {
			var v float64
			for e, l := range lambda {
				v += max(l, 1) * u.At(i, e) * u.At(j, e)
			}
			s.SetSym(i, j, v*math.Sqrt(f[i])*math.Sqrt(f[j]))
		}
	}
}
