package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"github.com/latent-lessons/latent/lvm/sampling"
)

func duels(dir string) []duel {
	return append(append(append(walks(), nuts()...), choices()...), summaries(dir)...)
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// walks are random-walk Metropolis on a Gaussian with unit variances and
// correlation 0.8, every state kept. Our million steps count their allocations.
func walks() []duel {
	const steps, rho, scale = 1_000_000, 0.8, 1.2
	ours := func(seed uint64) (turn, error) {
		a, b := 1/(1-rho*rho), -rho/(1-rho*rho)
		kernel := &sampling.Metropolis{
			LogDensity: func(x []float64) float64 { return -0.5 * (a*x[0]*x[0] + 2*b*x[0]*x[1] + a*x[1]*x[1]) },
			Scale:      scale,
		}
		t := turn{draws: newColumns(2, steps)}
		x, y := t.draws[0], t.draws[1]
		i := -1 // one step first, which allocates what all the others use
		var before, after runtime.MemStats
		var err error
		t.seconds, _ = timed(func() error {
			for s, info := range sampling.Walk(newRand(seed), kernel, []float64{0, 0}) {
				if err = info.Err; err != nil || i == steps {
					break
				}
				if i < 0 {
					runtime.ReadMemStats(&before)
				} else {
					x[i], y[i] = s[0], s[1]
				}
				i++
			}
			return nil
		})
		runtime.ReadMemStats(&after)
		t.note = fmt.Sprintf("; our %d steps made %d allocations", steps, after.Mallocs-before.Mallocs)
		return t, err
	}
	perStep := []measure{{"steps", func(draws [][]float64) float64 { return float64(len(draws[0])) }}}
	return []duel{
		{title: "Metropolis, 2-D Gaussian, numpy loop", name: "walk_plain", n: 100_000, ours: ours, measures: perStep, disagree: moments, atMost: 4},
		{title: "Metropolis, 2-D Gaussian, tuned Python loop", name: "walk_tuned", n: 500_000, ours: ours, measures: perStep, disagree: moments, atMost: 4},
	}
}

// nuts are one chain of the No-U-Turn sampler after 1000 steps of warm-up,
// with the target acceptance 0.8 and at most ten doublings on both sides.
func nuts() []duel {
	var all []duel
	effective := []measure{{"effective draws, bulk", worst(sampling.ESSBulk)}, {"effective draws, tail", worst(sampling.ESSTail)}}
	for _, c := range []struct {
		title, target string
		d, n          int // of the state, and draws
		newGradient   func() func(x, grad []float64) float64
		metric        sampling.Metric
	}{
		{"eight schools, non-centred", "schools", 10, 20_000, func() func(x, grad []float64) float64 { return schools }, sampling.DiagonalMetric},
		{"100-d Gaussian, full precision, diagonal metric", "full", 100, 2000, fullGaussian, sampling.DiagonalMetric},
		{"100-d Gaussian, banded precision, diagonal metric", "banded", 100, 2000, bandedGaussian, sampling.DiagonalMetric},
		{"100-d Gaussian, full precision, dense metric", "full", 100, 4000, fullGaussian, sampling.DenseMetric},
	} {
		ours := func(seed uint64) (turn, error) {
			rng, kernel := newRand(seed), &sampling.NUTS{Gradient: c.newGradient(), Metric: c.metric}
			var t turn
			var start []float64
			var err error
			if t.before, err = timed(func() (err error) {
				start, err = sampling.BurnIn(rng, kernel, make([]float64, c.d), 1000)
				return err
			}); err != nil {
				return t, err
			}
			var chain *sampling.Chain[[]float64]
			if t.seconds, err = timed(func() (err error) {
				chain, err = sampling.Run(rng, kernel, start, c.n, nil)
				return err
			}); err != nil {
				return t, err
			}
			t.gradients = chain.Evaluations
			t.draws = newColumns(c.d, c.n)
			for i, x := range chain.States {
				for j, v := range x {
					t.draws[j][i] = v
				}
			}
			return t, nil
		}
		for _, peer := range []struct {
			title, name string
		}{{"BlackJAX", "blackjax_nuts"}, {"NumPyro", "numpyro_nuts"}} {
			all = append(all, duel{
				title: fmt.Sprintf("NUTS, %s, %s", c.title, peer.title), name: peer.name, n: c.n,
				args: map[string]any{"target": c.target, "dense": c.metric == sampling.DenseMetric},
				ours: ours, measures: effective, disagree: moments, atMost: 5,
			})
		}
	}
	return all
}

// worst returns the smallest effective sample size of all columns.
func worst(ess func(draws [][]float64) float64) func([][]float64) float64 {
	return func(draws [][]float64) float64 {
		least := math.Inf(1)
		for _, column := range draws {
			least = min(least, ess([][]float64{column}))
		}
		return least
	}
}

// moments returns how far apart the means and standard deviations of two sets
// of draws are, in Monte Carlo standard errors of the difference, for the
// worst column. With 200 numbers, 3 is common and 5 is not.
func moments(ours, theirs [][]float64) float64 {
	var z float64
	for j := range ours {
		a, b := [][]float64{ours[j]}, [][]float64{theirs[j]}
		z = max(z,
			math.Abs(mean(ours[j])-mean(theirs[j]))/math.Hypot(sampling.MCSEMean(a), sampling.MCSEMean(b)),
			math.Abs(sd(ours[j])-sd(theirs[j]))/math.Hypot(sampling.MCSESD(a), sampling.MCSESD(b)))
	}
	return z
}

func mean(v []float64) float64 {
	var s float64
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

func sd(v []float64) float64 {
	m, s := mean(v), 0.0
	for _, x := range v {
		s += (x - m) * (x - m)
	}
	return math.Sqrt(s / float64(len(v)-1))
}

// choices draw from p_i ∝ 1/i, building the table included, as numpy has to
// sum its probabilities in each call, too.
func choices() []duel {
	const n = 2_000_000
	var all []duel
	for _, k := range []int{10, 1000, 100_000} {
		weights := make([]float64, k)
		for i := range weights {
			weights[i] = 1 / float64(i+1)
		}
		all = append(all, duel{
			title: fmt.Sprintf("alias, %d values, numpy choice", k), name: "choice", n: n, args: map[string]any{"k": k},
			ours: func(seed uint64) (turn, error) {
				rng := newRand(seed)
				var values []int
				seconds, err := timed(func() error {
					table, err := sampling.NewAlias(weights)
					if err == nil {
						values = table.Sample(rng, n)
					}
					return err
				})
				t := turn{seconds: seconds, draws: newColumns(1, len(values))}
				for i, v := range values {
					t.draws[0][i] = float64(v)
				}
				return t, err
			},
			measures: []measure{{"draws", func(draws [][]float64) float64 { return float64(len(draws[0])) }}},
			disagree: moments, atMost: 4,
		})
	}
	return all
}

// summaries are the table of 4 chains × 10,000 draws × 100 quantities, whose
// lag-one autocorrelation is 0.5.
func summaries(dir string) []duel {
	const chains, n, d = 4, 10_000, 100
	draws := make([][][]float64, d)
	for j := range draws {
		draws[j] = newColumns(chains, n)
	}
	rng := newRand(1)
	file := make([]byte, 0, 8*chains*n*d)
	for c := range chains {
		for i := range n {
			for j := range d {
				x := rng.NormFloat64()
				if i > 0 {
					x += 0.5 * draws[j][c][i-1]
				}
				draws[j][c][i] = x
				file = binary.LittleEndian.AppendUint64(file, math.Float64bits(x))
			}
		}
	}
	write := os.WriteFile(filepath.Join(dir, "chains.f64"), file, 0o600)

	ours := func(threads int) func(uint64) (turn, error) {
		return func(uint64) (turn, error) {
			if write != nil {
				return turn{}, write
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			var s sampling.Summary
			seconds, _ := timed(func() error { s = sampling.Summarise(nil, draws); return nil })
			t := turn{seconds: seconds, draws: newColumns(3, d)}
			for j, r := range s.Rows {
				t.draws[0][j], t.draws[1][j], t.draws[2][j] = r.ESSBulk, r.ESSTail, r.RHat
			}
			return t, nil
		}
	}
	var all []duel
	for _, c := range []struct {
		title, kind string
		threads     int
	}{
		{"all cores, ArviZ summary", "all", 0},
		{"one core, ArviZ summary", "all", 1},
		{"all cores, ArviZ diagnostics only", "diagnostics", 0},
	} {
		all = append(all, duel{
			title: fmt.Sprintf("summary of %d × %d × %d, %s", chains, n, d, c.title), name: "summary",
			args: map[string]any{"shape": []int{chains, n, d}, "kind": c.kind},
			ours: ours(c.threads), measures: []measure{{"tables", func([][]float64) float64 { return 1 }}},
			disagree: relative, atMost: 1e-3,
		})
	}
	return all
}

// relative returns the largest relative difference of two tables.
func relative(ours, theirs [][]float64) float64 {
	var worst float64
	for j, column := range ours {
		for i, v := range column {
			worst = max(worst, math.Abs(v-theirs[j][i])/math.Abs(theirs[j][i]))
		}
	}
	return worst
}
