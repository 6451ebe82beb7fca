package sampling

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// beta22 is p̃ = x(1−x), Beta(2, 2) up to Z = 1/6, from the uniform
// distribution; its mean is ½, its variance 1/20.
func beta22(logK float64) *Rejection[float64] {
	return &Rejection[float64]{
		LogDensity:  func(x float64) float64 { return math.Log(x) + math.Log1p(-x) },
		Draw:        openUniform,
		LogProposal: func(float64) float64 { return 0 },
		LogK:        logK,
	}
}

func betaCDF22(x float64) float64 { return x * x * (3 - 2*x) }

func variances(t *testing.T, draws []float64) (mean, variance Estimate) {
	t.Helper()
	mean, err := Expect(draws, func(x float64) float64 { return x })
	if err != nil {
		t.Fatal(err)
	}
	variance, err = Expect(draws, func(x float64) float64 { return (x - mean.Value) * (x - mean.Value) })
	if err != nil {
		t.Fatal(err)
	}
	return mean, variance
}

// The numbers of the notes' catalogue (000, A80).
func TestRejectionBeta(t *testing.T) {
	r := beta22(0)
	logK, at, err := LogEnvelope(r.LogDensity, r.LogProposal, 0, 1)
	if err != nil || math.Abs(logK-math.Log(0.25)) > 1e-15 || math.Abs(at-0.5) > 1e-7 {
		t.Fatalf("k* = %v at %v, want 1/4 at 1/2; %v", math.Exp(logK), at, err)
	}
	const n = 50_000
	s, err := beta22(logK).Sample(newRand(1), n)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "acceptance", Estimate{s.Acceptance(), s.Acceptance() * s.LogZ().StdErr}, 2.0/3)
	near(t, "log Z", s.LogZ(), math.Log(1.0/6))
	mean, variance := variances(t, s.Draws)
	near(t, "mean", mean, 0.5)
	near(t, "variance", variance, 0.05)
	followsCDF(t, "Beta(2, 2)", s.Draws, betaCDF22)

	// A larger k only wastes proposals.
	wasteful, err := beta22(math.Log(1)).Sample(newRand(2), n)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "acceptance for k = 1", Estimate{wasteful.Acceptance(), wasteful.Acceptance() * wasteful.LogZ().StdErr}, 1.0/6)
	followsCDF(t, "Beta(2, 2) with k = 1", wasteful.Draws, betaCDF22)

	// Half of k* draws from min(p̃, k q): variance 0.063673 and acceptance
	// 0.861929, and the error says so.
	small, err := beta22(math.Log(0.125)).Sample(newRand(3), n)
	var envelope *EnvelopeError
	if !errors.As(err, &envelope) {
		t.Fatalf("k too small: %v", err)
	}
	if math.Abs(envelope.LogRatio-math.Log(0.25)) > 1e-6 || math.Abs(envelope.At[0]-0.5) > 1e-3 || envelope.Violations != small.Violations || envelope.Violations < n/2 {
		t.Errorf("%+v", envelope)
	}
	near(t, "acceptance for k = 1/8", Estimate{small.Acceptance(), math.Sqrt(0.861929 * 0.138071 / float64(small.Proposals))}, 0.861929)
	_, variance = variances(t, small.Draws)
	near(t, "variance for k = 1/8", variance, 0.063673)
	if p := kolmogorov(small.Draws, betaCDF22); p > tooUnlikely {
		t.Errorf("the biased draws pass for Beta(2, 2): p = %v", p)
	}
}

// near fails if an estimate is further than 4 standard errors from want.
func near(t *testing.T, what string, e Estimate, want float64) {
	t.Helper()
	if z := (e.Value - want) / e.StdErr; !(math.Abs(z) < 4) {
		t.Errorf("%s: %v ± %v, want %v (z = %.1f)", what, e.Value, e.StdErr, want, z)
	}
}

func normalFromCauchy() *Rejection[float64] {
	return &Rejection[float64]{
		LogDensity:  func(x float64) float64 { return -0.5 * x * x },
		Draw:        Cauchy{Scale: 1}.Draw,
		LogProposal: Cauchy{Scale: 1}.LogProb,
	}
}

func TestRejectionNormalFromCauchy(t *testing.T) {
	r := normalFromCauchy()
	inf := math.Inf(1)
	logK, at, err := LogEnvelope(r.LogDensity, r.LogProposal, -inf, inf)
	want := 2 * math.Pi * math.Exp(-0.5) // 3.810945
	if err != nil || math.Abs(math.Exp(logK)-want) > 1e-12 || math.Abs(math.Abs(at)-1) > 1e-6 {
		t.Fatalf("k* = %v at %v, want %v at ±1; %v", math.Exp(logK), at, want, err)
	}
	r.LogK = logK
	s, err := r.Sample(newRand(4), 50_000)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "acceptance", Estimate{s.Acceptance(), s.Acceptance() * s.LogZ().StdErr}, 0.657745)
	near(t, "log Z", s.LogZ(), 0.5*math.Log(2*math.Pi))
	followsCDF(t, "normal from Cauchy", s.Draws, normalCDF)
}

