package clustering

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm"
)

// Iris against scikit-learn and R; see testdata/README.md.
func TestKMeansReference(t *testing.T) {
	x := datasets.Iris().X
	m, _, err := FitKMeans(rand.New(rand.NewPCG(1, 1)), x, 3, &KMeansOptions{Options: lvm.Options{Restarts: 20}})
	if err != nil {
		t.Fatal(err)
	}
	if j, want := m.Inertia(x), 78.851441426146; math.Abs(j-want) > 1e-11 {
		t.Errorf("inertia %.15g of the best of 20 restarts, want %.15g", j, want)
	}
	sizes := make([]int, 3)
	for _, z := range m.Assign(x) {
		sizes[z]++
	}
	if slices.Sort(sizes); !slices.Equal(sizes, []int{38, 50, 62}) {
		t.Errorf("clusters of %v rows, want 38, 50 and 62", sizes)
	}

	// Lloyd's steps from rows 0, 1 and 2: the inertia of the centres reached, and
	// the first coordinates of these.
	start := x.Slice(0, 3, 0, 4)
	for _, want := range []struct {
		steps   int
		inertia float64
		first   []float64
	}{
		{1, 251.15811720700177, []float64{6.162921348314606, 5.558, 4.554545454545455}},
		{2, 86.72282751379241, []float64{6.545070422535211, 5.568965517241379, 5.006}},
		{5, 82.72701093072979, []float64{6.63103448275862, 5.752380952380952, 5.006}},
	} {
		m, _, err := FitKMeans(nil, x, 3, &KMeansOptions{Options: lvm.Options{MaxIter: want.steps, Tol: -1}, Centers: start})
		if err != nil {
			t.Fatal(err)
		}
		if j := m.Inertia(x); math.Abs(j-want.inertia) > 1e-12*want.inertia {
			t.Errorf("inertia %.15g after %d steps, want %.15g", j, want.steps, want.inertia)
		}
		for z, v := range want.first {
			if c := m.Centers.At(z, 0); math.Abs(c-v) > 1e-14*v {
				t.Errorf("centre %d is at %.15g after %d steps, want %.15g", z, c, want.steps, v)
			}
		}
	}
}
