package sampling

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzDiagnostics: whatever the draws, no diagnostic panics, effective
// sample sizes are positive and bounded, and R̂ is not below its least value.
func FuzzDiagnostics(f *testing.F) {
	f.Add([]byte{2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8}, uint8(2), false)
	f.Add([]byte("the same the same the same the same"), uint8(1), true)
	f.Fuzz(func(t *testing.T, data []byte, chains uint8, wide bool) {
		var x []float64
		for len(data) > 0 {
			if wide { // any float64
				if len(data) < 8 {
					break
				}
				x, data = append(x, math.Float64frombits(binary.LittleEndian.Uint64(data))), data[8:]
			} else { // small integers, many of them equal
				x, data = append(x, float64(int8(data[0]))), data[1:]
			}
		}
		m := int(chains)%5 + 1
		n := len(x) / m
		draws := make([][]float64, m)
		for c := range draws {
			draws[c] = x[c*n : (c+1)*n]
		}
		row := Summarise(nil, [][][]float64{draws}).Rows[0]
		s := float64(m * n)
		for _, ess := range []float64{row.ESSBulk, row.ESSTail, ESSMean(draws), ESSSD(draws), ESSQuantile(draws, 0.5)} {
			if ess <= 0 || ess > s*math.Log10(s)*(1+1e-9) {
				t.Errorf("effective sample size %v of %v draws", ess, s)
			}
		}
		if h := float64(n / 2); row.RHat < math.Sqrt((h-1)/h)*(1-1e-9) {
			t.Errorf("R̂ = %v", row.RHat)
		}
		if row.MCSE < 0 || row.Q5 > row.Median || row.Median > row.Q95 || MCSEQuantile(draws, 0.9) < 0 {
			t.Errorf("summary %+v", row)
		}
		Geweke(draws[0], 0.1, 0.5)
		Autocorrelation(draws[0], 5)
		Ranks(draws)
	})
}
