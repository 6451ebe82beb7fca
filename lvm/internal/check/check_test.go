package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/climb"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// toy is the smallest model with everything that the suite looks at: a mixture
// of unit Gaussians on the line with equal weights and means μ.
type toy struct{ mu []float64 }

func (m toy) joint(x float64) []float64 {
	l := make([]float64, len(m.mu))
	for k, mu := range m.mu {
		l[k] = -0.5*(x-mu)*(x-mu) - 0.5*math.Log(2*math.Pi) - math.Log(float64(len(m.mu)))
	}
	return l
}

func (m toy) posterior(x mat.Matrix) *mat.Dense {
	n, _ := x.Dims()
	p := mat.NewDense(n, len(m.mu), nil)
	for i := range n {
		l := m.joint(x.At(i, 0))
		top, sum := slices.Max(l), 0.0
		for _, v := range l {
			sum += math.Exp(v - top)
		}
		for k, v := range l {
			p.Set(i, k, math.Exp(v-top)/sum)
		}
	}
	return p
}

func (m toy) assign(x mat.Matrix) []int {
	n, d := x.Dims()
	if d != 1 {
		panic(&lvm.ShapeError{Op: "toy: assign", What: "columns of x", Got: d, Want: 1})
	}
	z := make([]int, n)
	for i := range n {
		l := m.joint(x.At(i, 0))
		for k, v := range l {
			if v > l[z[i]] {
				z[i] = k
			}
		}
		if math.IsNaN(l[0]) {
			z[i] = -1
		}
	}
	return z
}

func (m toy) step(x mat.Matrix) (toy, float64, error) {
	if _, err := num.CheckData("toy.Step", x); err != nil {
		return toy{}, 0, err
	}
	n, d := x.Dims()
	if d != 1 {
		return toy{}, 0, &lvm.ShapeError{Op: "toy.Step", What: "columns of x", Got: d, Want: 1}
	}
	next, objective := toy{make([]float64, len(m.mu))}, 0.0
	weight := make([]float64, len(m.mu))
	p := m.posterior(x)
	for i := range n {
		objective += num.LogSumExp(m.joint(x.At(i, 0)))
		for k := range m.mu {
			weight[k] += p.At(i, k)
			next.mu[k] += p.At(i, k) * x.At(i, 0)
		}
	}
	for k := range next.mu {
		next.mu[k] /= weight[k]
	}
	return next, objective, nil
}

func fitToy(rng *rand.Rand, x mat.Matrix, k int) (toy, lvm.Trace, error) {
	if k < 1 {
		return toy{}, lvm.Trace{}, &lvm.DataError{Op: "toy.Fit", Row: -1, Col: -1, Problem: fmt.Sprintf("k is %d", k), Try: "at least 1"}
	}
	if rng == nil {
		panic("toy: nil generator")
	}
	if _, err := num.CheckData("toy.Fit", x); err != nil {
		return toy{}, lvm.Trace{}, err
	}
	n, _ := x.Dims()
	distinct := map[float64]bool{}
	for i := range n {
		distinct[x.At(i, 0)] = true
	}
	if len(distinct) < k {
		return toy{}, lvm.Trace{}, &lvm.DataError{Op: "toy.Fit", Row: -1, Col: -1, Problem: "too few rows", Try: "more"}
	}
	return climb.Fit(rng, lvm.Options{MaxIter: 30, Tol: 1e-10, Restarts: 3}, climb.Problem[toy]{
		Op: "toy.Fit",
		Start: func(rng *rand.Rand) (toy, error) {
			m := toy{}
			for range k {
				m.mu = append(m.mu, x.At(rng.IntN(n), 0))
			}
			return m, nil
		},
		Step: func(m toy) (toy, float64, error) { return m.step(x) },
	})
}

// sound returns a model that passes.
func sound() Model[toy] {
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(700, 1, nil)
	for i := range 700 {
		x.Set(i, 0, 4*float64(rng.IntN(3))+rng.NormFloat64())
	}
	return Model[toy]{
		X: x, K: 3,
		Fit: fitToy,
		FitFrom: func(m toy, x mat.Matrix, steps int) (toy, lvm.Trace, error) {
			return climb.Fit(rand.New(rand.NewPCG(0, 0)), lvm.Options{MaxIter: steps, Tol: -1, Restarts: 1}, climb.Problem[toy]{
				Start: func(*rand.Rand) (toy, error) { return m, nil },
				Step:  func(m toy) (toy, float64, error) { return m.step(x) },
			})
		},
		Step:   func(m toy, x mat.Matrix) (toy, float64, error) { return m.step(x) },
		Params: func(m toy) []float64 { return m.mu },
		Relabel: func(m toy, perm []int) toy {
			r := toy{}
			for _, p := range perm {
				r.mu = append(r.mu, m.mu[p])
			}
			return r
		},
		Assign:    toy.assign,
		Posterior: toy.posterior,
		LogProb:   func(m toy, x []float64) float64 { return num.LogSumExp(m.joint(x[0])) },
	}
}

