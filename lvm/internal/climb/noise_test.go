package climb

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/latent-lessons/latent/lvm"
)

// A climb along a given path of objectives.
func along(path []float64, tol, noise float64) (int, lvm.Trace, error) {
	return Fit(rand.New(rand.NewPCG(1, 2)), lvm.Options{MaxIter: len(path) - 1, Tol: tol, Restarts: 1}, Problem[int]{
		Op:    "test",
		Start: func(*rand.Rand) (int, error) { return 0, nil },
		Step:  func(t int) (int, float64, error) { return t + 1, path[t], nil },
		Noise: func(int) float64 { return noise },
	})
}

// A fall within the noise ends the climb, one beyond it is an error, and a
// negative tolerance goes on through the noise.
func TestNoise(t *testing.T) {
	path := []float64{-100, -90, -90.001, -80}
	at, trace, err := along(path, 1e-9, 0.01)
	if err != nil || at != 2 || trace.Status != lvm.Converged || trace.Final() != -90.001 {
		t.Errorf("a fall within the noise: model %d, %+v, %v", at, trace, err)
	}
	at, trace, err = along(path, -1, 0.01)
	if err != nil || at != 3 || trace.Status != lvm.IterationLimit {
		t.Errorf("on through the noise: model %d, %+v, %v", at, trace, err)
	}
	at, trace, err = along([]float64{-1, 0, 0, 0}, -1, 0)
	if err != nil || at != 3 || trace.Status != lvm.IterationLimit {
		t.Errorf("on at an objective of zero: model %d, %+v, %v", at, trace, err)
	}
	if _, _, err = along(path, 1e-9, 1e-4); !errors.Is(err, lvm.ErrObjectiveFell) {
		t.Errorf("a fall beyond the noise: %v", err)
	}
}

// A negative limit would climb for ever.
func TestNegativeOptions(t *testing.T) {
	for _, opts := range []lvm.Options{{MaxIter: -1, Restarts: 1}, {MaxIter: 1, Restarts: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", opts)
				}
			}()
			_, _, _ = Fit(rand.New(rand.NewPCG(1, 2)), opts, Problem[int]{Op: "climb.Test"})
		}()
	}
}
