package sampling

import (
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readCSV returns the lines of a file as a first field and numbers.
func readCSV(t testing.TB, path string) (names []string, values [][]float64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if fields[0] == "case" {
			continue // the header
		}
		var v []float64
		for _, f := range fields[1:] {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			v = append(v, x)
		}
		names, values = append(names, fields[0]), append(values, v)
	}
	return names, values
}

func referenceChains(t testing.TB) map[string][][]float64 {
	cases := map[string][][]float64{}
	names, chains := readCSV(t, "testdata/chains.csv")
	for i, name := range names {
		cases[name] = append(cases[name], chains[i])
	}
	return cases
}

// TestDiagnosticsEqualR compares with R's posterior and coda, see
// testdata/README.md.
func TestDiagnosticsEqualR(t *testing.T) {
	chains := referenceChains(t)
	names, want := readCSV(t, "testdata/diagnostics.csv")
	for i, name := range names {
		x := chains[name]
		n := len(x[0])
		row := Summarise(nil, [][][]float64{x}).Rows[0]
		got := []float64{
			RHat(x), RHatBasic(x), ESSBulk(x), ESSTail(x),
			ESSMean(x), ESSSD(x), ESSQuantile(x, 0.1), ESSQuantile(x, 0.5), ESSQuantile(x, 1),
			MCSEMean(x), MCSESD(x), MCSEQuantile(x, 0.05), MCSEQuantile(x, 0.5),
			row.Mean, row.SD, row.Median, row.MAD, row.Q5, row.Q95,
			Geweke(x[0], 0.1, 0.5),
		}
		what := []string{
			"rhat", "rhat_basic", "ess_bulk", "ess_tail", "ess_mean", "ess_sd", "ess_q10", "ess_q50", "ess_q100",
			"mcse_mean", "mcse_sd", "mcse_q5", "mcse_q50", "mean", "sd", "median", "mad", "q5", "q95", "geweke",
		}
		for j, w := range want[i] {
			g := got[j]
			switch {
			case what[j] == "geweke" && (n < 40 || name == "tiny"):
				continue // coda's parts of one or two draws, and its own idea of a constant
			case strings.HasPrefix(what[j], "rhat") && (n == 2 || n == 3):
				w = math.NaN() // see testdata/README.md
			case strings.HasPrefix(what[j], "rhat") && name == "stuckboth":
				w = math.Inf(1)
			}
			if g == w || math.IsNaN(g) && math.IsNaN(w) {
				continue
			}
			if !(math.Abs(g-w) <= 1e-8*max(1, math.Abs(w))) {
				t.Errorf("%s: %s = %.12g, R has %.12g", name, what[j], g, w)
			}
		}
		if row.RHat != got[0] && !math.IsNaN(got[0]) || row.ESSBulk != got[2] && !math.IsNaN(got[2]) || row.ESSTail != got[3] && !math.IsNaN(got[3]) || row.MCSE != got[9] && !math.IsNaN(got[9]) {
			t.Errorf("%s: the summary %+v differs from the functions %v", name, row, got)
		}
	}
}

func TestAutocovarianceByTransform(t *testing.T) {
	rng := newRand(1)
	chains := [][]float64{make([]float64, 333), make([]float64, 333)}
	for _, c := range chains {
		for i := range c {
			c[i] = rng.NormFloat64()
		}
	}
	var direct, fast autocovariance
	direct.reset(chains)
	fast.reset(chains)
	fast.transform()
	for lag := range 333 {
		var want float64
		for _, c := range direct.centred {
			for i := range 333 - lag {
				want += c[i] * c[i+lag] / 333 / 2
			}
		}
		if math.Abs(fast.at(lag)-want) > 1e-13 || math.Abs(direct.at(lag)-want) > 1e-13 {
			t.Errorf("lag %d: %v by transform, %v, want %v", lag, fast.at(lag), direct.at(lag), want)
		}
	}
}

