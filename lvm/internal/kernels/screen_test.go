package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// forms are the ways to make panels.
var forms = map[string]func(centers []float32, d int, blur float64) *Panels{"differences": Differences, "products": Products}

// gapsOf returns the squared distances of a row to the centres, the nearest centre and
// how much nearer it is than the second.
func gapsOf(row, centers []float32) (nearest int, gap float64) {
	d := len(row)
	squares := make([]float64, len(centers)/d)
	for z := range squares {
		for j, v := range row {
			t := float64(v) - float64(centers[z*d+j])
			squares[z] += t * t
		}
	}
	nearest, least, second := TwoLeast(squares)
	return nearest, math.Sqrt(second) - math.Sqrt(least)
}

// A positive gap means that the centre is the nearest, and is never wider than the
// exact one. How much narrower it may be is a few times the error that is allowed for.
func TestScreen(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		for name, form := range forms {
			t.Run(name, func(t *testing.T) { testScreen(t, form) })
		}
	})
}

func testScreen(t *testing.T, form func([]float32, int, float64) *Panels) {
	rng := rand.New(rand.NewPCG(7, 4))
	clear, doubts := 0, 0
	for trial := range 600 {
		const total = 20
		d, n, k := 1+trial%40, rng.IntN(13), 1+rng.IntN(110)
		if trial%100 == 0 {
			n = 300 + rng.IntN(300)
		}
		// Three sizes of steps between coordinates, so that there are ties, near ties
		// and neither.
		step := []float64{1, 1e-2, 1e-6}[rng.IntN(3)]
		random := func() float32 { return float32(math.Round(rng.NormFloat64()/step) * step) }
		x, norms, centers, rows := make([]float32, total*d), make([]float32, total), make([]float32, k*d), make([]int32, n)
		for i := range norms {
			var norm float64
			for j := range d {
				x[i*d+j] = random()
				norm += float64(x[i*d+j]) * float64(x[i*d+j])
			}
			norms[i] = float32(norm)
		}
		for i := range centers {
			centers[i] = random()
		}
		for i := range rows {
			rows[i] = int32(rng.IntN(total))
		}
		const blur = 1e-5
		index, gap := make([]int32, n+1), make([]float32, n+1)
		index[n], gap[n] = -7, -7
		form(centers, d, blur).Screen(index[:n], gap[:n], x, norms, rows)
		if index[n] != -7 || gap[n] != -7 {
			t.Fatal("wrote past the end")
		}
		for i, r := range rows {
			nearest, exact := gapsOf(x[int(r)*d:(int(r)+1)*d], centers)
			if gap[i] > 0 {
				clear++
			} else {
				doubts++
			}
			if gap[i] > 0 && int(index[i]) != nearest || float64(gap[i]) > exact-blur {
				t.Fatalf("d = %d, k = %d, row %d of %d: got %d with a gap of %g, want %d with %g", d, k, i, n, index[i], gap[i], nearest, exact)
			}
		}
	}
	if clear < 5*doubts/2 || doubts == 0 {
		t.Errorf("%d rows clear and %d in doubt", clear, doubts)
	}
}

// Centres so far away that squares overflow do not win, and do not come out near.
func TestScreenOverflow(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		for k := range 40 {
			const d, n = 2, 9
			centers := make([]float32, (k+1)*d)
			for i := range centers {
				centers[i] = []float32{1e20, -1e38, float32(math.Inf(1))}[i%3]
			}
			centers[k*d], centers[k*d+1] = 3, 4
			for name, form := range forms {
				index, gap := make([]int32, n), make([]float32, n)
				form(centers, d, 0).Screen(index, gap, make([]float32, d), make([]float32, 1), make([]int32, n))
				for i := range n {
					if gap[i] > 0 && int(index[i]) != k || gap[i] > 1e19 {
						t.Fatalf("%s, centre %d: got %d with a gap of %g", name, k, index[i], gap[i])
					}
					if name == "differences" && !(gap[i] > 1e18) {
						t.Fatalf("centre %d is in doubt: a gap of %g", k, gap[i])
					}
				}
			}
		}
	})
}

func TestScreenPanics(t *testing.T) {
	screen := func(places int, row int32) {
		Differences(make([]float32, 6), 3, 0).Screen(make([]int32, places), make([]float32, places), make([]float32, 3), make([]float32, 1), []int32{row})
	}
	screen(1, 0) // this fits
	for name, f := range map[string]func(){
		"places":     func() { screen(2, 0) },
		"row past":   func() { screen(1, 1) },
		"row before": func() { screen(1, -1) },
		"no columns": func() { Products(nil, 0, 0) },
		"centres":    func() { Products(make([]float32, 5), 3, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func BenchmarkScreen(b *testing.B) {
	for _, c := range []struct{ d, k int }{{2, 16}, {2, 50}, {16, 16}, {16, 32}, {64, 100}, {300, 100}} {
		for name, form := range forms {
			b.Run(fmt.Sprintf("d=%d/k=%d/%s", c.d, c.k, name), func(b *testing.B) {
				const n = 256
				x, norms, panels := make([]float32, n*c.d), make([]float32, n), form(make([]float32, c.k*c.d), c.d, 0)
				rows, index, gap := make([]int32, n), make([]int32, n), make([]float32, n)
				for i := range rows {
					rows[i] = int32(i)
				}
				for b.Loop() {
					panels.Screen(index, gap, x, norms, rows)
				}
				ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / n
				b.ReportMetric(ns, "ns/row")
				b.ReportMetric(float64(c.k*c.d)/ns, "GFMA/s")
			})
		}
	}
}
