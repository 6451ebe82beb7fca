package sampling

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/latent-lessons/latent/lvm"
)

func someMixture(dof float64) *MixtureProposal {
	return &MixtureProposal{
		Weights: []float64{1, 3},
		Means:   mat.NewDense(2, 2, []float64{-1, 0, 2, 1}),
		Covs:    []*mat.SymDense{mat.NewSymDense(2, []float64{1, 0.5, 0.5, 2}), mat.NewSymDense(2, []float64{0.5, -0.2, -0.2, 0.4})},
		DoF:     dof,
	}
}

func TestMixtureProposalLogProb(t *testing.T) {
	for _, dof := range []float64{0, 3} {
		q := someMixture(dof)
		parts := make([]interface{ LogProb([]float64) float64 }, 2)
		for c, cov := range q.Covs {
			var ok bool
			if dof == 0 {
				parts[c], ok = distmv.NewNormal(q.Means.RawRowView(c), cov, nil)
			} else {
				parts[c], ok = distmv.NewStudentsT(q.Means.RawRowView(c), cov, dof, nil)
			}
			if !ok {
				t.Fatal("not positive definite")
			}
		}
		for _, x := range [][]float64{{0, 0}, {-1, 0}, {5, -3}, {2, 1.5}} {
			want := math.Log(0.25*math.Exp(parts[0].LogProb(x)) + 0.75*math.Exp(parts[1].LogProb(x)))
			if got := q.LogProb(x); math.Abs(got-want) > 1e-12 {
				t.Errorf("ν = %v: LogProb(%v) = %v, gonum has %v", dof, x, got, want)
			}
		}
	}
	g := &Grid{Lower: []float64{-12, -12}, Upper: []float64{12, 12}, Points: 200}
	if logZ, err := g.LogIntegrate(someMixture(0).LogProb); err != nil || math.Abs(logZ) > 1e-8 {
		t.Errorf("the mixture integrates to exp(%v), %v", logZ, err)
	}
}

// Draw and LogProb belong together: weighted draws have mean weight 1 for a
// target that is another proposal, in both directions, and the moments of a
// t are right.
func TestMixtureProposalDraw(t *testing.T) {
	normal, heavy := someMixture(0), someMixture(5)
	for name, im := range map[string]*Importance[[]float64]{
		"t for normal":                   {LogDensity: normal.LogProb, Draw: heavy.Draw, LogProposal: heavy.LogProb},
		"t for itself, ν = 5 from ν = 3": {LogDensity: heavy.LogProb, Draw: someMixture(3).Draw, LogProposal: someMixture(3).LogProb},
	} {
		w := mustSample(t, im, 1, 50_000)
		near(t, name+", log Z", w.LogZ(), 0)
		near(t, name+", mean", must(w.Expect(func(x []float64) float64 { return x[0] })), (-1+3*2)/4.0)
	}
	// Var x_0 = Σ α (Σ_00 ν/(ν−2) + μ²) − mean².
	draws := Draws(newRand(2), 100_000, heavy.Draw)
	e := must(Expect(draws, func(x []float64) float64 { return (x[0] - 1.25) * (x[0] - 1.25) }))
	near(t, "variance of t", e, 0.25*(5.0/3+1)+0.75*(0.5*5/3+4)-1.25*1.25)
}

// A step is one step of expectation maximisation on the weighted draws: the
// cross-entropy to the target falls; and with one Gaussian it matches moments.
func TestMixtureProposalStep(t *testing.T) {
	target := modes()
	for _, dof := range []float64{0, 4} {
		q := &MixtureProposal{
			Weights: []float64{0.5, 0.5}, Means: mat.NewDense(2, 1, []float64{-1, 0.5}),
			Covs: []*mat.SymDense{symmetric(1, 4), symmetric(1, 9)}, DoF: dof,
		}
		for step := range 4 {
			next, w, err := q.Step(newRand(uint64(step)), target.logp, 5000)
			if err != nil {
				t.Fatal(err)
			}
			before, after := must(w.Expect(q.LogProb)), must(w.Expect(next.LogProb))
			if !(after.Value > before.Value-1e-12) {
				t.Errorf("ν = %v, step %d: E[log q] falls from %v to %v", dof, step, before.Value, after.Value)
			}
			q = next
		}
	}

	one := &MixtureProposal{Weights: []float64{1}, Means: mat.NewDense(1, 2, nil), Covs: []*mat.SymDense{symmetric(2, 9)}}
	next, w, err := one.Step(newRand(1), correlated().logp, 5000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		mean := must(w.Expect(func(x []float64) float64 { return x[i] })).Value
		second := must(w.Expect(func(x []float64) float64 { return (x[i] - mean) * (x[0] - next.Means.At(0, 0)) })).Value
		if math.Abs(next.Means.At(0, i)-mean) > 1e-12 || math.Abs(next.Covs[0].At(i, 0)-second) > 1e-12 {
			t.Errorf("moments %v, %v; want %v, %v", next.Means.At(0, i), next.Covs[0].At(i, 0), mean, second)
		}
	}
	if one.Means.At(0, 0) != 0 || one.Covs[0].At(0, 0) != 9 {
		t.Error("Step changed its receiver")
	}
}

