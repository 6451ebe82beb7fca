package fastblas_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	_ "github.com/latent-lessons/latent/lvm/fastblas"
)

func Example() {
	a := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	var c mat.Dense
	c.Mul(a, a.T()) // through the registered BLAS
	fmt.Println(mat.Formatted(&c))
	// Output:
	// ⎡ 5  11⎤
	// ⎣11  25⎦
}
