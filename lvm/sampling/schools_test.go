package sampling

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The eight schools of Rubin 1981: effects of coaching y_j with standard
// errors σ_j, y_j ~ N(θ_j, σ_j²), θ_j ~ N(μ, τ²), μ ~ N(0, 5²),
// τ ~ Cauchy⁺(0, 5).
var (
	schoolsY     = []float64{28, 8, -3, 7, -1, 1, 18, 12}
	schoolsSigma = []float64{15, 10, 16, 11, 9, 11, 10, 18}
)

// schoolsNonCentred has the state (μ, log τ, η) with θ_j = μ + τη_j.
func schoolsNonCentred(x, g []float64) float64 {
	mu, tau := x[0], math.Exp(x[1])
	l := -mu*mu/50 + x[1] - math.Log1p(tau*tau/25)
	g[0], g[1] = -mu/25, 1-2*tau*tau/(25+tau*tau)
	for j, y := range schoolsY {
		eta := x[2+j]
		w := 1 / (schoolsSigma[j] * schoolsSigma[j])
		r := y - mu - tau*eta
		l -= 0.5*r*r*w + 0.5*eta*eta
		g[0] += r * w
		g[1] += r * w * tau * eta
		g[2+j] = r*w*tau - eta
	}
	return l
}

// schoolsCentred has the state (μ, log τ, θ), a funnel in τ and θ.
func schoolsCentred(x, g []float64) float64 {
	mu, tau := x[0], math.Exp(x[1])
	l := -mu*mu/50 + x[1] - math.Log1p(tau*tau/25) - 8*x[1]
	g[0], g[1] = -mu/25, 1-2*tau*tau/(25+tau*tau)-8
	for j, y := range schoolsY {
		w := 1 / (schoolsSigma[j] * schoolsSigma[j])
		r, d := y-x[2+j], (x[2+j]-mu)/tau
		l -= 0.5*r*r*w + 0.5*d*d
		g[0] += d / tau
		g[1] += d * d
		g[2+j] = r*w - d/tau
	}
	return l
}

// schoolsExact returns E μ, E τ and E log τ by quadrature: with θ integrated
// out, y_j ~ N(μ, σ_j² + τ²), and given τ the posterior of μ is Gaussian.
func schoolsExact() (mu, tau, logTau float64) {
	var z float64
	for t := -12.0; t < 8; t += 0.001 {
		tau2 := math.Exp(2 * t)
		q, m, l := 1.0/25, 0.0, t-math.Log1p(tau2/25)
		for j, y := range schoolsY {
			v := schoolsSigma[j]*schoolsSigma[j] + tau2
			q, m, l = q+1/v, m+y/v, l-0.5*math.Log(v)-0.5*y*y/v
		}
		m /= q
		w := math.Exp(l + 0.5*m*m*q - 0.5*math.Log(q))
		z, mu, tau, logTau = z+w, mu+w*m, tau+w*math.Exp(t), logTau+w*t
	}
	return mu / z, tau / z, logTau / z
}

func schoolsTarget(gradient func(x, g []float64) float64) target {
	mu, tau, logTau := schoolsExact()
	return target{
		grad: gradient,
		draw: func(rng *rand.Rand) []float64 {
			x := make([]float64, 10)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			return x
		},
		funcs: []func([]float64) float64{
			func(x []float64) float64 { return x[0] },
			func(x []float64) float64 { return math.Exp(x[1]) },
			func(x []float64) float64 { return x[1] },
		},
		means: []float64{mu, tau, logTau},
	}
}

