package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomPanels returns k centres and the panels that they make up.
func randomPanels(rng *rand.Rand, k, d int) (centers, panels []float32) {
	centers, panels = make([]float32, k*d), make([]float32, Panels(k, d))
	for i := range panels {
		panels[i] = math.MaxFloat32 // no centre
	}
	for c := range k {
		panel := panels[c/32*32*d:]
		width := min(32, len(panel)/d)
		for j := range d {
			centers[c*d+j] = float32(rng.NormFloat64())
			panel[width*j+c%32] = centers[c*d+j]
		}
	}
	return centers, panels
}

// The two least must be within the promised error of the exact ones, and the
// index that of a centre whose distance is.
func TestScreen(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 4))
		for trial := range 800 {
			const total = 20
			d, n, k := 1+trial%40, rng.IntN(13), 1+rng.IntN(110)
			if trial%100 == 0 {
				n = 300 + rng.IntN(300)
			}
			x := make([]float32, total*d)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			centers, panels := randomPanels(rng, k, d)
			rows := make([]int32, n)
			for i := range rows {
				rows[i] = int32(rng.IntN(total))
			}
			found := Screened{make([]int32, n+1), make([]float32, n+1), make([]float32, n+1)}
			found.Index[n], found.Least[n], found.Second[n] = -7, -7, -7
			Screen(Screened{found.Index[:n], found.Least[:n], found.Second[:n]}, x, d, rows, panels)
			if found.Index[n] != -7 || found.Least[n] != -7 || found.Second[n] != -7 {
				t.Fatal("wrote past the end")
			}
			for i, r := range rows {
				exact := make([]float64, k)
				for c := range exact {
					for j := range d {
						u := float64(x[int(r)*d+j]) - float64(centers[c*d+j])
						exact[c] += u * u
					}
					exact[c] = math.Sqrt(exact[c])
				}
				_, least, second := TwoLeast(exact)
				near := func(got float32, want float64) bool {
					return float64(got) == want || math.Abs(float64(got)-want) <= (float64(d+4)*0x1p-24+0x1p-19)*want
				}
				index := found.Index[i]
				if !near(found.Least[i], least) || !near(found.Second[i], second) || !near(found.Least[i], exact[index]) {
					t.Fatalf("d = %d, k = %d, row %d of %d: got %d %v %v, want %v and %v of %v", d, k, i, n, index, found.Least[i], found.Second[i], least, second, exact)
				}
			}
		}
	})
}

// Distances whose squares overflow are +Inf, and those that do not win.
func TestScreenOverflow(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		for k := range 40 {
			const d, n = 2, 9
			panels := make([]float32, Panels(k+1, d))
			for i := range panels {
				panels[i] = float32(math.Inf(1 - 2*(i%2)))
			}
			panel, width := panels[k/32*32*d:], min(32, Panels(k+1, d)/d-k/32*32)
			panel[k%32], panel[width+k%32] = 3, 4
			found := Screened{make([]int32, n), make([]float32, n), make([]float32, n)}
			Screen(found, make([]float32, d), d, make([]int32, n), panels)
			for i := range n {
				if int(found.Index[i]) != k || found.Least[i] != 5 || !math.IsInf(float64(found.Second[i]), 1) {
					t.Fatalf("centre %d: got %d %v %v", k, found.Index[i], found.Least[i], found.Second[i])
				}
			}
		}
	})
}

func TestScreenPanics(t *testing.T) {
	screen := func(places, d int, row int32, panel int) {
		found := Screened{make([]int32, places), make([]float32, places), make([]float32, places)}
		Screen(found, make([]float32, 3), d, []int32{row}, make([]float32, panel))
	}
	screen(1, 3, 0, 48) // this fits
	for name, f := range map[string]func(){
		"places":     func() { screen(2, 3, 0, 48) },
		"panel":      func() { screen(1, 3, 0, 47) },
		"row past":   func() { screen(1, 3, 1, 48) },
		"row before": func() { screen(1, 3, -1, 48) },
		"no columns": func() { screen(1, 0, 0, 0) },
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
	for _, c := range []struct{ d, k int }{{2, 16}, {2, 50}, {16, 16}, {16, 32}, {64, 100}, {300, 16}, {300, 32}, {300, 100}} {
		b.Run(fmt.Sprintf("d=%d/k=%d", c.d, c.k), func(b *testing.B) {
			const n = 256
			x, panels := make([]float32, n*c.d), make([]float32, Panels(c.k, c.d))
			rows := make([]int32, n)
			found := Screened{make([]int32, n), make([]float32, n), make([]float32, n)}
			for i := range rows {
				rows[i] = int32(i)
			}
			for b.Loop() {
				Screen(found, x, c.d, rows, panels)
			}
			ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / n
			b.ReportMetric(ns, "ns/row")
			b.ReportMetric(float64(c.k*c.d)/ns, "GFMA/s")
		})
	}
}
