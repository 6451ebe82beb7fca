package sampling

import (
	"errors"
	"math"
	"math/cmplx"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// chain523 is the chain (5.23) of notes 000.
func chain523() *MarkovChain {
	return &MarkovChain{Transition: mat.NewDense(3, 3, []float64{0, 0, 1, 0.6, 0, 0.4, 0, 0.9, 0.1})}
}

func close3(got, want []float64, tol float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol) {
			return false
		}
	}
	return true
}

// All numbers of the catalogue for (5.23): 000, A85 and A87.
func TestChain523(t *testing.T) {
	c := chain523()
	start := []float64{0.5, 0.3, 0.2}
	for n, want := range map[int][]float64{
		0: start, 1: {0.18, 0.18, 0.64}, 2: {0.108, 0.576, 0.316}, 3: {0.3456, 0.2844, 0.37}, 10: {0.207104, 0.377123, 0.415773},
	} {
		if got := c.After(start, n); !close3(got, want, 5e-7) {
			t.Errorf("Π^(%d) = %v, want %v", n, got, want)
		}
		var product mat.Dense
		product.Mul(mat.NewDense(1, 3, start), c.Power(n))
		if !close3(product.RawRowView(0), want, 5e-7) {
			t.Errorf("Π^(0) T^%d = %v, want %v", n, product.RawRowView(0), want)
		}
	}
	// ERR-25: a column vector times T is another thing.
	var column mat.VecDense
	column.MulVec(c.Transition, mat.NewVecDense(3, start))
	if !close3(column.RawVector().Data, []float64{0.2, 0.38, 0.29}, 1e-15) || close3(column.RawVector().Data, c.After(start, 1), 0.01) {
		t.Errorf("T Π = %v", column.RawVector().Data)
	}

	want := []float64{27.0 / 122, 45.0 / 122, 50.0 / 122}
	p, err := c.Invariant()
	if err != nil || !close3(p, want, 1e-15) {
		t.Errorf("invariant %v, want %v; %v", p, want, err)
	}
	power, trace := c.InvariantByPower(start, nil)
	if trace.Err() != nil || !close3(power, want, 1e-11) {
		t.Errorf("by power %v, want %v; %v", power, want, trace.Err())
	}
	if !c.Irreducible() || c.Period(0) != 1 || c.Period(2) != 1 || !c.Ergodic() {
		t.Error("(5.23) is ergodic")
	}

	values := c.Eigenvalues()
	im := 0.580948
	if cmplx.Abs(values[0]-1) > 1e-14 || math.Abs(real(values[1])+0.45) > 1e-14 || math.Abs(math.Abs(imag(values[1]))-im) > 1e-6 || cmplx.Abs(values[2]-cmplx.Conj(values[1])) > 1e-14 {
		t.Errorf("eigenvalues %v", values)
	}
	if got := c.MixingRate(); math.Abs(got-math.Sqrt(0.54)) > 1e-14 {
		t.Errorf("mixing rate %v, want √0.54", got)
	}
	// The distance shrinks by the mixing rate per step in the long run. The
	// eigenvalues are complex, so compare over many steps.
	d := func(n int) float64 { return TotalVariation(c.After(start, n), want) }
	if rate := math.Pow(d(80)/d(20), 1.0/60); math.Abs(rate-math.Sqrt(0.54)) > 0.01 {
		t.Errorf("the distance shrinks by %v per step", rate)
	}

	// Invariant, but not in detailed balance: it flows in a circle.
	flow := c.Flow(p)
	for _, f := range []struct {
		i, j int
		want float64
	}{{0, 2, 0.2213}, {2, 0, 0}, {1, 2, 0.1475}, {2, 1, 0.3689}} {
		if got := flow.At(f.i, f.j); math.Abs(got-f.want) > 5e-5 {
			t.Errorf("flow %d→%d = %v, want %v", f.i+1, f.j+1, got, f.want)
		}
	}
	if worst, i, j := c.DetailedBalance(p); math.Abs(worst-27.0/122) > 1e-15 || j-i < 1 {
		t.Errorf("detailed balance is off by %v between %d and %d", worst, i, j)
	}
}

