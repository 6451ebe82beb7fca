package sampling

import "math"

// EnergyFraction returns the Bayesian fraction of missing information of one
// chain of HMC or NUTS,
//
//	E-BFMI = Σ_i (E_i − E_{i−1})² / Σ_i (E_i − Ē)²
//
// from Info.Energy. Only the draw of the momentum changes the energy; if that
// changes little of its spread, with a fraction below about 0.3, the chain
// explores the tails slowly, and a change of variables is called for. It is
// NaN for fewer than two steps and for energies that do not vary.
//
// Betancourt 2016.
func EnergyFraction(infos []Info) float64 {
	if len(infos) < 2 {
		return math.NaN()
	}
	energies := make([]float64, len(infos))
	var jumps float64
	for i, info := range infos {
		energies[i] = info.Energy
		if i > 0 {
			d := energies[i] - energies[i-1]
			jumps += d * d
		}
	}
	spread := variance(energies) * float64(len(energies)-1)
	if !(spread > 0) {
		return math.NaN()
	}
	return jumps / spread
}
