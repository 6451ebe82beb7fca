package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// symmetricWith returns QDQᵀ for a random rotation Q; its lower triangle is NaN.
func symmetricWith(rng *rand.Rand, d []float64) Matrix[float64] {
	n := len(d)
	a := Of(n, n, make([]float64, n*n), max(1, n))
	for i, v := range d {
		*a.at(i, i) = v
	}
	for range 6 { // reflections with random vectors
		u := randomVector[float64](rng, n)
		square := Dot(u, u)
		reflect := func(rows Matrix[float64]) {
			for i := range n {
				s := 0.0
				for j := range n {
					s += *rows.at(i, j) * u[j]
				}
				for j := range n {
					*rows.at(i, j) -= 2 * s / square * u[j]
				}
			}
		}
		reflect(a)
		reflect(a.T())
	}
	for i := range n {
		for j := range i {
			*a.at(j, i) = (*a.at(i, j) + *a.at(j, i)) / 2
			*a.at(i, j) = math.NaN()
		}
	}
	return a
}

// checkEigen checks values and vectors by their definition, to a multiple of n ε ‖A‖.
func checkEigen(t *testing.T, what string, a Matrix[float64], values []float64, vectors Matrix[float64]) {
	t.Helper()
	n := a.Rows
	norm := 0.0
	full := a.clone()
	for i := range n {
		for j := range i {
			*full.at(i, j) = *full.at(j, i)
		}
		for _, v := range full.row(i) {
			norm = math.Max(norm, math.Abs(v))
		}
	}
	tolerance := 8 * float64(n) * epsilon
	for i := range n - 1 {
		if values[i] < values[i+1] {
			t.Fatalf("%s: value %d is %v, then %v", what, i, values[i], values[i+1])
		}
	}
	for i := range vectors.Rows {
		x := vectors.row(i)
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			if d := math.Abs(Dot(x, vectors.row(j)) - want); !(d <= tolerance) {
				t.Fatalf("%s: product of vectors %d and %d is off by %g", what, i, j, d)
			}
		}
		for j := range n {
			if d := math.Abs(Dot(full.row(j), x) - values[i]*x[j]); !(d <= tolerance*math.Sqrt(float64(n))*norm) {
				t.Fatalf("%s: residual of vector %d is %g of %g", what, i, d, norm)
			}
		}
	}
}

// spectra are matrices of n rows that are hard for one part of the algorithm or another.
func spectra(rng *rand.Rand, n int) map[string]Matrix[float64] {
	with := func(f func(i int) float64) Matrix[float64] {
		d := make([]float64, n)
		for i := range d {
			d[i] = f(i)
		}
		return symmetricWith(rng, d)
	}
	diagonal := func(f func(i, j int) float64) Matrix[float64] {
		a := Of(n, n, make([]float64, n*n), max(1, n))
		for i := range n {
			for j := range n {
				*a.at(i, j) = f(i, j)
			}
		}
		return a
	}
	return map[string]Matrix[float64]{
		"random":      with(func(int) float64 { return rng.NormFloat64() }),
		"geometric":   with(func(i int) float64 { return math.Pow(0.5, float64(i)) }),
		"one outlier": with(func(i int) float64 { return float64(1 - min(i, 1)) }),
		"clusters":    with(func(i int) float64 { return float64(i%3) + 1e-14*rng.NormFloat64() }),
		"all equal":   with(func(i int) float64 { return 3 }),
		"huge":        with(func(i int) float64 { return rng.NormFloat64() * 1e300 }),
		"tiny":        with(func(i int) float64 { return rng.NormFloat64() * 1e-300 }),
		"zero":        diagonal(func(i, j int) float64 { return 0 }),
		"diagonal": diagonal(func(i, j int) float64 {
			if i == j {
				return float64(i * 7 % 5)
			}
			return 0
		}),
		"second difference": diagonal(func(i, j int) float64 {
			switch max(i-j, j-i) {
			case 0:
				return 2
			case 1:
				return -1
			}
			return 0
		}),
		"Wilkinson": diagonal(func(i, j int) float64 { // pairs of nearly equal values
			switch max(i-j, j-i) {
			case 0:
				return math.Abs(float64(i) - float64(n-1)/2)
			case 1:
				return 1
			}
			return 0
		}),
		"ones": diagonal(func(i, j int) float64 { return 1 }),
		"positive coupling, graded": diagonal(func(i, j int) float64 {
			return math.Pow(10, -float64(i+j)/4)
		}),
	}
}