// The states visited come with the invariant frequencies, and the steps with
// the transition probabilities.
func TestMarkovSimulate(t *testing.T) {
	c := chain523()
	const n = 300_000
	path := c.Simulate(newRand(1), 0, n)
	counts, pairs := make([]int, 3), [3][]int{make([]int, 3), make([]int, 3), make([]int, 3)}
	for i, s := range path {
		counts[s]++
		if i > 0 {
			pairs[path[i-1]][s]++
		}
	}
	// The frequencies of a chain vary more or less than those of independent
	// draws; with λ = −0.45 ± 0.58i less. 4 standard errors are 0.004.
	p, _ := c.Invariant()
	for s, k := range counts {
		if math.Abs(float64(k)/n-p[s]) > 0.004 {
			t.Errorf("state %d: frequency %v, want %v", s, float64(k)/n, p[s])
		}
	}
	for s := range pairs {
		if q := chiSquare(pairs[s], c.Transition.RawRowView(s)); s > 0 && q < tooUnlikely {
			t.Errorf("from state %d: %v, chi-square p = %v", s, pairs[s], q)
		}
	}
	if pairs[0][0] != 0 || pairs[0][1] != 0 || pairs[1][1] != 0 || pairs[2][0] != 0 {
		t.Errorf("steps of probability zero were taken: %v", pairs)
	}
	// It is a kernel.
	chain, err := Run(newRand(1), c, 0, 1000, nil)
	if err != nil || !reflect.DeepEqual(chain.States, path[:1000]) {
		t.Errorf("Run and Simulate differ: %v", err)
	}
}

