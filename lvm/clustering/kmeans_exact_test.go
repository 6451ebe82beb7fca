package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// hardData returns the kinds of data on which bounds go wrong: distances that
// tie, rows that repeat, rounding far from the origin, clusters that overlap.
func hardData(rng *rand.Rand, kind string, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			var v float64
			switch kind {
			case "noise":
				v = rng.NormFloat64()
			case "blobs":
				v = rng.NormFloat64() + 10*float64(i%7)*float64((i+j)%3)
			case "lattice":
				v = float64(rng.IntN(4))
			case "copies":
				v = float64(rng.IntN(5)) * math.Sqrt(float64(j+1)) / 3
				if i >= 40 {
					v = x.At(i%40, j)
				}
			case "far":
				v = 1e9 + rng.NormFloat64()
			case "tiny":
				v = 1e-120 * rng.NormFloat64()
			case "huge":
				v = 1e139 * (rng.Float64() - .5)
			case "scales":
				v = rng.NormFloat64() * math.Pow(10, float64(rng.IntN(12)-6))
			}
			x.Set(i, j, v)
		}
	}
	return x
}

var kinds = []string{"noise", "blobs", "lattice", "copies", "far", "tiny", "huge", "scales"}

// The iterations with bounds visit the very centres, with the very objectives,
// that Step visits by a full search.
func TestKMeansBoundsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, kind := range kinds {
		for _, c := range []struct{ n, d, k int }{{60, 2, 3}, {300, 1, 12}, {700, 3, 40}, {500, 17, 33}, {400, 5, 70}, {1500, 8, 16}} {
			x := hardData(rng, kind, c.n, c.d)
			for _, weighted := range []bool{false, true} {
				var w []float64
				if weighted {
					w = make([]float64, c.n)
					for i := range w {
						w[i] = float64(rng.IntN(3)) * rng.Float64()
					}
				}
				data, err := newWeighted("test", x, w)
				if err != nil {
					t.Fatal(err)
				}
				// Rows with replacement: some centres coincide, so that some are empty.
				start := mat.NewDense(c.k, c.d, nil)
				for z := range c.k {
					start.SetRow(z, x.RawRowView(rng.IntN(c.n)))
				}
				name := fmt.Sprintf("%s n=%d d=%d k=%d weighted=%v", kind, c.n, c.d, c.k, weighted)
				sameVisits(t, name, data, start, x, w)
			}
		}
	}
}

func sameVisits(t *testing.T, name string, data weighted, start, x *mat.Dense, w []float64) {
	t.Helper()
	fast := newLloyd("test", data, start).withBounds(newScreen(data))
	slow := &KMeans{Centers: start}
	for it := range 40 {
		nextFast, objFast, err := fast.step()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		nextSlow, objSlow, err := slow.StepWeighted(x, w)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if objFast != objSlow {
			t.Fatalf("%s: objective %v in step %d, want %v", name, objFast, it, objSlow)
		}
		if !mat.Equal(nextFast.centers, nextSlow.Centers) {
			t.Fatalf("%s: other centres after step %d", name, it)
		}
		for i, z := range slow.Assign(x) {
			if z != int(fast.labels[i]) {
				t.Fatalf("%s: row %d goes to %d in step %d, want %d", name, i, fast.labels[i], it, z)
			}
		}
		fast, slow = nextFast, nextSlow
	}
}

// A control: bounds without the way that the centres have gone must be caught.
func TestKMeansBoundsControl(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	x := hardData(rng, "noise", 500, 3)
	data, err := newWeighted("test", x, nil)
	if err != nil {
		t.Fatal(err)
	}
	start := mat.DenseCopyOf(x.Slice(0, 8, 0, 3))
	fast := newLloyd("test", data, start).withBounds(newScreen(data))
	slow := &KMeans{Centers: start}
	for range 40 {
		fast, _, _ = fast.step()
		clear(fast.bounds.way)
		clear(fast.bounds.most)
		slow, _, _ = slow.Step(x)
		if !mat.Equal(fast.centers, slow.Centers) {
			return
		}
	}
	t.Error("broken bounds visited the centres of Step: the test of exactness cannot fail")
}

func TestKMeansSameBitsOnAnyNumberOfCores(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	x := hardData(rng, "scales", 5000, 4)
	var first *KMeans
	var path []float64
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(cores)
		m, trace, err := FitKMeans(rand.New(rand.NewPCG(6, 1)), x, 11, &KMeansOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first, path = m, trace.Objective
			continue
		}
		if !mat.Equal(m.Centers, first.Centers) || fmt.Sprint(trace.Objective) != fmt.Sprint(path) {
			t.Errorf("other bits with GOMAXPROCS = %d", cores)
		}
		if j := m.Inertia(x); j != first.Inertia(x) {
			t.Errorf("inertia %v with GOMAXPROCS = %d, was %v", j, cores, first.Inertia(x))
		}
	}
}

// Centres so far out that single precision overflows come within reach later.
func TestKMeansStartFarAway(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for trial := range 300 {
		n, d, k := 20+rng.IntN(200), 1+rng.IntN(4), 2+rng.IntN(40)
		x := hardData(rng, kinds[trial%4], n, d)
		start := mat.NewDense(k, d, nil)
		start.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() * math.Pow(10, float64(rng.IntN(25))) }, start)
		data, err := newWeighted("test", x, nil)
		if err != nil {
			t.Fatal(err)
		}
		sameVisits(t, fmt.Sprintf("trial %d", trial), data, start, x, nil)
	}
}

// Rows that differ by a few units in the last place: the inertia is mostly
// rounding, and moves up as well as down.
func TestKMeansAmidRounding(t *testing.T) {
	rose := 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 3))
		const from = 1 << 40
		x := mat.NewDense(100+rng.IntN(200), 1, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return from + from*0x1p-52*float64(rng.IntN(12)) }, x)
		k := 2 + rng.IntN(5)
		_, trace, err := FitKMeans(rng, x, k, &KMeansOptions{Options: lvm.Options{Restarts: 1, MaxIter: 20, Tol: -1}})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, j := range trace.Objective[1:] {
			if j < trace.Objective[i] {
				rose++
				break
			}
		}
	}
	if rose == 0 {
		t.Error("control: no inertia ever rose, so this tests nothing")
	}
}
