package plots_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-lessons/latent/plots"
)

// threeChains returns two chains that agree and one that is shifted.
func threeChains() [][]float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	draws := make([][]float64, 3)
	for k := range draws {
		x := 0.0
		for range 100 {
			x = 0.8*x + 0.6*rng.NormFloat64()
			draws[k] = append(draws[k], x+float64(k/2))
		}
	}
	return draws
}

func ExampleNewChains() {
	f := plots.New("The third chain has not arrived", "draw", "x")
	chains := must(plots.NewChains(threeChains()))
	f.Add(chains)
	save(f, "chains")
	fmt.Println(chains.Alt())
	// Output:
	// three chains of 100 draws, with means 0.0171, −0.311 and 1.45
}

func ExampleNewRanks() {
	f := plots.New("The third chain ranks too high", "rank", "draws")
	ranks := must(plots.NewRanks(threeChains(), 15))
	f.Add(ranks)
	save(f, "ranks")
	fmt.Println(ranks.Alt())
	// Output:
	// rank counts of three chains in 15 bins, from 0 to 20 where 6.67 would be even
}

func ExampleNewStems() {
	rho := make([]float64, 25)
	for i := range rho {
		rho[i] = math.Pow(0.8, float64(i))
	}
	f := plots.New("Neighbours remember", "lag", "autocorrelation")
	stems := must(plots.NewStems(rho))
	f.Add(stems)
	save(f, "stems")
	fmt.Println(stems.Alt())
	// Output:
	// stems at 0 to 24, from 1 to 0.00472, 0.8 at 1
}

func TestRanksCountEveryDraw(t *testing.T) {
	m := must(plots.NewRanks([][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}}, 2))
	if want := [][]float64{{4, 0}, {0, 4}}; !slices.Equal(m.Counts[0], want[0]) || !slices.Equal(m.Counts[1], want[1]) {
		t.Errorf("counts %v, want %v", m.Counts, want)
	}
	tied := must(plots.NewRanks([][]float64{{0, 0}, {0, 0}}, 4))
	for _, counts := range tied.Counts {
		if !slices.Equal(counts, []float64{0, 0, 2, 0}) {
			t.Errorf("equal draws: counts %v, want them all in the middle", counts)
		}
	}
}

func TestChainsRefuseBadDraws(t *testing.T) {
	bad := [][]float64{{1, 2}, {3, math.NaN()}}
	for name, err := range map[string]error{
		"chains": second(plots.NewChains(bad)),
		"ranks":  second(plots.NewRanks(bad, 5)),
	} {
		var data *plots.DataError
		if !errors.As(err, &data) || data.Mark != name || data.Row != 1 || data.Col != 1 {
			t.Errorf("%s: error %v, want a DataError at row 1, column 1", name, err)
		}
	}
	if err := second(plots.NewStems(nil)); !errors.Is(err, plots.ErrNoData) {
		t.Errorf("stems of nothing: error %v", err)
	}
	var shape *plots.ShapeError
	if err := second(plots.NewRanks(threeChains(), 0)); !errors.As(err, &shape) {
		t.Errorf("no bins: error %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