func newChain(t *testing.T, n int, p ...float64) *MarkovChain {
	t.Helper()
	c, err := NewMarkovChain(mat.NewDense(n, n, p))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMarkovStructure(t *testing.T) {
	for _, c := range []struct {
		name    string
		chain   *MarkovChain
		classes [][]int
		closed  [][]int
		periods []int
		rate    float64
	}{
		{"one state", newChain(t, 1, 1), [][]int{{0}}, [][]int{{0}}, []int{1}, 0},
		{"two-cycle", newChain(t, 2, 0, 1, 1, 0), [][]int{{0, 1}}, [][]int{{0, 1}}, []int{2, 2}, 1},
		{"three-cycle", newChain(t, 3, 0, 1, 0, 0, 0, 1, 1, 0, 0), [][]int{{0, 1, 2}}, [][]int{{0, 1, 2}}, []int{3, 3, 3}, 1},
		{"identity", newChain(t, 2, 1, 0, 0, 1), [][]int{{0}, {1}}, [][]int{{0}, {1}}, []int{1, 1}, 1},
		{"absorbing", newChain(t, 3, 0, 1, 0, 0, 0, 1, 0, 0, 1), [][]int{{0}, {1}, {2}}, [][]int{{2}}, []int{0, 0, 1}, 0},
		{"cycles of 2 and 3", newChain(t, 3, 0, 1, 0, 0.5, 0, 0.5, 1, 0, 0), [][]int{{0, 1, 2}}, [][]int{{0, 1, 2}}, []int{1, 1, 1}, math.NaN()},
		{"cycles of 2 and 4", newChain(t, 4, 0, 1, 0, 0, 0.5, 0, 0.5, 0, 0, 0, 0, 1, 1, 0, 0, 0), [][]int{{0, 1, 2, 3}}, [][]int{{0, 1, 2, 3}}, []int{2, 2, 2, 2}, 1},
		{"two classes and a way in", newChain(t, 5,
			0, 1, 0, 0, 0,
			1, 0, 0, 0, 0,
			0.2, 0, 0.3, 0.5, 0,
			0, 0, 0, 0.5, 0.5,
			0, 0, 0, 1, 0), [][]int{{0, 1}, {2}, {3, 4}}, [][]int{{0, 1}, {3, 4}}, []int{2, 2, 1, 1, 1}, 1},
	} {
		if got := c.chain.Classes(); !reflect.DeepEqual(got, c.classes) {
			t.Errorf("%s: classes %v, want %v", c.name, got, c.classes)
		}
		if got := c.chain.Closed(); !reflect.DeepEqual(got, c.closed) {
			t.Errorf("%s: closed classes %v, want %v", c.name, got, c.closed)
		}
		for s, want := range c.periods {
			if got := c.chain.Period(s); got != want {
				t.Errorf("%s: period of %d is %d, want %d", c.name, s, got, want)
			}
		}
		if got := c.chain.Irreducible(); got != (len(c.classes) == 1) {
			t.Errorf("%s: irreducible: %v", c.name, got)
		}
		if got := c.chain.Ergodic(); got != (len(c.classes) == 1 && c.periods[0] == 1) {
			t.Errorf("%s: ergodic: %v", c.name, got)
		}
		if got := c.chain.MixingRate(); !math.IsNaN(c.rate) && math.Abs(got-c.rate) > 1e-7 {
			t.Errorf("%s: mixing rate %v, want %v", c.name, got, c.rate)
		}
		p, err := c.chain.Invariant()
		var reducible *ReducibleError
		if len(c.closed) > 1 {
			if !errors.As(err, &reducible) || !reflect.DeepEqual(reducible.Closed, c.closed) {
				t.Errorf("%s: %v, %v", c.name, p, err)
			}
			continue
		}
		if err != nil || TotalVariation(p, c.chain.After(p, 1)) > 1e-15 {
			t.Errorf("%s: invariant %v, %v", c.name, p, err)
		}
	}
}

// A periodic chain has an invariant distribution and does not converge to
// it, and the iteration says so instead of going on for ever.
func TestMarkovPeriodicPower(t *testing.T) {
	c := newChain(t, 2, 0, 1, 1, 0)
	_, trace := c.InvariantByPower([]float64{1, 0}, &PowerOptions{MaxIter: 50})
	if !errors.Is(trace.Err(), lvm.ErrIterationLimit) || trace.Steps() != 50 || trace.Final() != -1 {
		t.Errorf("%v after %d steps", trace.Err(), trace.Steps())
	}
	if p, trace := c.InvariantByPower([]float64{0.5, 0.5}, nil); trace.Err() != nil || trace.Steps() != 0 || p[0] != 0.5 {
		t.Errorf("from the invariant distribution: %v, %v", p, trace)
	}
}

// Elimination is accurate where the probabilities differ by many orders of
// magnitude: a walk with drift, whose invariant distribution is geometric.
func TestInvariantTinyProbabilities(t *testing.T) {
	const n, up, down = 100, 0.001, 0.9
	m := mat.NewDense(n, n, nil)
	for i := range n {
		stay := 1.0
		if i > 0 {
			m.Set(i, i-1, down)
			stay -= down
		}
		if i < n-1 {
			m.Set(i, i+1, up)
			stay -= up
		}
		m.Set(i, i, stay)
	}
	c, err := NewMarkovChain(m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Invariant()
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < n; i++ {
		if ratio := p[i] / p[i-1]; math.Abs(ratio/(up/down)-1) > 1e-12 {
			t.Fatalf("p[%d] = %v is %v times the one before, want %v", i, p[i], ratio, up/down)
		}
	}
	if worst, _, _ := c.DetailedBalance(p); worst > 1e-16 {
		t.Errorf("a walk on a line is reversible, but off by %v", worst)
	}
}

// Solving and power agree, and so does the eigenvector: random chains.
func TestInvariantTwoRoutes(t *testing.T) {
	rng := newRand(1)
	for _, n := range []int{2, 5, 20} {
		m := mat.NewDense(n, n, nil)
		start := make([]float64, n)
		for i := range n {
			start[i] = 1 / float64(n)
			row := m.RawRowView(i)
			var sum float64
			for j := range row {
				row[j] = rng.ExpFloat64()
				sum += row[j]
			}
			for j := range row {
				row[j] /= sum
			}
		}
		c, err := NewMarkovChain(m)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Invariant()
		q, trace := c.InvariantByPower(start, nil)
		if err != nil || trace.Err() != nil || TotalVariation(p, q) > 1e-11 {
			t.Errorf("n = %d: %v and %v; %v, %v", n, p, q, err, trace.Err())
		}
	}
	// Metropolis–Hastings is reversible by construction.
	p := []float64{0.1, 0.3, 0.6}
	c, err := NewMarkovChain(MetropolisMatrix(p, mat.NewDense(3, 3, []float64{0.2, 0.5, 0.3, 0.1, 0.1, 0.8, 0.4, 0.4, 0.2})))
	if err != nil {
		t.Fatal(err)
	}
	q, err := c.Invariant()
	if worst, _, _ := c.DetailedBalance(q); err != nil || !close3(q, p, 1e-15) || worst > 1e-16 {
		t.Errorf("Metropolis–Hastings: invariant %v, balance off by %v; %v", q, worst, err)
	}
}

func TestMarkovBadInput(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		m        *mat.Dense
		row, col int
		says     string
	}{
		{mat.NewDense(2, 2, []float64{0.5, 0.5, 0.5, 0.4}), 1, -1, "sum to 0.9; try dividing"},
		{mat.NewDense(2, 2, []float64{0.9, 0.8, 0.1, 0.2}), 0, -1, "transpose"},
		{mat.NewDense(2, 2, []float64{0.5, 0.5, 1.5, -0.5}), 1, 0, "1.5"},
		{mat.NewDense(2, 2, []float64{0.5, 0.5, nan, 1}), 1, 0, "NaN"},
		{mat.NewDense(2, 2, []float64{1, -1e-300, 0, 1}), 0, 1, "-1e-300"},
		{mat.NewDense(1, 1, []float64{0}), 0, -1, "sum to 0"},
	} {
		_, err := NewMarkovChain(c.m)
		var data *lvm.DataError
		if !errors.As(err, &data) || data.Row != c.row || data.Col != c.col || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", mat.Formatted(c.m), err)
		}
		if _, info := (&MarkovChain{Transition: c.m}).Step(newRand(1), 0); !errors.As(info.Err, &data) {
			t.Errorf("Step: %v", info.Err)
		}
	}
	var shape *lvm.ShapeError
	if _, err := NewMarkovChain(mat.NewDense(1, 2, []float64{0.5, 0.5})); !errors.As(err, &shape) {
		t.Error(err)
	}
	for _, s := range []int{-1, 3} {
		if at, info := chain523().Step(newRand(1), s); at != s || info.Err == nil {
			t.Errorf("from state %d: %v", s, info.Err)
		}
	}
	for i, f := range []func(){
		func() { (&MarkovChain{Transition: mat.NewDense(1, 1, []float64{0.5})}).Classes() },
		func() { (&MarkovChain{}).Classes() },
		func() { chain523().After([]float64{1}, 1) },
		func() { chain523().After([]float64{1, 0, 0}, -1) },
		func() { chain523().Power(-1) },
		func() { chain523().Period(3) },
		func() { chain523().Simulate(newRand(1), 3, 1) },
		func() { chain523().Simulate(nil, 0, 1) },
		func() { TotalVariation([]float64{1}, nil) },
		func() { chain523().InvariantByPower([]float64{1, 0, 0}, &PowerOptions{Tol: -1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d: no panic", i)
				}
			}()
			f()
		}()
	}
}

