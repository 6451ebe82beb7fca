package sampling

import (
	"cmp"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"gonum.org/v1/gonum/mat"
)

// Classes returns the communicating classes: states that can be reached from
// each other, in some number of steps. The states of a class ascend, and so
// do the classes by their first state.
func (c *MarkovChain) Classes() [][]int {
	n := c.must()
	g := simple.NewDirectedGraph()
	for i := range n {
		g.AddNode(simple.Node(i))
	}
	for i := range n {
		for j, p := range c.Transition.RawRowView(i) {
			if p > 0 && i != j {
				g.SetEdge(g.NewEdge(simple.Node(i), simple.Node(j)))
			}
		}
	}
	var classes [][]int
	for _, component := range topo.TarjanSCC(g) {
		class := make([]int, len(component))
		for i, node := range component {
			class[i] = int(node.ID())
		}
		slices.Sort(class)
		classes = append(classes, class)
	}
	slices.SortFunc(classes, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return classes
}

// Irreducible says whether every state can be reached from every other.
func (c *MarkovChain) Irreducible() bool { return len(c.Classes()) == 1 }

// Closed returns the classes that the chain cannot leave. There is always
// one; if there are several, where the chain ends depends on its start.
func (c *MarkovChain) Closed() [][]int {
	var closed [][]int
	for _, class := range c.Classes() {
		inside := c.members(class)
		if !slices.ContainsFunc(class, func(i int) bool {
			for j, p := range c.Transition.RawRowView(i) {
				if p > 0 && !inside[j] {
					return true
				}
			}
			return false
		}) {
			closed = append(closed, class)
		}
	}
	return closed
}

// members says of each state whether it is in the class.
func (c *MarkovChain) members(class []int) []bool {
	inside := make([]bool, c.must())
	for _, i := range class {
		inside[i] = true
	}
	return inside
}

// Period returns the greatest common divisor of the numbers of steps after
// which the chain can be back at a state; 0 if it cannot come back. It is
// the same for all states of a class.
func (c *MarkovChain) Period(state int) int {
	n := c.must()
	// Walk the graph breadth first from the state. Every edge i→j within the
	// class closes a cycle whose length is level i + 1 − level j, modulo the
	// period.
	classes := c.Classes()
	at := slices.IndexFunc(classes, func(class []int) bool { return slices.Contains(class, state) })
	if at < 0 {
		panic("sampling: MarkovChain.Period of a state that it does not have")
	}
	inside, level := c.members(classes[at]), make([]int, n)
	for i := range level {
		level[i] = -1
	}
	level[state] = 0
	period := 0
	for queue := []int{state}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		for j, p := range c.Transition.RawRowView(i) {
			if p == 0 || !inside[j] {
				continue
			}
			if level[j] < 0 {
				level[j] = level[i] + 1
				queue = append(queue, j)
			}
			period = gcd(period, level[i]+1-level[j])
		}
	}
	return period
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// Ergodic says whether the chain is irreducible with period 1: then, and
// only then, does it forget every start and converge to a distribution that
// gives all states some mass.
func (c *MarkovChain) Ergodic() bool { return c.Irreducible() && c.Period(0) == 1 }

// Flow returns the probability flow p_i T_ij from state i to state j, n×n.
func (c *MarkovChain) Flow(p []float64) *mat.Dense {
	c.mustDistribution("Flow", p)
	flow := mat.DenseCopyOf(c.Transition)
	for i, v := range p {
		row := flow.RawRowView(i)
		for j := range row {
			row[j] *= v
		}
	}
	return flow
}

// DetailedBalance returns the largest difference |p_i T_ij − p_j T_ji| of the
// flows between two states, and the states with i < j; zero if p is in
// detailed balance with the chain. That suffices for p to be invariant, but it
// is not necessary: an invariant p only needs the flows into and out of each
// state to be equal in sum, and the chain (5.23) of notes 000 flows in a circle.
func (c *MarkovChain) DetailedBalance(p []float64) (worst float64, i, j int) {
	flow := c.Flow(p)
	for a := range p {
		for b := a + 1; b < len(p); b++ {
			if d := flow.At(a, b) - flow.At(b, a); max(d, -d) > worst {
				worst, i, j = max(d, -d), a, b
			}
		}
	}
	return worst, i, j
}

// Eigenvalues returns the eigenvalues of the transition matrix, the largest
// in absolute value first; they are NaN if the iteration did not converge.
// One of them is 1.
//
// Cost: O(n³).
func (c *MarkovChain) Eigenvalues() []complex128 {
	n := c.must()
	values := slices.Repeat([]complex128{cmplx.NaN()}, n)
	var eigen mat.Eigen
	if eigen.Factorize(c.Transition, mat.EigenNone) {
		values = eigen.Values(nil)
	}
	slices.SortStableFunc(values, func(a, b complex128) int { return cmp.Compare(cmplx.Abs(b), cmplx.Abs(a)) })
	return values
}

// MixingRate returns |λ_2|, the second largest absolute value of an
// eigenvalue: the factor by which the distance to the invariant distribution
// shrinks per step in the long run. It is 1 for a chain that is not ergodic
// within its one closed class, and 0 for a single state.
func (c *MarkovChain) MixingRate() float64 {
	values := c.Eigenvalues()
	if len(values) == 1 {
		return 0
	}
	return cmplx.Abs(values[1])
}