// TestAutocorrelationTime compares with the closed form of the autoregression
// x_t = φ x_{t−1} + ε, whose ρ_t = φ^t and τ = (1+φ)/(1−φ). For φ = 0.81 that
// is the 9.526 of one coordinate of a Gibbs chain with correlation 0.9.
func TestAutocorrelationTime(t *testing.T) {
	const n, phi = 400_000, 0.81
	rng, x := newRand(4), make([]float64, n)
	for i := 1; i < n; i++ {
		x[i] = phi*x[i-1] + rng.NormFloat64()
	}
	// The standard deviation of τ̂ is about τ·√(2·(2M+1)/n) with M the lags
	// summed, about 6τ here (Sokal 1997): 2.4% of τ, taken four times.
	tau := (1 + phi) / (1 - phi)
	if got := AutocorrelationTime([][]float64{x}); math.Abs(got-tau) > 4*0.024*tau {
		t.Errorf("τ = %v, want %v", got, tau)
	}
	rho := Autocorrelation(x, 10)
	for lag, r := range rho {
		// Bartlett: the variance of ρ̂_t is at most (1+φ²)/(1−φ²)/n.
		if math.Abs(r-math.Pow(phi, float64(lag))) > 4*math.Sqrt((1+phi*phi)/(1-phi*phi)/n) {
			t.Errorf("ρ_%d = %v", lag, r)
		}
	}
	if got := Autocorrelation([]float64{1, 2, 4}, 9); len(got) != 3 || got[0] != 1 {
		t.Errorf("three draws have lags 0, 1, 2, got %v", got)
	}
	if got := Autocorrelation([]float64{1, 1, 1}, 1); !math.IsNaN(got[0]) {
		t.Errorf("a constant chain has autocorrelation %v", got)
	}
}

func TestRanks(t *testing.T) {
	nan := math.NaN()
	got := Ranks([][]float64{{3, 1, -2}, {1, 9, math.Copysign(0, -1)}})
	want := [][]float64{{5, 3.5, 1}, {3.5, 6, 2}}
	for c := range want {
		if !slices.Equal(got[c], want[c]) {
			t.Errorf("ranks %v, want %v", got, want)
		}
	}
	if got := Ranks([][]float64{{3, nan}}); !math.IsNaN(got[0][0]) || !math.IsNaN(got[0][1]) {
		t.Errorf("with a NaN %v", got)
	}
	if got := Ranks(nil); len(got) != 0 {
		t.Errorf("of nothing %v", got)
	}
}

func TestRadixSort(t *testing.T) {
	rng := newRand(9)
	inf := math.Inf(1)
	for range 50 {
		x := make([]float64, rng.IntN(3000))
		for i := range x {
			x[i] = math.Exp(40*rng.NormFloat64()) * float64(rng.IntN(3)-1)
		}
		if len(x) > 3 {
			x[0], x[1], x[2] = inf, -inf, math.SmallestNonzeroFloat64
		}
		var r radixSort
		sorted, order := make([]float64, len(x)), make([]int32, len(x))
		r.sort(x, sorted, order)
		seen := make([]bool, len(x))
		for at, i := range order {
			if seen[i] || sorted[at] != x[i] {
				t.Fatal("not a permutation")
			}
			seen[i] = true
		}
		if !slices.IsSorted(sorted) {
			t.Fatal("not sorted")
		}
	}
}

func TestNoDraws(t *testing.T) {
	for _, x := range [][][]float64{nil, {}, {{}, {}}} {
		for i, v := range []float64{RHat(x), RHatBasic(x), ESSBulk(x), ESSTail(x), ESSMean(x), ESSSD(x), ESSQuantile(x, 0.5), MCSEMean(x), MCSESD(x), MCSEQuantile(x, 0.5), AutocorrelationTime(x)} {
			if !math.IsNaN(v) {
				t.Errorf("diagnostic %d of no draws is %v", i, v)
			}
		}
	}
	if !math.IsNaN(Geweke(nil, 0.1, 0.5)) || len(Autocorrelation(nil, 3)) != 0 {
		t.Error("diagnostics of an empty chain")
	}
	s := Summarise([]string{"a"}, [][][]float64{nil})
	if !math.IsNaN(s.Rows[0].Mean) || len(s.Problems()) != 1 {
		t.Errorf("summary of nothing %+v", s)
	}
}

func TestSummarySameBitsOnAnyCores(t *testing.T) {
	draws := benchmarkDraws(7, 4, 501)
	one := func() Summary { defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)); return Summarise(nil, draws) }()
	if two := Summarise(nil, draws); !slices.Equal(one.Rows, two.Rows) {
		t.Error("the summary depends on GOMAXPROCS")
	}
}