// Rejection dies with the dimension: acceptance (σ_p/σ_q)^d.
func TestRejectionDimension(t *testing.T) {
	const sigma = 1.2
	for _, d := range []int{1, 2, 5, 10, 20} {
		r := &Rejection[[]float64]{
			LogDensity: func(x []float64) float64 { return -0.5 * dot(x, x) },
			Draw: func(rng *rand.Rand) []float64 {
				x := make([]float64, d)
				for i := range x {
					x[i] = sigma * rng.NormFloat64()
				}
				return x
			},
			LogProposal: func(x []float64) float64 {
				return -0.5*dot(x, x)/(sigma*sigma) - float64(d)*math.Log(sigma)
			},
			LogK: float64(d) * math.Log(sigma),
		}
		s, err := r.Sample(newRand(uint64(d)), 2000)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("d = %d", d), Estimate{s.Acceptance(), s.Acceptance() * s.LogZ().StdErr}, math.Pow(1/sigma, float64(d)))
	}
}

func dot(x, y []float64) float64 {
	var s float64
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

func TestRejectionTrials(t *testing.T) {
	r := beta22(math.Log(0.25))
	rng := newRand(1)
	for range 1000 {
		trial, err := r.Propose(rng)
		if err != nil {
			t.Fatal(err)
		}
		p := r.LogDensity(trial.State)
		if trial.LogHeight > r.LogK || trial.Accepted != (trial.LogHeight <= p) || trial.LogRatio != p {
			t.Fatalf("%+v with log p̃ = %v", trial, p)
		}
	}
}

func TestRejectionBadInput(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	with := func(logp func(float64) float64, logq func(float64) float64) error {
		r := &Rejection[float64]{LogDensity: logp, Draw: openUniform, LogProposal: logq, MaxTries: 1000}
		s, err := r.Sample(newRand(1), 10)
		if err == nil || s == nil || len(s.Draws) == 10 || !strings.Contains(err.Error(), "; try ") {
			t.Errorf("%v with %+v", err, s)
		}
		return err
	}
	constant := func(v float64) func(float64) float64 { return func(float64) float64 { return v } }
	var density *DensityError
	var acceptance *AcceptanceError
	for _, v := range []float64{nan, inf} {
		if err := with(constant(v), constant(0)); !errors.As(err, &density) || math.IsInf(density.Value, 1) != math.IsInf(v, 1) {
			t.Error(err)
		}
	}
	for _, v := range []float64{nan, inf, -inf} {
		if err := with(constant(0), constant(v)); !errors.As(err, &density) {
			t.Error(err)
		}
	}
	if err := with(constant(-inf), constant(0)); !errors.As(err, &acceptance) || acceptance.Tries != 1000 {
		t.Error(err) // no mass where the proposal is
	}
	if err := with(constant(-800), constant(0)); !errors.As(err, &acceptance) {
		t.Error(err) // an envelope far too loose
	}
}

func TestLogEnvelopeUnbounded(t *testing.T) {
	inf := math.Inf(1)
	cauchy, wide := Cauchy{Scale: 1}.LogProb, Cauchy{Scale: 2}.LogProb
	var envelope *EnvelopeError
	// Cauchy from normal: the proposal has the lighter tails.
	if _, _, err := LogEnvelope(cauchy, normalLogProb, -inf, inf); !errors.As(err, &envelope) || !envelope.Unavoidable || !strings.Contains(err.Error(), "heavier tails") {
		t.Error(err)
	}
	// A proposal that misses part of the support.
	part := func(x float64) float64 {
		if x < 0 {
			return -inf
		}
		return math.Ln2 + normalLogProb(x)
	}
	if _, _, err := LogEnvelope(normalLogProb, part, -inf, inf); !errors.As(err, &envelope) || !envelope.Unavoidable {
		t.Error(err)
	}
	// Equal tails: the supremum 2 is only reached at infinity.
	if logK, _, err := LogEnvelope(wide, cauchy, -inf, inf); err != nil || math.Abs(logK-math.Ln2) > 1e-9 {
		t.Errorf("%v, %v", logK, err)
	}
	if logK, at, err := LogEnvelope(cauchy, wide, -inf, inf); err != nil || math.Abs(logK-math.Ln2) > 1e-12 || math.Abs(at) > 1e-6 {
		t.Errorf("%v at %v, %v", logK, at, err)
	}
}