func TestSound(t *testing.T) { Run(t, sound()) }

// Every check catches a model that breaks its promise.
func TestBroken(t *testing.T) {
	for _, c := range []struct {
		check string
		spoil func(m *Model[toy])
	}{
		{"the objective never falls", func(m *Model[toy]) {
			step := m.Step
			m.Step = func(at toy, x mat.Matrix) (toy, float64, error) {
				next, o, err := step(at, x)
				return next, -o, err
			}
		}},
		{"the fit visits the models of Step", func(m *Model[toy]) {
			fit := m.FitFrom
			m.FitFrom = func(at toy, x mat.Matrix, steps int) (toy, lvm.Trace, error) {
				_, trace, err := fit(at, x, steps)
				return at, trace, err
			}
		}},
		{"the trace is honest", func(m *Model[toy]) {
			fit := m.Fit
			m.Fit = func(rng *rand.Rand, x mat.Matrix, k int) (toy, lvm.Trace, error) {
				at, trace, err := fit(rng, x, k)
				trace.Objective = trace.Objective[:1]
				return at, trace, err
			}
		}},
		{"the same bits for any GOMAXPROCS", func(m *Model[toy]) {
			step := m.Step
			m.Step = func(at toy, x mat.Matrix) (toy, float64, error) {
				next, o, err := step(at, x)
				if runtime.GOMAXPROCS(0) == 4 {
					next.mu[0] = math.Nextafter(next.mu[0], 9)
				}
				return next, o, err
			}
		}},
		{"arguments are not modified", func(m *Model[toy]) {
			m.Assign = func(at toy, x mat.Matrix) []int {
				z := at.assign(x)
				at.mu[0]++
				return z
			}
		}},
		{"data is not retained", func(m *Model[toy]) {
			step := m.Step
			m.Step = func(at toy, x mat.Matrix) (toy, float64, error) {
				_, o, err := step(at, x)
				return toy{x.(*mat.Dense).RawMatrix().Data[:3]}, o, err
			}
		}},
		{"the storage of the data is irrelevant", func(m *Model[toy]) {
			step := m.Step
			m.Step = func(at toy, x mat.Matrix) (toy, float64, error) {
				if raw, ok := x.(*mat.Dense); ok { // forgets the stride
					n, d := raw.Dims()
					x = mat.NewDense(n, d, raw.RawMatrix().Data[:n*d])
				}
				return step(at, x)
			}
		}},
		{"the order of the rows is irrelevant", func(m *Model[toy]) {
			step := m.Step
			m.Step = func(at toy, x mat.Matrix) (toy, float64, error) {
				n, _ := x.Dims()
				if n > 1 {
					x = x.(*mat.Dense).Slice(1, n, 0, 1) // forgets the first row
				}
				return step(at, x)
			}
		}},
		{"the order of the components is irrelevant", func(m *Model[toy]) {
			step := m.Step
			m.Step = func(at toy, x mat.Matrix) (toy, float64, error) {
				next, o, err := step(at, x)
				if err == nil {
					next.mu[1] = next.mu[0] + 1e-3
				}
				return next, o, err
			}
		}},
		{"bad data is refused", func(m *Model[toy]) {
			step := m.Step
			m.Step = func(at toy, x mat.Matrix) (toy, float64, error) {
				next, o, err := step(at, x)
				if err != nil {
					err = fmt.Errorf("something is wrong")
				}
				return next, o, err
			}
		}},
		{"bad data is refused", func(m *Model[toy]) {
			fit := m.Fit
			m.Fit = func(rng *rand.Rand, x mat.Matrix, k int) (toy, lvm.Trace, error) {
				return fit(rng, x, max(k, 1))
			}
		}},
		{"mistakes of the caller panic", func(m *Model[toy]) {
			fit := m.Fit
			m.Fit = func(rng *rand.Rand, x mat.Matrix, k int) (toy, lvm.Trace, error) {
				if rng == nil {
					rng = rand.New(rand.NewPCG(1, 1))
				}
				return fit(rng, x, k)
			}
		}},
		{"posteriors sum to one", func(m *Model[toy]) {
			m.Posterior = func(at toy, x mat.Matrix) *mat.Dense {
				p := at.posterior(x)
				p.Scale(1+1e-9, p)
				return p
			}
		}},
		{"the density integrates to one", func(m *Model[toy]) {
			m.LogProb = func(at toy, x []float64) float64 { return num.LogSumExp(at.joint(x[0])) + 1e-5 }
		}},
	} {
		found := false
		for _, check := range checks[toy]() {
			if check.name != c.check {
				continue
			}
			found = true
			m := sound()
			c.spoil(&m)
			if err := check.run(m); err == nil {
				t.Errorf("%q passes a model that breaks it", c.check)
			} else {
				t.Logf("%s: %v", c.check, err)
			}
		}
		if !found {
			t.Errorf("no check %q", c.check)
		}
	}
}