// Eleven pages, from the figure in the encyclopaedia article on PageRank, with
// A = 0, …; the ranks are from testdata/pagerank.py and agree with those
// printed in the figure, 3.3, 38.4, 34.3, 3.9, 8.1, 3.9 and 1.6 per cent.
var elevenPages = [][]int{{}, {2}, {1}, {0, 1}, {1, 3, 5}, {1, 4}, {1, 4}, {1, 4}, {1, 4}, {4}, {4}}

func TestPageRank(t *testing.T) {
	for damping, want := range map[float64][]float64{
		0.85: {0.032781493159344, 0.384400948813554, 0.34291028550838, 0.0390870920999661, 0.0808856932344977, 0.0390870920999661, 0.0161694790168584, 0.0161694790168584, 0.0161694790168584, 0.0161694790168584, 0.0161694790168584},
		0.5:  {0.0669478123352662, 0.228430855737129, 0.162713055701986, 0.0738007380073801, 0.151818661043753, 0.0738007380073801, 0.0484976278334212, 0.0484976278334212, 0.0484976278334212, 0.0484976278334212, 0.0484976278334212},
		0.99: {0.00287739636352797, 0.490594536867158, 0.486856648080294, 0.0034532116802415, 0.00692471241949417, 0.0034532116802415, 0.00116805658180843, 0.00116805658180843, 0.00116805658180843, 0.00116805658180843, 0.00116805658180843},
	} {
		rank, trace, err := PageRank(elevenPages, &PageRankOptions{Damping: damping})
		// A step that moves ε leaves at most ε/(1−δ) to go.
		if err != nil || trace.Err() != nil || !close3(rank, want, 1e-12/(1-damping)+1e-14) {
			t.Errorf("δ = %v: %v, want %v; %v, %v", damping, rank, want, err, trace.Err())
		}
		// The dense chain has the same invariant distribution, forgets its start
		// and mixes at a rate of at most δ.
		c, err := Surfer(elevenPages, damping)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Invariant()
		if err != nil || !close3(p, want, 1e-14) || !c.Ergodic() || c.MixingRate() > damping+1e-12 {
			t.Errorf("δ = %v: the surfer has %v, mixing rate %v, %v", damping, p, c.MixingRate(), err)
		}
	}
	teleport := make([]float64, len(elevenPages))
	for i := range teleport {
		teleport[i] = float64(i + 1)
	}
	want := []float64{0.019073398283381, 0.364959109326231, 0.317770351497336, 0.0389530088471399, 0.101927755601483, 0.043989747893833, 0.017628586663426, 0.0201469561867726, 0.0226653257101192, 0.0251836952334657, 0.0277020647568123}
	if rank, _, err := PageRank(elevenPages, &PageRankOptions{Teleport: teleport}); err != nil || !close3(rank, want, 1e-11) {
		t.Errorf("teleport: %v, want %v; %v", rank, want, err)
	}
	// Without jumps this web has two closed classes: page 0, and pages 1 and 2.
	m := mat.NewDense(11, 11, nil)
	for i, to := range elevenPages {
		for _, j := range to {
			m.Set(i, j, 1/float64(len(to)))
		}
	}
	m.Set(0, 0, 1)
	bare, err := NewMarkovChain(m)
	if err != nil {
		t.Fatal(err)
	}
	var reducible *ReducibleError
	if _, err := bare.Invariant(); !errors.As(err, &reducible) || len(reducible.Closed) != 2 {
		t.Error(err)
	}
}

