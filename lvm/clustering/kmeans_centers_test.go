package clustering

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// Models without centres say what is missing, as errors and, from methods that return
// none, as panics.
func TestKMeansWithoutCenters(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{1, 2})
	caught := func(f func()) (err error) {
		defer func() { err, _ = recover().(error) }()
		f()
		return nil
	}
	for _, none := range []*mat.Dense{nil, {}} {
		m := &KMeans{Centers: none}
		_, _, step := m.Step(x)
		_, _, update := (&OnlineKMeans{Centers: none}).Update(x)
		for name, err := range map[string]error{
			"Step": step, "Update": update,
			"Assign":  caught(func() { m.Assign(x) }),
			"Inertia": caught(func() { m.Inertia(x) }),
		} {
			var data *lvm.DataError
			if !errors.As(err, &data) || data.Try == "" {
				t.Errorf("%s of centres %v: %v", name, none, err)
			}
		}
	}
}
