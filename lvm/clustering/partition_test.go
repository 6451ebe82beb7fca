package clustering

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCanonical(t *testing.T) {
	if got := Canonical([]int{7, -1, 7, 0, -1}); !slices.Equal(got, []int{0, 1, 0, 2, 1}) {
		t.Error(got)
	}
	if k := NumClusters([]int{7, -1, 7, 0, -1}); k != 3 {
		t.Error(k)
	}
	p := NumClustersProb([][]int{{0, 0, 0}, {1, 2, 1}, {0, 1, 2}, {5, 5, 4}})
	if !slices.Equal(p, []float64{0, 0.25, 0.5, 0.25}) {
		t.Error(p)
	}
	s := CoClustering([][]int{{0, 0, 1}, {3, 3, 3}, {0, 1, 1}, {1, 0, 2}})
	for _, c := range []struct {
		i, j int
		p    float64
	}{{0, 0, 1}, {0, 1, 0.5}, {2, 1, 0.5}, {0, 2, 0.25}} {
		if s.At(c.i, c.j) != c.p {
			t.Errorf("rows %d and %d together in a share %v, want %v", c.i, c.j, s.At(c.i, c.j), c.p)
		}
	}
}

// Losses by their definitions: pairs, and entropies of the joint labels.
func TestPartitionLoss(t *testing.T) {
	for a := range Partitions(5) {
		for b := range Partitions(5) {
			pairs := 0.0
			for i := range a {
				for j := range i {
					if (a[i] == a[j]) != (b[i] == b[j]) {
						pairs++
					}
				}
			}
			both := make([]int, len(a))
			for i := range a {
				both[i] = 5*a[i] + b[i]
			}
			h := func(z []int) float64 { return entropy(sizesOf(z), 5) }
			for loss, want := range map[PartitionLoss]float64{Binder: pairs, VariationOfInformation: 2*h(both) - h(a) - h(b)} {
				if got := loss.Between(a, b); math.Abs(got-want) > 1e-12 {
					t.Fatalf("%v between %v and %v: %v, want %v", loss, a, b, got, want)
				}
			}
		}
	}
	if got := Binder.Between(nil, nil); got != 0 {
		t.Error(got)
	}
}

// The estimate is the best of all partitions of six rows, by brute force, in
// nearly every one of 60 random sets of draws: the moves of single rows
// only promise a local minimum. It is never worse than the best draw.
func TestPointEstimate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	missed := 0
	for range 60 {
		draws := make([][]int, 20)
		for s := range draws {
			draws[s] = CRP{Alpha: 1}.Sample(rng, 6)
		}
		for _, loss := range []PartitionLoss{Binder, VariationOfInformation} {
			mean := func(z []int) (l float64) {
				for _, d := range draws {
					l += loss.Between(z, d) / float64(len(draws))
				}
				return l
			}
			z, got := PointEstimate(draws, loss)
			if math.Abs(got-mean(z)) > 1e-12 {
				t.Fatalf("%v: reports a loss of %v, has %v", loss, got, mean(z))
			}
			if !slices.Equal(z, Canonical(z)) {
				t.Fatalf("labels %v", z)
			}
			for _, d := range draws {
				if mean(d) < got-1e-12 {
					t.Fatalf("%v: %v with loss %v, but the draw %v has %v", loss, z, got, d, mean(d))
				}
			}
			least := math.Inf(1)
			for p := range Partitions(6) {
				least = min(least, mean(p))
			}
			if got > least+1e-12 {
				missed++
			}
		}
	}
	if missed > 6 {
		t.Errorf("the best partition missed in %d of 120 cases", missed)
	}
	t.Logf("missed %d of 120", missed)
}
