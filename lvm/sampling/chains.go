package sampling

import "fmt"

// Extract returns f of every state, chains × draws, the form that the
// diagnostics take. Chains of different lengths, such as those of a run that
// was stopped, are cut to the shortest.
func Extract[S any](chains []*Chain[S], f func(s S) float64) [][]float64 {
	n := shortest(chains)
	draws := make([][]float64, len(chains))
	for c, chain := range chains {
		draws[c] = make([]float64, n)
		for i, s := range chain.States[:n] {
			draws[c][i] = f(s)
		}
	}
	return draws
}

// Columns returns the coordinates of chains over vectors, coordinates ×
// chains × draws, cut to the shortest chain.
func Columns(chains []*Chain[[]float64]) [][][]float64 {
	n := shortest(chains)
	if n == 0 {
		return nil
	}
	d := len(chains[0].States[0])
	columns := make([][][]float64, d)
	block := make([]float64, d*len(chains)*n)
	for j := range columns {
		columns[j] = make([][]float64, len(chains))
		for c := range chains {
			columns[j][c], block = block[:n:n], block[n:]
		}
	}
	for c, chain := range chains {
		for i, s := range chain.States[:n] {
			if len(s) != d {
				panic(fmt.Sprintf("sampling: state %d of chain %d has %d coordinates, the first has %d", i, c, len(s), d))
			}
			for j, v := range s {
				columns[j][c][i] = v
			}
		}
	}
	return columns
}

// Map returns the chain of f of every state, for instance that of the
// parameters from a chain over parameters and latent variables.
func Map[S, T any](chain *Chain[S], f func(s S) T) *Chain[T] {
	m := &Chain[T]{
		States: make([]T, len(chain.States)), Infos: chain.Infos,
		Steps: chain.Steps, Acceptance: chain.Acceptance, Evaluations: chain.Evaluations,
		Divergences: chain.Divergences, Invalid: chain.Invalid,
	}
	for i, s := range chain.States {
		m.States[i] = f(s)
	}
	return m
}

// Problems returns a sentence for each thing that the kernels reported and
// that casts doubt on the draws: divergences, log densities that were not a
// number, and energies that hardly change (see [EnergyFraction]). The draws
// themselves are judged by [Summary.Problems].
func Problems[S any](chains []*Chain[S]) []string {
	var problems []string
	for i, c := range chains {
		if c.Divergences > 0 {
			problems = append(problems, fmt.Sprintf("chain %d: %d of %d trajectories diverged; try a Target nearer to 1, or a change of variables", i, c.Divergences, c.Steps))
		}
		if c.Invalid > 0 {
			problems = append(problems, fmt.Sprintf("chain %d: the log density was NaN in %d of %d steps; try returning −Inf outside the support", i, c.Invalid, c.Steps))
		}
		if f := EnergyFraction(c.Infos); f < 0.3 {
			problems = append(problems, fmt.Sprintf("chain %d: the energy fraction is %.2f, below 0.3; try a change of variables that tames the tails", i, f))
		}
	}
	return problems
}

func shortest[S any](chains []*Chain[S]) int {
	if len(chains) == 0 {
		return 0
	}
	n := len(chains[0].States)
	for _, c := range chains[1:] {
		n = min(n, len(c.States))
	}
	return n
}