func TestSummaryProblems(t *testing.T) {
	c := referenceChains(t)
	var names []string
	var draws [][][]float64
	for _, name := range []string{"normal", "shifted"} {
		names, draws = append(names, name), append(draws, c[name])
	}
	p := Summarise(names, draws).Problems()
	if len(p) != 1 || !strings.HasPrefix(p[0], "shifted: R̂ = 1.084") {
		t.Errorf("problems %q", p)
	}
	if p := Summarise([]string{"ar"}, [][][]float64{{c["ar"][0][:50], c["ar"][0][50:100]}}).Problems(); len(p) != 1 {
		t.Errorf("100 correlated draws: problems %q", p)
	}
}

func TestSummaryOfTooFewDraws(t *testing.T) {
	x := make([][]float64, 4) // independent, and too few of them
	rng := newRand(3)
	for c := range x {
		for range 90 {
			x[c] = append(x[c], rng.NormFloat64())
		}
	}
	s := Summarise([]string{"few"}, [][][]float64{x})
	if p := s.Problems(); s.Rows[0].RHat >= 1.01 || len(p) != 1 || !strings.HasSuffix(p[0], "400 are needed") {
		t.Errorf("R̂ %v, problems %q", s.Rows[0].RHat, p)
	}
}

func TestExtract(t *testing.T) {
	chains := []*Chain[[]float64]{{States: [][]float64{{1, 2}, {3, 4}, {5, 6}}}, {States: [][]float64{{7, 8}, {9, 10}}}}
	c := Columns(chains)
	if len(c) != 2 || !slices.Equal(c[1][0], []float64{2, 4}) || !slices.Equal(c[0][1], []float64{7, 9}) {
		t.Errorf("columns %v", c)
	}
	sum := Extract(chains, func(x []float64) float64 { return x[0] + x[1] })
	if !slices.Equal(sum[0], []float64{3, 7}) || !slices.Equal(sum[1], []float64{15, 19}) {
		t.Errorf("sums %v", sum)
	}
	m := Map(chains[0], func(x []float64) float64 { return x[0] })
	if !slices.Equal(m.States, []float64{1, 3, 5}) {
		t.Errorf("mapped %v", m.States)
	}
	if Columns(nil) != nil {
		t.Error("columns of no chains")
	}
}

// benchmarkDraws are autoregressions with φ = 0.5, quantities × chains × n.
func benchmarkDraws(quantities, chains, n int) [][][]float64 {
	rng := newRand(1)
	draws := make([][][]float64, quantities)
	for j := range draws {
		draws[j] = make([][]float64, chains)
		for c := range draws[j] {
			x := make([]float64, n)
			for i := 1; i < n; i++ {
				x[i] = 0.5*x[i-1] + rng.NormFloat64()
			}
			draws[j][c] = x
		}
	}
	return draws
}

func BenchmarkSummarise(b *testing.B) {
	draws := benchmarkDraws(100, 4, 10_000)
	for b.Loop() {
		Summarise(nil, draws)
	}
	b.ReportMetric(100*4*10_000*float64(b.N)/b.Elapsed().Seconds(), "draws/s")
}

func TestSummaryText(t *testing.T) {
	s := Summary{Chains: 4, Draws: 10, Rows: []SummaryRow{
		{Name: "mu", Mean: 1.2345, MCSE: 0.01, SD: 2, Median: 1, MAD: 1.9, Q5: -3, Q95: 4, ESSBulk: 400.4, ESSTail: 299.6, RHat: 1.0014},
		{Name: "a|b", Mean: math.NaN(), RHat: math.Inf(1)},
	}}
	want := strings.Join([]string{
		"     mean  mcse  sd  median  mad  q5  q95  ess bulk  ess tail      R̂",
		"mu   1.23  0.01   2       1  1.9  -3    4       400       300  1.001",
		"a|b   NaN     0   0       0    0   0    0         0         0   +Inf",
		"",
	}, "\n")
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = strings.Join([]string{
		"|  | mean | mcse | sd | median | mad | q5 | q95 | ess bulk | ess tail | R̂ |",
		"|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
		"| mu | 1.23 | 0.01 | 2 | 1 | 1.9 | -3 | 4 | 400 | 300 | 1.001 |",
		`| a\|b | NaN | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | +Inf |`,
		"",
	}, "\n")
	if got := s.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
