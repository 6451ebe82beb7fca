package sampling

import (
	"fmt"
	"math"
	"testing"
)

// perSecond reports how many of n things an iteration makes per second.
func perSecond(b *testing.B, n int, what string) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), what+"/s")
}

func BenchmarkAlias(b *testing.B) {
	for _, n := range []int{10, 1000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := make([]float64, n)
			rng := newRand(1)
			for i := range w {
				w[i] = rng.ExpFloat64()
			}
			a, err := NewAlias(w)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				a.Draw(rng)
			}
			perSecond(b, 1, "draws")
		})
	}
}

func BenchmarkTabulatedDraw(b *testing.B) {
	d, err := NewTabulated(normalLogProb, math.Inf(-1), math.Inf(1), nil)
	if err != nil {
		b.Fatal(err)
	}
	rng := newRand(1)
	b.ReportAllocs()
	for b.Loop() {
		d.Draw(rng)
	}
	perSecond(b, 1, "draws")
}

func BenchmarkNewTabulated(b *testing.B) {
	for b.Loop() {
		if _, err := NewTabulated(normalLogProb, math.Inf(-1), math.Inf(1), nil); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, 1, "tables")
}

func BenchmarkAdaptiveRejection(b *testing.B) {
	a := &AdaptiveRejection{Gradient: func(x float64) (float64, float64) { return -0.5 * x * x, -x }}
	rng := newRand(1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Draw(rng); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, 1, "draws")
}

func BenchmarkRejection(b *testing.B) {
	r := normalFromCauchy()
	r.LogK = math.Log(2 * math.Pi * math.Exp(-0.5))
	rng := newRand(1)
	for b.Loop() {
		if _, err := r.Sample(rng, 1000); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, 1000, "draws")
}

func BenchmarkParetoSmooth(b *testing.B) {
	rng := newRand(1)
	w := make([]float64, 10_000)
	for i := range w {
		w[i] = 0.5 * rng.ExpFloat64()
	}
	for b.Loop() {
		ParetoSmooth(w)
	}
	perSecond(b, len(w), "weights")
}

func BenchmarkMixtureProposalStep(b *testing.B) {
	q := someMixture(5)
	rng := newRand(1)
	for b.Loop() {
		if _, _, err := q.Step(rng, gauss2, 1000); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, 1000, "draws")
}

func BenchmarkAIS(b *testing.B) {
	a, _ := gaussianEvidence(5)
	a.Betas = PowerBetas(100, 4)
	rng := newRand(1)
	for b.Loop() {
		if _, err := a.Run(rng, 100); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, 100*99*a.Steps, "steps")
}

func BenchmarkMarkovChain(b *testing.B) {
	c, s := chain523(), 0
	rng := newRand(1)
	b.ReportAllocs()
	for b.Loop() {
		s, _ = c.Step(rng, s)
	}
	perSecond(b, 1, "steps")
}

func BenchmarkPageRank(b *testing.B) {
	rng := newRand(1)
	const pages, perPage = 10_000, 10
	links := make([][]int, pages)
	for i := range links {
		for range perPage {
			links[i] = append(links[i], int(rng.ExpFloat64()*pages/10)%pages)
		}
	}
	for b.Loop() {
		if _, _, err := PageRank(links, nil); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, pages*perPage, "links")
}