func TestEigen(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 24, 25, 31, 50, 51, 100, 163} {
		rng := rand.New(rand.NewPCG(10, uint64(n)))
		for name, a := range spectra(rng, n) {
			values, vectors, ok := Eigen(a, n)
			if !ok {
				t.Fatalf("%s %d: refused", name, n)
			}
			checkEigen(t, fmt.Sprintf("%s %d", name, n), a, values, vectors)
		}
	}
}

func TestEigenTop(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for name, a := range spectra(rng, 90) {
		all, vectors, _ := Eigen(a, 90)
		for _, k := range []int{0, 1, 7, 40} {
			values, top, ok := Eigen(a, k)
			if !ok {
				t.Fatalf("%s: refused", name)
			}
			checkEigen(t, fmt.Sprintf("%s, top %d", name, k), a, values, top)
			norm := math.Max(math.Abs(all[0]), math.Abs(all[89]))
			for i, v := range values {
				if d := math.Abs(v - all[i]); d > 1e-13*norm {
					t.Errorf("%s, top %d: value %d is %v, with all vectors %v", name, k, i, v, all[i])
				}
			}
			checkSame(t, name, Of(k, 90, top.Data, 90), Of(k, 90, vectors.Data[:k*90], 90))
		}
	}
}

func TestEigenAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	const n = 120
	a := randomCovariance[float64](rng, n)
	values, _, _ := Eigen(a, n)
	var want mat.EigenSym
	if !want.Factorize(mat.NewSymDense(n, append([]float64(nil), copyOf(a)...)), false) {
		t.Fatal("gonum failed")
	}
	for i, w := range want.Values(nil) {
		// Both are backward stable, and the largest value is below 6.
		if d := math.Abs(values[n-1-i] - w); d > 1e-13 {
			t.Errorf("value %d: %v, gonum %v", i, values[n-1-i], w)
		}
	}
}

func copyOf(a Matrix[float64]) []float64 {
	var d []float64
	for i := range a.Rows {
		d = append(d, a.row(i)...)
	}
	return d
}

func TestEigenBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	n := 400
	if testing.Short() {
		n = 150
	}
	for name, a := range spectra(rng, n) {
		if name != "random" && name != "clusters" {
			continue
		}
		wantValues, wantVectors, _ := Eigen(a, n)
		for p := portable; p <= best(); p++ {
			force(t, p)
			for _, procs := range []int{1, 2, 5} {
				withProcs(procs, func() {
					values, vectors, _ := Eigen(a, n)
					what := fmt.Sprintf("%s, %v, GOMAXPROCS %d", name, p, procs)
					checkSame(t, what, Of(1, n, values, n), Of(1, n, wantValues, n))
					checkSame(t, what, vectors, wantVectors)
				})
			}
		}
	}
}

func TestEigenRefusals(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, _, ok := Eigen(Of(2, 2, []float64{1, v, 0, 1}, 2), 1); ok {
			t.Errorf("a matrix with %v has eigenvalues", v)
		}
	}
	if values, vectors, ok := Eigen(Of(0, 0, []float64(nil), 1), 0); !ok || len(values) != 0 || vectors.Rows != 0 {
		t.Error("the empty matrix is refused")
	}
	mustPanic(t, "not square", func() { Eigen(Of(1, 2, make([]float64, 2), 2), 0) })
	mustPanic(t, "too many vectors", func() { Eigen(Of(1, 1, make([]float64, 1), 1), 2) })
}
