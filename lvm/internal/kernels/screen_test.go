package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// The two least must be within the promised error of the exact ones, and the
// index that of a centre whose distance is.
func TestScreen(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 4))
		for d := 1; d < 40; d++ {
			for n := range 13 {
				const total = 20
				width := 16 << rng.IntN(2)
				x, panel := make([]float32, total*d), make([]float32, width*d)
				for i := range x {
					x[i] = float32(rng.NormFloat64())
				}
				for i := range panel {
					panel[i] = float32(rng.NormFloat64())
				}
				for l := 12; l < width; l++ { // padding
					panel[l] = math.MaxFloat32
				}
				rows := make([]int32, n)
				for i := range rows {
					rows[i] = int32(rng.IntN(total))
				}
				found := make([]Screened, n+1)
				found[n].Index = -7
				Screen(found[:n], x, d, rows, panel)
				if found[n].Index != -7 {
					t.Fatal("wrote past the end")
				}
				for i, f := range found[:n] {
					exact := make([]float64, width)
					for l := range exact {
						for j := range d {
							u := float64(x[int(rows[i])*d+j]) - float64(panel[width*j+l])
							exact[l] += u * u
						}
						exact[l] = math.Sqrt(exact[l])
					}
					_, least, second := TwoLeast(exact)
					near := func(got float32, want float64) bool {
						return math.Abs(float64(got)-want) <= float64(d+4)*0x1p-24*want
					}
					if !near(f.Least, least) || !near(f.Second, second) || !near(f.Least, exact[f.Index]) {
						t.Fatalf("d = %d, row %d of %d: got %+v, want %v and %v of %v", d, i, n, f, least, second, exact)
					}
				}
			}
		}
	})
}

func TestScreenPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"places":     func() { Screen(make([]Screened, 2), make([]float32, 3), 3, []int32{0}, make([]float32, 48)) },
		"panel":      func() { Screen(make([]Screened, 1), make([]float32, 3), 3, []int32{0}, make([]float32, 47)) },
		"row past":   func() { Screen(make([]Screened, 1), make([]float32, 3), 3, []int32{1}, make([]float32, 48)) },
		"row before": func() { Screen(make([]Screened, 1), make([]float32, 3), 3, []int32{-1}, make([]float32, 48)) },
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
	for _, c := range []struct{ d, width int }{{2, 16}, {16, 16}, {16, 32}, {64, 32}, {300, 32}} {
		b.Run(fmt.Sprintf("d=%d/width=%d", c.d, c.width), func(b *testing.B) {
			const n = 256
			d := c.d
			x, panel := make([]float32, n*d), make([]float32, c.width*d)
			rows, found := make([]int32, n), make([]Screened, n)
			for i := range rows {
				rows[i] = int32(i)
			}
			for b.Loop() {
				Screen(found, x, d, rows, panel)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n*c.width), "ns/distance")
		})
	}
}
