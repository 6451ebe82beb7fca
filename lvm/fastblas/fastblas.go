// Package fastblas makes gonum's matrix products fast. Importing it is enough:
//
//	import _ "github.com/latent-lessons/latent/lvm/fastblas"
//
// From then on every package of the program that goes through blas64 or blas32, gonum's
// mat and lapack among them, multiplies with the assembly of this library where the
// processor has AVX2 or AVX-512, without cgo. The models of this library do not need it:
// they call the same code by themselves.
//
// Results differ from gonum's in the last digits, but not from one run, one processor or
// one GOMAXPROCS to the next: each element is summed in one fixed order. Where gonum
// passes over zeros, zero times Inf is NaN here.
package fastblas

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// Implementation is gonum's BLAS with faster versions of the products and the triangular
// solve: xGEMM, xSYMM, xSYRK, xSYR2K and xTRSM for float64 and float32, and DGEMV without
// a transpose.
type Implementation struct{ gonum.Implementation }

func init() {
	blas64.Use(Implementation{})
	blas32.Use(Implementation{})
}
