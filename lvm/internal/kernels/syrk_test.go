package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// slowGram is Gram by way of the two operands.
func slowGram[T Float](alpha T, x Matrix[T], mean, weights []T, beta T, c Matrix[T]) {
	a := Of(x.Rows, x.Cols, make([]T, x.Rows*x.Cols), max(1, x.Cols))
	b := a.clone()
	for i := range x.Rows {
		for j := range x.Cols {
			v := *x.at(i, j)
			if mean != nil {
				v -= mean[j]
			}
			*a.at(i, j) = v
			if weights != nil {
				v *= weights[i]
			}
			*b.at(i, j) = v
		}
	}
	for j := range c.Rows { // the upper triangle row by row, then mirrored
		slowGemm(alpha, a.Slice(0, x.Rows, j, j+1).T(), b.Slice(0, x.Rows, j, x.Cols), beta, c.Slice(j, j+1, j, x.Cols))
	}
	mirror(c)
}

func randomVector[T Float](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(rng.NormFloat64())
	}
	return v
}

func testGram[T Float](t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 1))
		for trial := range trials(120) {
			n, d := pick(rng, edgeInner), pick(rng, edgeCols)
			if n*d*d > 1<<18 {
				continue
			}
			if trial%40 == 0 { // long sums
				n, d = 2100+rng.IntN(300), 20
			}
			x := randomView[T](rng, normal, n, d, rng.IntN(3), rng.IntN(4) == 0)
			c := randomView[T](rng, normal, d, d, rng.IntN(3), false)
			var mean, weights []T
			if rng.IntN(2) == 0 {
				mean = randomVector[T](rng, d)
			}
			if rng.IntN(2) == 0 {
				weights = randomVector[T](rng, n)
			}
			alpha, beta := T(pick(rng, scalars)), T(pick(rng, scalars))
			want := c.clone()
			slowGram(alpha, x, mean, weights, beta, want)
			for _, procs := range []int{1, 2, 5} {
				got := c.clone()
				withProcs(procs, func() { Gram(alpha, x, mean, weights, beta, got) })
				checkSame(t, fmt.Sprintf("%d×%d mean %v weights %v α=%v β=%v", n, d, mean != nil, weights != nil, alpha, beta), got, want)
			}
		}
	})
}

func TestGram(t *testing.T) {
	t.Run("float64", testGram[float64])
	t.Run("float32", testGram[float32])
}

func TestGramAtScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	x := randomView[float64](rng, normal, 1500, 260, 1, false)
	mean, weights := randomVector[float64](rng, 260), randomVector[float64](rng, 1500)
	want := randomView[float64](rng, normal, 260, 260, 0, false)
	slowGram(1, x, mean, weights, 0, want)
	for _, procs := range []int{1, 2, 5} {
		got := randomView[float64](rng, normal, 260, 260, 0, false)
		withProcs(procs, func() { Gram(1, x, mean, weights, 0, got) })
		checkSame(t, fmt.Sprintf("GOMAXPROCS %d", procs), got, want)
	}
}

// One triangle is written and the other left alone, whatever the tiles hang over.
func testTriangles[T Float](t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 3))
		for _, n := range edgeCols {
			k := 300 // two blocks
			if n > 33 {
				k = 20
			}
			for _, part := range []Part{Upper, Lower} {
				for trans := range 2 {
					a := randomView[T](rng, normal, n, k, 1, trans == 1)
					c := randomView[T](rng, normal, n, n, 1, rng.IntN(2) == 0)
					want := c.clone()
					full := c.clone()
					slowGemm(0.5, a, a.T(), 2, full)
					for i := range n {
						for j := range n {
							if part == Upper && i <= j || part == Lower && i >= j {
								*want.at(i, j) = *full.at(i, j)
							}
						}
					}
					gemm(product[T]{alpha: 0.5, a: a, b: a.T(), c: c, part: part}, 2)
					checkSame(t, fmt.Sprintf("n=%d part %d transposed %d", n, part, trans), c, want)
				}
			}
		}
	})
}

func TestTriangles(t *testing.T) {
	t.Run("float64", testTriangles[float64])
	t.Run("float32", testTriangles[float32])
}

func TestGramRefusals(t *testing.T) {
	x, c := Of(3, 2, make([]float64, 6), 2), Of(2, 2, make([]float64, 4), 2)
	mustPanic(t, "mean", func() { Gram(1, x, make([]float64, 3), nil, 0, c) })
	mustPanic(t, "weights", func() { Gram(1, x, nil, make([]float64, 2), 0, c) })
	mustPanic(t, "shape", func() { Gram(1, x.T(), nil, nil, 0, c) })
	mustPanic(t, "overlap", func() { Gram(1, x, nil, nil, 0, x.Slice(0, 2, 0, 2)) })
	mustPanic(t, "columns in one piece", func() { Gram(1, x, nil, nil, 0, c.T()) })
}
