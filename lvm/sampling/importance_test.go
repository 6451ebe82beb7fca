package sampling

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-lessons/latent/lvm"
)

// normalFrom weights draws of N(mu, sigma²) for N(0, 1).
func normalFrom(mu, sigma float64) *Importance[float64] {
	q := distuv.Normal{Mu: mu, Sigma: sigma}
	return &Importance[float64]{
		LogDensity:  normalLogProb,
		Draw:        func(rng *rand.Rand) float64 { return mu + sigma*rng.NormFloat64() },
		LogProposal: q.LogProb,
	}
}

func mustSample[S any](t *testing.T, im *Importance[S], seed uint64, n int) *Weighted[S] {
	t.Helper()
	w, err := im.Sample(newRand(seed), n)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func squared(x float64) float64 { return x * x }

func must(e Estimate, err error) Estimate {
	if err != nil {
		panic(err)
	}
	return e
}

// The variance of the plain estimate of E[x²] under N(0, 1) from N(0, s²),
// and that s² = 3 is best (catalogue 000, A83).
func TestImportanceVariance(t *testing.T) {
	const n = 400_000
	for s2, want := range map[float64]float64{1: 2, 3: 0.44897, 4: 0.48100, 9: 0.83538} {
		s := math.Sqrt(s2)
		if exact := 0.75*s/math.Sqrt2*math.Pow(1-1/(2*s2), -2.5) - 1; math.Abs(exact-want) > 1e-5 {
			t.Errorf("s² = %v: the formula gives %v, the catalogue %v", s2, exact, want)
		}
		e := must(mustSample(t, normalFrom(0, s), uint64(s2), n).ExpectPlain(squared))
		near(t, fmt.Sprintf("E[x²], s² = %v", s2), e, 1)
		// The relative error of a variance from n draws is √((κ−1)/n) with a
		// kurtosis κ of w f below 20 here.
		if got := n * e.StdErr * e.StdErr; math.Abs(got/want-1) > 4*math.Sqrt(20.0/n) {
			t.Errorf("s² = %v: N·Var = %v, want %v", s2, got, want)
		}
	}
}

// The standard errors of both estimates are right over many repetitions.
func TestImportanceStandardError(t *testing.T) {
	const repeats, n = 1000, 500
	im := normalFrom(1, 2)
	rng := newRand(3)
	var plain, self, logZ float64
	for range repeats {
		w, err := im.Sample(rng, n)
		if err != nil {
			t.Fatal(err)
		}
		p, s, z := must(w.ExpectPlain(squared)), must(w.Expect(squared)), w.LogZ()
		plain += (p.Value - 1) * (p.Value - 1) / (p.StdErr * p.StdErr) / repeats
		self += (s.Value - 1) * (s.Value - 1) / (s.StdErr * s.StdErr) / repeats
		logZ += z.Value * z.Value / (z.StdErr * z.StdErr) / repeats
	}
	// A mean of z² of 1 with standard deviation √(2/repeats) = 0.045, and a few
	// percent for n = 500.
	for what, z2 := range map[string]float64{"plain": plain, "self-normalised": self, "log Z": logZ} {
		if math.Abs(z2-1) > 0.25 {
			t.Errorf("%s: mean z² = %v", what, z2)
		}
	}
}

// Catalogue 000, A82: p̃ = exp(−x²/2) and q̃ = exp(−(x−1)²/8), neither
// normalised.
func TestSelfNormalised(t *testing.T) {
	const n = 200_000
	w := mustSample(t, &Importance[float64]{
		LogDensity:  func(x float64) float64 { return -x * x / 2 },
		Draw:        func(rng *rand.Rand) float64 { return 1 + 2*rng.NormFloat64() },
		LogProposal: func(x float64) float64 { return -(x - 1) * (x - 1) / 8 },
	}, 1, n)
	near(t, "log C/M", w.LogZ(), math.Log(0.5))
	near(t, "E[x²]", must(w.Expect(squared)), 1)
	// ESS/N has a standard error of about √(Var w²)/√N, below 2/√N here.
	if got := w.ESS() / n; math.Abs(got-0.573386) > 8/math.Sqrt(n) {
		t.Errorf("ESS/N = %v, want 0.573386", got)
	}
	var sum float64
	for _, s := range w.Weights() {
		sum += s
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the weights sum to %v", sum)
	}
	// A common factor of the weights is of no account, however large.
	shifted := &Weighted[float64]{Draws: w.Draws, LogWeights: make([]float64, n)}
	for i, l := range w.LogWeights {
		shifted.LogWeights[i] = l - 5000
	}
	if a, b := must(w.Expect(squared)), must(shifted.Expect(squared)); math.Abs(a.Value-b.Value) > 1e-9 || math.Abs(w.ESS()/shifted.ESS()-1) > 1e-9 {
		t.Errorf("%v and %v after a shift", a, b)
	}
	if got := shifted.LogZ().Value - w.LogZ().Value; math.Abs(got+5000) > 1e-9 {
		t.Errorf("log Z moved by %v", got)
	}
}

func TestWeightedExtremes(t *testing.T) {
	inf := math.Inf(1)
	equal := &Weighted[int]{Draws: []int{1, 2, 3, 4}, LogWeights: []float64{7, 7, 7, 7}}
	if math.Abs(equal.ESS()-4) > 1e-14 || math.Abs(equal.Perplexity()-1) > 1e-15 || equal.LogZ() != (Estimate{7, 0}) {
		t.Errorf("equal weights: ESS %v, perplexity %v, log Z %v", equal.ESS(), equal.Perplexity(), equal.LogZ())
	}
	one := &Weighted[int]{Draws: []int{1, 2, 3, 4}, LogWeights: []float64{-inf, -2000, -inf, -inf}}
	e := must(one.Expect(func(x int) float64 {
		if x != 2 {
			t.Errorf("f called at %d, where there is no mass", x)
		}
		return float64(x)
	}))
	if one.ESS() != 1 || math.Abs(one.Perplexity()-0.25) > 1e-15 || e.Value != 2 || e.StdErr != 0 {
		t.Errorf("one weight: ESS %v, perplexity %v, mean %v", one.ESS(), one.Perplexity(), e)
	}
}

// (5.21): with |f| p as its proposal the plain estimate has no variance.
func TestOptimalProposal(t *testing.T) {
	f := func(x float64) float64 { return math.Exp(-math.Abs(x - 1)) }
	q, err := NewTabulated(OptimalProposal(normalLogProb, f), math.Inf(-1), math.Inf(1), &TabulatedOptions{Points: []float64{1}, Tol: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	w := mustSample(t, &Importance[float64]{LogDensity: normalLogProb, Draw: q.Draw, LogProposal: q.LogProb}, 1, 100)
	e := must(w.ExpectPlain(f))
	// E exp(−|x−1|) = e^{−½} Φ(0) + e^{3/2} Φ(−2): a piece of a shifted Gaussian
	// on either side of 1.
	want := math.Exp(-0.5)*normalCDF(0) + math.Exp(1.5)*normalCDF(-2)
	if math.Abs(e.Value-want) > 1e-9 || e.StdErr > 1e-9 {
		t.Errorf("E[f] = %v, want %v exactly", e, want)
	}
	// The control: drawing from p itself has variance.
	if e := must(mustSample(t, normalFrom(0, 1), 1, 100).ExpectPlain(f)); e.StdErr < 0.01 {
		t.Errorf("plain draws: %v", e)
	}
}

// P(x > 4) = 3.1671e-5 is found by shifting the proposal there.
func TestRareEvent(t *testing.T) {
	beyond := func(x float64) float64 {
		if x > 4 {
			return 1
		}
		return 0
	}
	const n = 20_000
	e := must(mustSample(t, normalFrom(4, 1), 1, n).ExpectPlain(beyond))
	near(t, "P(x > 4)", e, 3.1671e-5)
	if e.StdErr > 0.03*e.Value {
		t.Errorf("standard error %v for %v", e.StdErr, e.Value)
	}
	// The control: as many draws from p have a relative error of 1.26.
	if e := must(mustSample(t, normalFrom(0, 1), 1, n).ExpectPlain(beyond)); e.StdErr < 0.3*3.1671e-5 && e.StdErr > 0 {
		t.Errorf("draws from p: %v", e)
	}
}

func TestImportanceBadInput(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	constant := func(v float64) func(float64) float64 { return func(float64) float64 { return v } }
	var density *DensityError
	var data *lvm.DataError
	for _, c := range [][2]float64{{nan, 0}, {inf, 0}, {0, nan}, {0, inf}, {0, -inf}} {
		im := &Importance[float64]{LogDensity: constant(c[0]), Draw: openUniform, LogProposal: constant(c[1])}
		if w, err := im.Sample(newRand(1), 10); w != nil || !errors.As(err, &density) || !strings.Contains(err.Error(), "; try ") {
			t.Errorf("%v: %v, %v", c, w, err)
		}
	}
	im := &Importance[float64]{LogDensity: constant(-inf), Draw: openUniform, LogProposal: constant(0)}
	for _, n := range []int{0, 10} {
		if w, err := im.Sample(newRand(1), n); w != nil || !errors.As(err, &data) {
			t.Errorf("no mass in %d draws: %v, %v", n, w, err)
		}
	}
	w := &Weighted[float64]{Draws: []float64{1, 2}, LogWeights: []float64{0, 0}}
	if _, err := w.Expect(func(x float64) float64 { return 1 / (x - 2) }); !errors.As(err, &data) || data.Row != 1 {
		t.Error(err)
	}
	w.LogWeights = []float64{-inf, -inf}
	if _, err := w.ExpectPlain(squared); !errors.As(err, &data) {
		t.Error(err)
	}
}

// TestParetoEqualsR compares with R's loo, see testdata/README.md.
func TestParetoEqualsR(t *testing.T) {
	names, weights := readCSV(t, "testdata/weights.csv")
	_, results := readCSV(t, "testdata/psis.csv")
	for i, name := range names {
		before := slices.Clone(weights[i])
		smoothed, p := ParetoSmooth(weights[i])
		if !slices.Equal(before, weights[i]) {
			t.Errorf("%s: the weights were changed", name)
		}
		if want := results[i][0]; p.K != want && math.Abs(p.K-want) > 1e-8 {
			t.Errorf("%s: k̂ = %v, R has %v", name, p.K, want)
		}
		for j, want := range results[i][1:] {
			if math.Abs(smoothed[j]-want) > 1e-8*max(1, math.Abs(want)) {
				t.Errorf("%s: weight %d becomes %v, in R %v", name, j, smoothed[j], want)
				break
			}
		}
	}
}

// k̂ finds the shape of weights whose tail is known: w = u^(−k) has the
// exact generalised Pareto tail with shape k.
func TestParetoShape(t *testing.T) {
	const n = 100_000
	for _, k := range []float64{0.1, 0.5, 0.7, 1, 2} {
		rng := newRand(uint64(100 * k))
		logWeights := make([]float64, n)
		for i := range logWeights {
			logWeights[i] = -k * math.Log(openUniform(rng))
		}
		_, p := ParetoSmooth(logWeights)
		// A maximum likelihood estimate from M exceedances has standard error
		// (1+k)/√M, and the prior draws by 10/M towards ½.
		m := float64(p.Tail)
		if p.Tail != 949 || math.Abs(p.K-k) > 4*(1+k)/math.Sqrt(m)+10/m {
			t.Errorf("k = %v: k̂ = %v from %d weights", k, p.K, p.Tail)
		}
		var heavy *WeightError
		if err := p.Err(); k < 0.6 && err != nil || k > 0.9 && !errors.As(err, &heavy) {
			t.Errorf("k = %v: %v", k, err)
		}
	}
}

// Smoothing takes out most of the error that a heavy tail brings in: N(0, 1)
// from N(0, 0.6²) has k = 1 − 0.36.
func TestParetoSmoothingHelps(t *testing.T) {
	const repeats, n = 400, 1000
	rng := newRand(1)
	var raw, smooth float64
	for range repeats {
		w, err := normalFrom(0, 0.6).Sample(rng, n)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := w.Smooth()
		a, b := w.LogZ().Value, s.LogZ().Value
		raw += a * a / repeats
		smooth += b * b / repeats
	}
	if smooth > 0.8*raw {
		t.Errorf("mean squared error of log Z %v raw, %v smoothed", raw, smooth)
	}
}

func TestParetoSmoothEdges(t *testing.T) {
	inf := math.Inf(1)
	equal := make([]float64, 100)
	for name, c := range map[string]struct {
		w []float64
		k float64
	}{
		"none":          {nil, inf},
		"one":           {[]float64{1}, inf},
		"few":           {[]float64{1, 2, 3, 4, 5}, inf},
		"equal":         {equal, math.NaN()},
		"mostly −Inf":   {append([]float64{0}, slices.Repeat([]float64{-inf}, 99)...), inf},
		"only −Inf":     {slices.Repeat([]float64{-inf}, 50), inf},
		"NaN":           {append([]float64{math.NaN()}, equal...), inf},
		"underflowing":  {append([]float64{0}, slices.Repeat([]float64{-5000}, 99)...), inf},
		"three on top":  {append([]float64{9, 9, 9}, equal...), inf},
		"twenty on top": {append(slices.Repeat([]float64{9}, 20), equal...), math.NaN()},
	} {
		smoothed, p := ParetoSmooth(c.w)
		same := slices.EqualFunc(smoothed, c.w, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
		if !same || p.K != c.k && !(math.IsNaN(p.K) && math.IsNaN(c.k)) {
			t.Errorf("%s: k̂ = %v, weights %v", name, p.K, smoothed)
		}
	}
	if err := (Pareto{K: inf, Threshold: 0.7}).Err(); err == nil || !strings.Contains(err.Error(), "more draws") {
		t.Error(err)
	}
	if err := (Pareto{K: 0.6, Threshold: 0.5}).Err(); err == nil || !strings.Contains(err.Error(), "at least 317 draws") {
		t.Error(err)
	}
}

func TestResample(t *testing.T) {
	rng := newRand(1)
	weights := []float64{0.5, 3, 0, 1.25, 0.25, 7, 0}
	sum := 12.0
	const n = 50
	counts := make([]int, len(weights))
	p := make([]float64, len(weights))
	for i, w := range weights {
		p[i] = w / sum
	}
	for seed := range uint64(2000) {
		at, err := ResampleIndices(newRand(seed), weights, n, SystematicResampling)
		if err != nil {
			t.Fatal(err)
		}
		// By brute force: the index whose stretch of [0, sum) holds the tooth.
		offset := newRand(seed).Float64()
		for i, got := range at {
			want, rest := 0, (float64(i)+offset)/n*sum
			for ; rest >= weights[want]; want++ {
				rest -= weights[want]
			}
			if got != want {
				t.Fatalf("tooth %d with offset %v falls on %d, not %d", i, offset, want, got)
			}
		}
		one := make([]int, len(weights))
		for _, i := range at {
			one[i]++
			counts[i]++
		}
		for i, c := range one {
			if e := n * p[i]; float64(c) < math.Floor(e) || float64(c) > math.Ceil(e) {
				t.Fatalf("index %d came %d times for an expectation of %v", i, c, e)
			}
		}
	}
	// Unbiased: a count has variance below ¼ around its expectation.
	for i, c := range counts {
		if z := (float64(c) - 2000*n*p[i]) / math.Sqrt(2000*0.25); math.Abs(z) > 4 {
			t.Errorf("index %d: %d of %d", i, c, 2000*n)
		}
	}
	clear(counts)
	at, err := ResampleIndices(rng, weights, 100_000, MultinomialResampling)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range at {
		counts[i]++
	}
	if q := chiSquare(counts, p); q < tooUnlikely {
		t.Errorf("multinomial: chi-square p = %v", q)
	}
	for _, how := range []Resampling{MultinomialResampling, SystematicResampling} {
		for _, bad := range [][]float64{nil, {0, 0}, {1, -1}, {math.NaN()}} {
			var data *lvm.DataError
			if _, err := ResampleIndices(rng, bad, 3, how); !errors.As(err, &data) {
				t.Errorf("%v: %v", bad, err)
			}
		}
	}
}

// Sampling–importance–resampling: the states follow the target.
func TestSamplingImportanceResampling(t *testing.T) {
	w := mustSample(t, normalFrom(0.5, 2), 1, 200_000)
	for _, how := range []Resampling{MultinomialResampling, SystematicResampling} {
		// Few out of many, so that repetitions are rare and the test for
		// independent draws holds.
		x := w.Resample(newRand(2), 5000, how)
		followsCDF(t, fmt.Sprintf("resampling %d", how), x, normalCDF)
	}
	if p := kolmogorov(slices.Clone(w.Draws[:5000]), normalCDF); p > tooUnlikely {
		t.Errorf("the draws before resampling pass: p = %v", p)
	}
	// States do not share storage.
	v := &Weighted[[]float64]{Draws: [][]float64{{1}}, LogWeights: []float64{0}}
	two := v.Resample(newRand(1), 2, MultinomialResampling)
	two[0][0] = 5
	if two[1][0] != 1 || v.Draws[0][0] != 1 {
		t.Error("resampled states share storage")
	}
}