// TestEightSchools: non-centred NUTS agrees with quadrature; centred it
// cannot reach the neck of the funnel, and says so.
func TestEightSchools(t *testing.T) {
	rng := newRand(1)
	g := schoolsTarget(schoolsNonCentred)
	for _, f := range []func(x, g []float64) float64{schoolsNonCentred, schoolsCentred} {
		if err := CheckGradient(f, g.draw(rng)); err != nil {
			t.Error(err)
		}
	}
	opts := &RunOptions{BurnIn: 1000}
	chains := longRun(t, "non-centred", g, func() *NUTS { return &NUTS{Gradient: schoolsNonCentred, Target: 0.95} }, 5000, opts)
	divergences, fraction := 0, 1.0
	for _, c := range chains {
		divergences += c.Divergences
		fraction = min(fraction, EnergyFraction(c.Infos))
	}
	if s := Summarise(nil, Columns(chains)); len(s.Problems()) > 0 || divergences > 5 || fraction < 0.5 {
		t.Errorf("non-centred: %d divergences, energy fraction %v, problems %v\n%v", divergences, fraction, s.Problems(), s)
	}

	chains, err := RunChains(newRand(2), func() *NUTS { return &NUTS{Gradient: schoolsCentred} }, [][]float64{g.draw(rng), g.draw(rng), g.draw(rng), g.draw(rng)}, 1000, opts)
	if err != nil {
		t.Fatal(err)
	}
	divergences, fraction = 0, 1.0
	for _, c := range chains {
		divergences += c.Divergences
		fraction = min(fraction, EnergyFraction(c.Infos))
	}
	if divergences < 10 || fraction > 0.5 || len(Summarise(nil, Columns(chains)).Problems()) == 0 {
		t.Errorf("centred: only %d divergences, energy fraction %v, problems %v", divergences, fraction, Summarise(nil, Columns(chains)).Problems())
	}
}

func TestEnergyFraction(t *testing.T) {
	// Energies 1, 3, 2: jumps 2² + 1², spread 1 + 1 + 0.
	if got := EnergyFraction([]Info{{Energy: 1}, {Energy: 3}, {Energy: 2}}); got != 2.5 {
		t.Errorf("got %v, want 2.5", got)
	}
	if !math.IsNaN(EnergyFraction(nil)) || !math.IsNaN(EnergyFraction(make([]Info, 5))) {
		t.Error("no energies, or constant ones")
	}
}

// correlated100 is N(0, Σ) in 100 dimensions with Σ_ij = 0.9^|i−j|, whose
// gradient takes a matrix by a vector, as if Σ had no structure.
func correlated100() func(x, g []float64) float64 {
	const d = 100
	cov := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			cov.SetSym(i, j, math.Pow(0.9, float64(i-j)))
		}
	}
	var chol mat.Cholesky
	chol.Factorize(cov)
	var inv mat.SymDense
	if err := chol.InverseTo(&inv); err != nil {
		panic(err)
	}
	q := blas64.General{Rows: d, Cols: d, Stride: d, Data: mat.DenseCopyOf(&inv).RawMatrix().Data}
	return func(x, g []float64) float64 {
		blas64.Gemv(blas.NoTrans, -1, q, blas64.Vector{N: d, Inc: 1, Data: x}, 0, blas64.Vector{N: d, Inc: 1, Data: g})
		return 0.5 * floats.Dot(x, g)
	}
}

func benchmarkNUTS(b *testing.B, f func(x, g []float64) float64, d int, metric Metric) {
	k := &NUTS{Gradient: f, Metric: metric}
	x, err := BurnIn(newRand(1), k, make([]float64, d), 1000)
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	chain, err := Run(newRand(2), k, x, max(b.N, 8), nil)
	if err != nil {
		b.Fatal(err)
	}
	seconds := b.Elapsed().Seconds()
	b.StopTimer()
	least := math.Inf(1)
	for _, c := range Columns([]*Chain[vectors]{chain}) {
		least = min(least, ESSBulk(c))
	}
	b.ReportMetric(least/seconds, "ess/s")
	b.ReportMetric(float64(chain.Evaluations)/seconds, "grad/s")
	b.ReportMetric(float64(chain.Evaluations)/float64(chain.Steps), "grad/step")
}

func BenchmarkNUTSEightSchools(b *testing.B) { benchmarkNUTS(b, schoolsNonCentred, 10, DiagonalMetric) }
func BenchmarkNUTSGaussian100(b *testing.B)  { benchmarkNUTS(b, correlated100(), 100, DiagonalMetric) }
func BenchmarkNUTSGaussian100Dense(b *testing.B) {
	benchmarkNUTS(b, correlated100(), 100, DenseMetric)
}
