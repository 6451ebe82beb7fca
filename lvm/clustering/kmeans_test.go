package clustering

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Notes 000, A14: {0, 1, 9, 10} from 0 and 1 ends at .5 and 9.5 with J = 1.
func TestKMeansFourPoints(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 1, 9, 10})
	m, trace, err := FitKMeans(nil, x, 2, &KMeansOptions{Centers: mat.NewDense(2, 1, []float64{0, 1})})
	if err != nil {
		t.Fatal(err)
	}
	if m.Centers.At(0, 0) != .5 || m.Centers.At(1, 0) != 9.5 || m.Inertia(x) != 1 || trace.Final() != -1 {
		t.Errorf("centres %v, inertia %v, trace %+v", m.Centers, m.Inertia(x), trace)
	}
	if err := trace.Err(); err != nil {
		t.Error(err)
	}
}

// Notes 000, A14–A15: the start at (2,0), (2,1) is stuck at J = 16; restarts
// find J = 1.
func TestKMeansRectangle(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 0, 0, 1, 4, 0, 4, 1})
	m, _, err := FitKMeans(nil, x, 2, &KMeansOptions{Centers: mat.NewDense(2, 2, []float64{2, 0, 2, 1})})
	if err != nil {
		t.Fatal(err)
	}
	if j := m.Inertia(x); j != 16 {
		t.Errorf("inertia %v, want the local minimum 16", j)
	}
	m, _, err = FitKMeans(rand.New(rand.NewPCG(1, 2)), x, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if j := m.Inertia(x); math.Abs(j-1) > 1e-15 {
		t.Errorf("inertia %v after restarts, want 1", j)
	}
}