func TestPageRankBadInput(t *testing.T) {
	var data *lvm.DataError
	var shape *lvm.ShapeError
	if _, _, err := PageRank(nil, nil); !errors.As(err, &data) {
		t.Error(err)
	}
	if _, _, err := PageRank([][]int{{1}, {0, 2}}, nil); !errors.As(err, &data) || data.Row != 1 || data.Col != 1 {
		t.Error(err)
	}
	if _, _, err := PageRank([][]int{{}}, &PageRankOptions{Teleport: []float64{1, 2}}); !errors.As(err, &shape) {
		t.Error(err)
	}
	if _, err := Surfer([][]int{{3}}, 0.85); !errors.As(err, &data) {
		t.Error(err)
	}
	for _, v := range [][]float64{{0}, {-1}, {math.NaN()}} {
		if _, _, err := PageRank([][]int{{}}, &PageRankOptions{Teleport: v}); !errors.As(err, &data) {
			t.Error(err)
		}
	}
	if _, _, err := PageRank([][]int{{}, {}}, &PageRankOptions{Teleport: []float64{math.MaxFloat64, math.MaxFloat64}}); !errors.As(err, &data) {
		t.Error(err)
	}
	if rank, trace, err := PageRank([][]int{{}, {}}, nil); err != nil || trace.Err() != nil || rank[0] != 0.5 {
		t.Errorf("pages without links: %v, %v", rank, err)
	}
	for _, d := range []float64{-0.1, 1, math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for damping %v", d)
				}
			}()
			_, _, _ = PageRank([][]int{{}}, &PageRankOptions{Damping: d})
		}()
	}
}
