package sampling

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// PageRankOptions are the settings of [PageRank].
type PageRankOptions struct {
	// Damping is the probability δ of following a link. 0 means 0.85.
	Damping float64

	// Teleport is where the surfer goes who does not follow a link, in
	// proportion. nil means all pages alike.
	Teleport []float64

	PowerOptions
}

// PageRank ranks pages by how often a random surfer is on them, who follows a
// random link of the page with probability δ and otherwise jumps,
//
//	r_j = δ Σ_{i→j} r_i/links(i) + (δ Σ_{i without links} r_i + 1 − δ) v_j
//
// with v the distribution of the jumps, also taken from pages without links.
// The jumps make the chain ergodic, and its mixing rate is at most δ.
// links[i] are the pages that page i links to; a link given twice counts
// twice. A link to a page that does not exist, and a Teleport that is no
// distribution, give a *lvm.DataError with the page as its row.
//
// Cost: O(pages + links) per step, about log(Tol)/log(δ) steps.
//
// Page et al. 1999; notes 000, §5.4.
func PageRank(links [][]int, opts *PageRankOptions) ([]float64, lvm.Trace, error) {
	var o PageRankOptions
	if opts != nil {
		o = *opts
	}
	damping, jump, err := surf(links, o.Damping, o.Teleport)
	if err != nil {
		return nil, lvm.Trace{}, err
	}
	advance := func(next, p []float64) {
		var lost float64 // mass that follows no link
		clear(next)
		for i, to := range links {
			if len(to) == 0 {
				lost += p[i]
				continue
			}
			lost += (1 - damping) * p[i]
			share := damping * p[i] / float64(len(to))
			for _, j := range to {
				next[j] += share
			}
		}
		for j, v := range jump {
			next[j] += lost * v
		}
	}
	rank, trace := powerIteration(jump, o.PowerOptions.or(), advance)
	return rank, trace, nil
}

// Surfer returns the chain of the random surfer of [PageRank] with jumps to
// all pages alike, as a dense matrix: for small webs, to look at. Damping 0
// means 0.85.
func Surfer(links [][]int, damping float64) (*MarkovChain, error) {
	damping, jump, err := surf(links, damping, nil)
	if err != nil {
		return nil, err
	}
	n := len(links)
	t := mat.NewDense(n, n, nil)
	for i, to := range links {
		row := t.RawRowView(i)
		follow := damping
		if len(to) == 0 {
			follow = 0
		}
		for j, v := range jump {
			row[j] = (1 - follow) * v
		}
		for _, j := range to {
			row[j] += follow / float64(len(to))
		}
	}
	return NewMarkovChain(t)
}

// surf checks the web and returns the damping and the distribution of jumps.
func surf(links [][]int, damping float64, teleport []float64) (float64, []float64, error) {
	const op = "sampling.PageRank"
	n := len(links)
	if damping == 0 {
		damping = 0.85
	}
	if !(damping > 0 && damping < 1) {
		panic(fmt.Sprintf("sampling: PageRank with damping %v; it must be between 0 and 1", damping))
	}
	if n == 0 {
		return 0, nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "there are no pages", Try: "at least one"}
	}
	for i, to := range links {
		for k, j := range to {
			if j < 0 || j >= n {
				return 0, nil, &lvm.DataError{Op: op, Row: i, Col: k, Problem: fmt.Sprintf("the link to page %d leads nowhere among %d pages", j, n), Try: "pages numbered from 0"}
			}
		}
	}
	jump := make([]float64, n)
	for i := range jump {
		jump[i] = 1 / float64(n)
	}
	if teleport == nil {
		return damping, jump, nil
	}
	if len(teleport) != n {
		return 0, nil, &lvm.ShapeError{Op: op, What: "entries of Teleport", Got: len(teleport), Want: n}
	}
	if err := checkMasses(op, teleport); err != nil {
		return 0, nil, err
	}
	var sum float64
	for _, v := range teleport {
		sum += v
	}
	if math.IsInf(sum, 1) {
		return 0, nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: "the sum of Teleport overflows", Try: "smaller weights"}
	}
	for i, v := range teleport {
		jump[i] = v / sum
	}
	return damping, jump, nil
}