// A proposal that is the target already stays where it is, but for the noise
// of its draws.
func TestMixtureProposalFixedPoint(t *testing.T) {
	for _, dof := range []float64{0, 4} {
		q := someMixture(dof)
		next, w, err := q.Step(newRand(1), q.LogProb, 40_000)
		if err != nil || math.Abs(w.Perplexity()-1) > 1e-9 {
			t.Fatalf("perplexity %v, %v", w.Perplexity(), err)
		}
		// A quarter of the draws is 10,000, so entries have standard errors of a
		// few per cent of the scale at most.
		for c, weight := range []float64{0.25, 0.75} {
			if math.Abs(next.Weights[c]-weight) > 0.02 {
				t.Errorf("ν = %v: weight %v, want %v", dof, next.Weights[c], weight)
			}
			for i := range 2 {
				if math.Abs(next.Means.At(c, i)-q.Means.At(c, i)) > 0.08 {
					t.Errorf("ν = %v: mean %v, want %v", dof, next.Means.At(c, i), q.Means.At(c, i))
				}
				for j := range 2 {
					if got, want := next.Covs[c].At(i, j), q.Covs[c].At(i, j); math.Abs(got-want) > 0.08*math.Sqrt(q.Covs[c].At(i, i)*q.Covs[c].At(j, j)) {
						t.Errorf("ν = %v: covariance %v, want %v", dof, got, want)
					}
				}
			}
		}
	}
}

func symmetric(d int, diagonal float64) *mat.SymDense {
	s := mat.NewSymDense(d, nil)
	for i := range d {
		s.SetSym(i, i, diagonal)
	}
	return s
}

// From a start that hardly overlaps the target, adaptation finds it and the
// evidence.
func TestPopulationMonteCarlo(t *testing.T) {
	// A correlated Gaussian with Z = exp(−3), far from the start.
	const rho = 0.9
	logp := func(x []float64) float64 {
		a, b := x[0]-6, x[1]+4
		return -3 - math.Log(2*math.Pi*math.Sqrt(1-rho*rho)) - (a*a-2*rho*a*b+b*b)/(2*(1-rho*rho))
	}
	for _, dof := range []float64{0, 5} {
		start := &MixtureProposal{Weights: []float64{1}, Means: mat.NewDense(1, 2, nil), Covs: []*mat.SymDense{symmetric(2, 4)}, DoF: dof}
		q, w, perplexity, err := PopulationMonteCarlo(newRand(1), logp, start, &PopulationOptions{Draws: 2000, Rounds: 15})
		if err != nil {
			t.Fatal(err)
		}
		first, last := perplexity[0], perplexity[len(perplexity)-1]
		if len(perplexity) != 15 || first > 0.02 || last < 0.8 || w.Perplexity() != last {
			t.Errorf("ν = %v: perplexity %.3f", dof, perplexity)
		}
		near(t, "log Z", w.LogZ(), -3)
		near(t, "mean", must(w.Expect(func(x []float64) float64 { return x[0] })), 6)
		near(t, "covariance", must(w.Expect(func(x []float64) float64 { return (x[0] - 6) * (x[1] + 4) })), rho)
		if got := q.Means.At(0, 1); math.Abs(got+4) > 0.15 {
			t.Errorf("ν = %v: the proposal is at %v", dof, got)
		}
	}
	// Two modes with two components, and with one the weights are less even.
	target := modes()
	two := &MixtureProposal{Weights: []float64{1, 1}, Means: mat.NewDense(2, 1, []float64{-3, 3}), Covs: []*mat.SymDense{symmetric(1, 4), symmetric(1, 4)}}
	_, _, p2, err := PopulationMonteCarlo(newRand(2), target.logp, two, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := &MixtureProposal{Weights: []float64{1}, Means: mat.NewDense(1, 1, nil), Covs: []*mat.SymDense{symmetric(1, 9)}}
	_, _, p1, err := PopulationMonteCarlo(newRand(2), target.logp, one, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p2[9] < 0.99 || p1[9] > 0.95 {
		t.Errorf("perplexity %.3f with two components, %.3f with one", p2, p1)
	}
}

// A component that no draw belongs to keeps its place and loses its weight.
func TestPopulationDeadComponent(t *testing.T) {
	start := &MixtureProposal{Weights: []float64{0.5, 0.5}, Means: mat.NewDense(2, 1, []float64{0, 500}), Covs: []*mat.SymDense{symmetric(1, 4), symmetric(1, 1)}}
	q, w, _, err := PopulationMonteCarlo(newRand(1), func(x []float64) float64 { return -0.5 * x[0] * x[0] }, start, nil)
	if err != nil {
		t.Fatal(err)
	}
	if q.Weights[1] > 1e-12 || q.Means.At(1, 0) != 500 {
		t.Errorf("weights %v, means %v", q.Weights, mat.Formatted(q.Means))
	}
	near(t, "log Z", w.LogZ(), 0.5*math.Log(2*math.Pi))
}

func TestPopulationBadInput(t *testing.T) {
	inf := math.Inf(1)
	good := func([]float64) float64 { return 0 }
	var shape *lvm.ShapeError
	var data *lvm.DataError
	var degenerate *lvm.DegenerateError
	var density *DensityError
	for name, c := range map[string]struct {
		change func(q *MixtureProposal)
		logp   func(x []float64) float64
		as     any
	}{
		"weights":        {func(q *MixtureProposal) { q.Weights = q.Weights[:1] }, good, &shape},
		"covariances":    {func(q *MixtureProposal) { q.Covs = q.Covs[:1] }, good, &shape},
		"cov dimensions": {func(q *MixtureProposal) { q.Covs[1] = symmetric(3, 1) }, good, &shape},
		"negative":       {func(q *MixtureProposal) { q.Weights[0] = -1 }, good, &data},
		"indefinite":     {func(q *MixtureProposal) { q.Covs[1] = symmetric(2, -1) }, good, &degenerate},
		"NaN density":    {func(*MixtureProposal) {}, func([]float64) float64 { return math.NaN() }, &density},
		"no mass":        {func(*MixtureProposal) {}, func([]float64) float64 { return -inf }, &data},
	} {
		q := someMixture(0)
		c.change(q)
		if _, _, _, err := PopulationMonteCarlo(newRand(1), c.logp, q, nil); err == nil || !errors.As(err, c.as) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
