package clustering_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

// Against scikit-learn (testdata/silhouette.py). Sums of 272 distances on either
// side leave twelve digits.
func TestSilhouettesOfScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/silhouette.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]struct {
		Labels  []int
		Samples []float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 6 {
		t.Fatal(err, len(cases))
	}
	for name, c := range cases {
		x := datasets.OldFaithful().X
		if strings.HasPrefix(name, "iris") {
			x = datasets.Iris().X
		}
		rows, mean, err := clustering.Silhouette(x, c.Labels)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Samples {
			if math.Abs(rows[i]-want) > 1e-12 {
				t.Errorf("%s: row %d has %v, want %v", name, i, rows[i], want)
			}
		}
		if want := floats.Sum(c.Samples) / float64(len(rows)); math.Abs(mean-want) > 1e-12 {
			t.Errorf("%s: mean %v, want %v", name, mean, want)
		}
	}
}

// Four rows on a line, by hand, and rows outside all groups.
func TestSilhouetteByHand(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{0, math.NaN(), 1, 5, 7, 100})
	rows, mean, err := clustering.Silhouette(x, []int{3, -1, 3, 8, 8, -2})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{5.0 / 6, math.NaN(), 4.0 / 5, 2.5 / 4.5, 4.5 / 6.5, math.NaN()}
	for i, w := range want {
		if math.Abs(rows[i]-w) > 1e-15 || math.IsNaN(w) != math.IsNaN(rows[i]) {
			t.Errorf("row %d has %v, want %v", i, rows[i], w)
		}
	}
	if w := (want[0] + want[2] + want[3] + want[4]) / 4; math.Abs(mean-w) > 1e-15 {
		t.Errorf("mean %v, want %v", mean, w)
	}

	// Rows alone, and rows of two groups in one place.
	rows, _, err = clustering.Silhouette(mat.NewDense(5, 1, []float64{1, 1, 1, 1, 9}), []int{0, 0, 1, 1, 2})
	if err != nil || !slices.Equal(rows, make([]float64, 5)) {
		t.Errorf("silhouettes %v, %v, want zeros", rows, err)
	}
}

func TestSilhouetteRefuses(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 1, 2, math.NaN(), 4, 5})
	var data *lvm.DataError
	if _, _, err := clustering.Silhouette(x, []int{0, 1, 1}); !errors.As(err, &data) || data.Row != 1 || data.Col != 1 {
		t.Errorf("a NaN: %v", err)
	}
	for _, z := range [][]int{{0, 0, 0}, {-1, -1, -1}, {2, -1, 2}} {
		if _, _, err := clustering.Silhouette(x, z); !errors.As(err, &data) || !strings.Contains(err.Error(), "groups") {
			t.Errorf("labels %v: %v", z, err)
		}
	}
	if _, _, err := clustering.Silhouette(&mat.Dense{}, nil); !errors.As(err, &data) {
		t.Errorf("no rows: %v", err)
	}
	defer func() {
		if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "clustering: ") {
			t.Errorf("two labels for three rows: %v", r)
		}
	}()
	_, _, _ = clustering.Silhouette(x, []int{0, 1})
}

// The same bits on one core and on three, from any storage.
func TestSilhouetteBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	data := datasets.Blobs(rand.New(rand.NewPCG(1, 2)), 1500, 4, nil)
	runtime.GOMAXPROCS(1)
	one, mean, err := clustering.Silhouette(data.X, data.Labels)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(3)
	three, again, err := clustering.Silhouette(mat.DenseCopyOf(data.X.T()).T(), data.Labels)
	if err != nil || !slices.Equal(one, three) || mean != again {
		t.Errorf("means %v and %v, %v", mean, again, err)
	}
}
