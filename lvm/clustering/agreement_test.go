package clustering

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// bestAssignment tries every way of giving the rows different columns.
func bestAssignment(cost mat.Matrix, row int, used []bool) float64 {
	r, c := cost.Dims()
	if row == r {
		return 0
	}
	least := math.Inf(1)
	for j := range c {
		if !used[j] {
			used[j] = true
			least = min(least, cost.At(row, j)+bestAssignment(cost, row+1, used))
			used[j] = false
		}
	}
	return least
}

func TestHungarianAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		r, c := 1+rng.IntN(6), 1+rng.IntN(6)
		cost := mat.NewDense(r, c, nil)
		for i := range r {
			for j := range c {
				cost.Set(i, j, float64(rng.IntN(9)-4)) // ties, and sums without rounding
			}
		}
		got := Hungarian(cost)
		var sum float64
		used, left := make(map[int]bool), 0
		for i, j := range got {
			if j < 0 {
				left++
				continue
			}
			if used[j] {
				t.Fatalf("column %d used twice: %v", j, got)
			}
			used[j] = true
			sum += cost.At(i, j)
		}
		if left != max(0, r-c) {
			t.Fatalf("%d rows of %d×%d left over: %v", left, r, c, got)
		}
		var narrow mat.Matrix = cost
		if r > c {
			narrow = cost.T()
		}
		nr, nc := narrow.Dims()
		if want := bestAssignment(narrow, 0, make([]bool, nc)); sum != want {
			t.Fatalf("%d×%d: cost %v, want %v for\n%v", nr, nc, sum, want, mat.Formatted(cost))
		}
	}
}

func TestHungarianPanics(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 2e300} {
		mustPanic(t, "Hungarian", func() { Hungarian(mat.NewDense(2, 2, []float64{1, 2, bad, 0})) })
	}
	if got := Hungarian(&mat.Dense{}); len(got) != 0 {
		t.Errorf("no rows: got %v", got)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name     string
		a, b     []int
		perm     []int
		accuracy float64
	}{
		{"renamed", []int{0, 0, 1, 1, 2, 2}, []int{2, 2, 0, 0, 1, 1}, []int{2, 0, 1}, 1},
		{"one row astray", []int{0, 0, 0, 1, 1}, []int{1, 1, 0, 0, 0}, []int{1, 0}, .8},
		{"more labels in a", []int{0, 0, 1, 2, 2}, []int{0, 0, 0, 1, 1}, []int{0, -1, 1}, .8},
		{"more labels in b", []int{0, 0, 0, 0}, []int{2, 2, 1, 0}, []int{2}, .5},
		{"unplaced rows never agree", []int{-1, 0, 1, -1}, []int{-1, 1, 0, 0}, []int{1, 0}, .5},
		{"nothing placed", []int{-1, -1}, []int{0, 1}, []int{}, 0},
		{"nothing placed in b", []int{1, 0}, []int{-1, -1}, []int{-1, -1}, 0},
		{"no rows", nil, nil, []int{}, 1},
	} {
		perm, accuracy := Match(c.a, c.b)
		if !slices.Equal(perm, c.perm) || accuracy != c.accuracy {
			t.Errorf("%s: got %v %v, want %v %v", c.name, perm, accuracy, c.perm, c.accuracy)
		}
	}
	mustPanic(t, "Match", func() { Match([]int{1}, nil) })
}

func TestContingency(t *testing.T) {
	counts, rows, cols := Contingency([]int{5, -1, 5, 5}, []int{0, 0, 7, 7})
	if !slices.Equal(rows, []int{-1, 5}) || !slices.Equal(cols, []int{0, 7}) ||
		!slices.Equal(counts[0], []int{1, 0}) || !slices.Equal(counts[1], []int{1, 2}) {
		t.Errorf("got %v, rows %v, columns %v", counts, rows, cols)
	}
	mustPanic(t, "Contingency", func() { Contingency([]int{1}, nil) })
}

// The pairs of rows are counted one by one.
func TestAdjustedRandAgainstPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		n := 2 + rng.IntN(9)
		a, b := make([]int, n), make([]int, n)
		for i := range a {
			a[i], b[i] = rng.IntN(4)-1, rng.IntN(3)-1
		}
		var both, inA, inB, all float64
		for i := range n {
			for j := range i {
				all++
				if a[i] == a[j] {
					inA++
				}
				if b[i] == b[j] {
					inB++
				}
				if a[i] == a[j] && b[i] == b[j] {
					both++
				}
			}
		}
		want := (both*all - inA*inB) / ((inA+inB)/2*all - inA*inB)
		if math.IsNaN(want) {
			want = 1
		}
		// a handful of operations on numbers up to 2000
		if got := AdjustedRand(a, b); math.Abs(got-want) > 1e-14 {
			t.Fatalf("%v %v: got %v, want %v", a, b, got, want)
		}
	}
}

// testdata/agreement.json comes from scikit-learn and scipy; see
// testdata/README.md.
func TestAgreementAgainstSklearn(t *testing.T) {
	text, err := os.ReadFile("testdata/agreement.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name           string
		A, B           []int
		ARI, NMI       float64
		Cost           [][]float64
		AssignmentCost float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Cost != nil {
			cost := mat.NewDense(len(c.Cost), len(c.Cost[0]), nil)
			for i, row := range c.Cost {
				cost.SetRow(i, row)
			}
			var sum float64
			for i, j := range Hungarian(cost) {
				if j >= 0 {
					sum += c.Cost[i][j]
				}
			}
			// sums of at most 60 costs below 1
			if math.Abs(sum-c.AssignmentCost) > 1e-12 {
				t.Errorf("%s: cost %v, want %v", c.Name, sum, c.AssignmentCost)
			}
			continue
		}
		// sums over a small table of numbers of size 1
		if got := AdjustedRand(c.A, c.B); math.Abs(got-c.ARI) > 1e-12 {
			t.Errorf("%s: adjusted Rand %v, want %v", c.Name, got, c.ARI)
		}
		if got := NormalizedMutualInfo(c.A, c.B); math.Abs(got-c.NMI) > 1e-12 {
			t.Errorf("%s: NMI %v, want %v", c.Name, got, c.NMI)
		}
	}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}
