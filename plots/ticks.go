package plots

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// ticks puts labelled ticks at multiples of 1, 2 or 5 times a power of ten, n or
// fewer but if possible two, with as many decimals as they need.
type ticks struct{ n int }

func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	if !(lo < hi) || !finite(hi-lo) {
		return nil
	}
	power := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(t.n))))
	step := power
	for _, m := range []float64{1, 2, 5, 10} {
		count := math.Floor(hi/(m*power)) - math.Ceil(lo/(m*power)) + 1
		if count < 2 && m > 1 {
			break
		}
		step = m * power
		if count <= float64(t.n) {
			break
		}
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	format, digits := byte('f'), decimals
	if decimals > 4 || max(math.Abs(lo), math.Abs(hi)) >= 1e6 {
		format, digits = 'g', 4
	}
	var out []plot.Tick
	for i := range 3 * t.n {
		v := (math.Ceil(lo/step) + float64(i)) * step
		if v > hi {
			break
		}
		label := strconv.FormatFloat(v, format, digits, 64)
		out = append(out, plot.Tick{Value: v, Label: strings.ReplaceAll(label, "-", "−")})
	}
	return out
}
