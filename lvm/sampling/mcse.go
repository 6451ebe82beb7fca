package sampling

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// MCSEMean returns the Monte Carlo standard error of the mean of draws,
// chains × draws of one quantity: sd/√ESSMean. It is NaN where [ESSMean] is.
func MCSEMean(draws [][]float64) float64 { return newAnalysis(draws).mcseMean() }

// MCSESD returns the Monte Carlo standard error of the standard deviation,
// by the delta method from that of the variance. It is NaN where [ESSMean]
// is.
func MCSESD(draws [][]float64) float64 {
	a := newAnalysis(draws)
	mean, _ := a.moments()
	ess := a.essOf(func(x float64) float64 { return (x - mean) * (x - mean) })
	var m2, m4 float64
	for _, x := range a.x {
		s := (x - mean) * (x - mean)
		m2, m4 = m2+s, m4+s*s
	}
	s := float64(len(a.x))
	m2, m4 = m2/s, m4/s
	return math.Sqrt((m4 - m2*m2) / ess / m2 / 4)
}

// MCSEQuantile returns the Monte Carlo standard error of the p-quantile: half
// the distance of the order statistics at the 16% and 84% points of the beta
// distribution of the rank of the quantile among ESSQuantile independent
// draws. It is NaN where [ESSQuantile] is, and panics unless 0 ≤ p ≤ 1.
func MCSEQuantile(draws [][]float64, p float64) float64 {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("sampling: MCSEQuantile of %v", p))
	}
	a := newAnalysis(draws)
	ess := a.essQuantile(p)
	if math.IsNaN(ess) {
		return ess
	}
	beta := distuv.Beta{Alpha: ess*p + 1, Beta: ess*(1-p) + 1}
	s := float64(len(a.x))
	lo := max(math.Floor(beta.Quantile(0.1586553)*s), 1)
	hi := min(math.Ceil(beta.Quantile(0.8413447)*s), s)
	return (a.sorted[int(hi)-1] - a.sorted[int(lo)-1]) / 2
}

func (a *analysis) mcseMean() float64 {
	_, sd := a.moments()
	return sd / math.Sqrt(a.essMean())
}

// moments returns the mean and the standard deviation of all draws, NaN
// where there are too few.
func (a *analysis) moments() (m, sd float64) {
	if len(a.x) == 0 {
		return math.NaN(), math.NaN()
	}
	m, sd = mean(a.x), math.Sqrt(variance(a.x))
	switch {
	case math.IsInf(slices.Max(a.x), 1) || math.IsInf(slices.Min(a.x), -1):
		m, sd = 0, math.NaN()
		for _, x := range a.x {
			m += x
		}
	case len(a.x) == 1:
		sd = math.NaN()
	}
	return m, sd
}
