package clustering

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// The inertia keeps its digits however small the clusters are against the way
// between them, weights and a far origin included.
func TestKMeansInertiaOfTightClusters(t *testing.T) {
	const n, d, k = 400, 3, 4
	lost := false
	for exp := 0; exp <= 12; exp++ {
		for _, origin := range []float64{0, 1000} {
			rng := rand.New(rand.NewPCG(uint64(exp), 8))
			x, w := mat.NewDense(n, d, nil), make([]float64, n)
			for i := range n {
				w[i] = rng.ExpFloat64()
				for j := range d {
					x.Set(i, j, origin+float64((i%k)*(j+1))+rng.NormFloat64()*math.Pow(10, -float64(exp)))
				}
			}
			opts := &KMeansOptions{Options: lvm.Options{MaxIter: 20, Tol: -1}, Centers: x.Slice(0, k, 0, d), Weights: w}
			m, trace, err := FitKMeans(nil, x, k, opts)
			if err != nil {
				t.Fatal(err)
			}
			var want float64
			for i, z := range m.Assign(x) {
				want += w[i] * num.SqDist(x.RawRowView(i), m.Centers.RawRowView(z))
			}
			if got := -trace.Final(); math.Abs(got-want) > 1e-12*want {
				t.Errorf("clusters of width 1e-%d at %g: inertia %v, want %v", exp, origin, got, want)
			}
			lost = lost || math.Abs(momentsAlone(t, x, w, m)-want) > 1e-3*want
		}
	}
	if !lost {
		t.Error("control: the moments about the origin suffice, so this tests nothing")
	}
}

// momentsAlone returns the inertia of converged centres as if digits never cancelled.
func momentsAlone(t *testing.T, x *mat.Dense, w []float64, m *KMeans) float64 {
	data, err := newWeighted("test", x, w)
	if err != nil {
		t.Fatal(err)
	}
	l := newLloyd("test", data, m.Centers)
	l.assign()
	k, d := m.Centers.Dims()
	var inertia float64
	sum := make([]float64, d)
	for z := range k {
		weight, square := l.tally.of(z, sum)
		inertia += square
		for _, s := range sum {
			inertia -= s / weight * s
		}
	}
	return inertia
}

// A tally that rows have come to and left is that of the rows that stay.
func TestTallyForgets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, kind := range kinds {
		const n, d = 500, 3
		w := make([]float64, n)
		for i := range w {
			w[i] = rng.ExpFloat64()
		}
		data, err := newWeighted("test", hardData(rng, kind, n, d), w)
		if err != nil {
			t.Fatal(err)
		}
		cut := data.cut()
		moved, direct := newTally(data, cut, 2), newTally(data, cut, 2)
		for i := range int32(n) {
			moved.move(data, []num.Move{{Row: i, From: 0, To: 1}})
		}
		for _, i := range rng.Perm(n) {
			if i%3 > 0 {
				moved.move(data, []num.Move{{Row: int32(i), From: 1, To: 0}})
			} else {
				direct.move(data, []num.Move{{Row: int32(i), From: 0, To: 1}})
			}
		}
		got, want := make([]float64, d), make([]float64, d)
		gotWeight, gotSquare := moved.of(1, got)
		weight, square := direct.of(1, want)
		if gotWeight != weight || gotSquare != square {
			t.Errorf("%s: weight %v and squares %v, want %v and %v", kind, gotWeight, gotSquare, weight, square)
		}
		for j, v := range want {
			if got[j] != v {
				t.Errorf("%s: sum %d is %v, want %v", kind, j, got[j], v)
			}
		}
	}
}

// Values that stand for "missing" and weights of all sizes must not cost the other rows
// their digits: every centre is the mean of its rows, and J is theirs.
func TestKMeansAmidOutliers(t *testing.T) {
	const n, d, k = 600, 2, 5
	for exp := 0; exp <= 60; exp += 4 {
		for _, wide := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(uint64(exp), 10))
			x, w := mat.NewDense(n, d, nil), make([]float64, n)
			for i := range n {
				w[i] = 1
				if wide {
					w[i] = math.Pow(10, float64(-rng.IntN(exp+1)))
				}
				for j := range d {
					x.Set(i, j, float64(i%3*(j+1))+0.1*rng.NormFloat64())
				}
				if i%50 == 7 && !wide {
					x.Set(i, i/50%d, (1+rng.Float64())*math.Pow(10, float64(exp)))
				}
			}
			start := mat.DenseCopyOf(x.Slice(3, 3+k, 0, d)) // row 7 is among them
			m, _, err := FitKMeans(nil, x, k, &KMeansOptions{Options: lvm.Options{MaxIter: 100, Tol: -1}, Centers: start, Weights: w})
			if err != nil {
				t.Fatalf("10^%d, wide %v: %v", exp, wide, err)
			}
			labels := m.Assign(x)
			for z := range k {
				first, weight, sum := -1, 0.0, make([]float64, d)
				for i, label := range labels {
					if label != z {
						continue
					}
					if first < 0 {
						first = i
					}
					weight += w[i]
					for j := range d {
						sum[j] += w[i] * (x.At(i, j) - x.At(first, j))
					}
				}
				for j, s := range sum {
					mean := x.At(first, j) + s/weight
					if got := m.Centers.At(z, j); math.Abs(got-mean) > 1e-9*math.Abs(mean) {
						t.Errorf("10^%d, wide %v: centre %d has %v in column %d, the mean of its rows is %v", exp, wide, z, got, j, mean)
					}
				}
			}
		}
	}
}
