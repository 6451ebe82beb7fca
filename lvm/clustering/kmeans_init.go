package clustering

import (
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/internal/num"
)

// InitPlusPlus returns k rows of x as centres, spread out by k-means++: the
// first is any row, each further one is drawn with a probability that grows
// with the squared distance to the nearest centre so far,
//
//	p(i) = D_i² / Σ_j D_j²,   D_i = min_c ‖x_i − μ_c‖.
//
// It is the greedy version: of 2+⌊ln k⌋ rows drawn in this way it keeps the one
// that leaves the smallest Σ_j D_j².
//
// It panics if rng is nil; k < 1 and data that is not finite or has fewer than
// k distinct rows is a *lvm.DataError.
//
// Cost: O(n·k·d·log k) at worst; distances that the triangle inequality shows
// to be useless are skipped.
//
// Source: Arthur and Vassilvitskii (2007), k-means++: The advantages of
// careful seeding.
func InitPlusPlus(rng *rand.Rand, x mat.Matrix, k int) (*KMeans, error) {
	return initCenters("InitPlusPlus", rng, x, k, initPlusPlus)
}

// InitRandomRows returns k distinct rows of x, drawn at random, as centres.
//
// It panics if rng is nil; k < 1 and data that is not finite or has fewer than
// k distinct rows is a *lvm.DataError.
func InitRandomRows(rng *rand.Rand, x mat.Matrix, k int) (*KMeans, error) {
	return initCenters("InitRandomRows", rng, x, k, initRandomRows)
}

func initCenters(name string, rng *rand.Rand, x mat.Matrix, k int, init func(*rand.Rand, weighted, int) *mat.Dense) (*KMeans, error) {
	checkRand(name, rng)
	op := "clustering." + name
	if err := checkComponents(op, k); err != nil {
		return nil, err
	}
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return nil, err
	}
	if err := data.checkDistinct(op, k); err != nil {
		return nil, err
	}
	return &KMeans{Centers: init(rng, data, k)}, nil
}

// initRandomRows draws rows with a probability proportional to their weight,
// striking out the copies of each row that it takes.
func initRandomRows(rng *rand.Rand, data weighted, k int) *mat.Dense {
	centers := mat.NewDense(k, data.D, nil)
	mass := append([]float64(nil), data.w...)
	upTo := make([]float64, data.N) // Σ_{j≤i} mass
	for c := range k {
		var sum float64
		for i, m := range mass {
			sum += m
			upTo[i] = sum
		}
		u := rng.Float64() * sum
		taken := data.Row(sort.Search(data.N-1, func(i int) bool { return upTo[i] > u }))
		centers.SetRow(c, taken)
		for i := range mass {
			if mass[i] > 0 && equal(data.Row(i), taken) {
				mass[i] = 0
			}
		}
	}
	return centers
}

func equal(a, b []float64) bool {
	for j, v := range a {
		if v != b[j] {
			return false
		}
	}
	return true
}

// initPlusPlus is InitPlusPlus for weighted rows, where row i is drawn with a
// probability proportional to w_i D_i².
func initPlusPlus(rng *rand.Rand, data weighted, k int) *mat.Dense {
	s := newSeeding(data)
	centers := mat.NewDense(k, data.D, nil)
	for c := range k {
		row := 0
		if c == 0 {
			row = s.draw(rng)
		} else {
			row = s.drawBest(rng, 2+int(math.Log(float64(k))), c, centers)
		}
		centers.SetRow(c, data.Row(row))
		s.add(data.Row(row), c, centers)
	}
	return centers
}

// seeding is the state of k-means++.
type seeding struct {
	data   weighted
	blocks num.Blocks
	gap    []float64 // D², and 1 as long as there is no centre
	near   []int32   // the nearest centre
	parts  []float64 // Σ w D² of each block
	slack  float64   // covers the rounding of two squared distances
}

func newSeeding(data weighted) *seeding {
	s := &seeding{data: data, blocks: num.BlocksOf(data.N), gap: make([]float64, data.N), near: make([]int32, data.N)}
	s.parts = make([]float64, s.blocks.Count())
	s.slack = 1 + 4*float64(data.D+4)*0x1p-52
	for b := range s.parts {
		lo, hi := s.blocks.Range(b)
		for i := lo; i < hi; i++ {
			s.gap[i] = 1
			s.parts[b] += data.w[i]
		}
	}
	return s
}

// draw returns a row drawn with a probability proportional to w D².
func (s *seeding) draw(rng *rand.Rand) int {
	var sum float64
	for _, p := range s.parts {
		sum += p
	}
	u := rng.Float64() * sum
	last := 0 // in case rounding carries u past the end
	for b, p := range s.parts {
		lo, hi := s.blocks.Range(b)
		if u >= p && b < len(s.parts)-1 {
			u -= p
			continue
		}
		for i := lo; i < hi; i++ {
			if m := s.data.w[i] * s.gap[i]; m > 0 {
				last = i
				if u -= m; u < 0 {
					return i
				}
			}
		}
	}
	return last
}

// add takes row x into account as centre c.
func (s *seeding) add(x []float64, c int, centers *mat.Dense) {
	reach := s.reach(x, c, centers)
	s.blocks.Each(func(_, b, lo, hi int) {
		s.parts[b] = 0
		for i := lo; i < hi; i++ {
			if c == 0 || s.gap[i] > reach[s.near[i]] {
				if d2 := num.SqDist(s.data.Row(i), x); c == 0 || d2 < s.gap[i] {
					s.gap[i], s.near[i] = d2, int32(c)
				}
			}
			s.parts[b] += s.data.w[i] * s.gap[i]
		}
	})
}

// reach returns, for each of the first c centres, the D² up to which its rows
// are nearer to it than to x: a quarter of the squared distance between the
// two, by the triangle inequality.
func (s *seeding) reach(x []float64, c int, centers *mat.Dense) []float64 {
	reach := make([]float64, c)
	for a := range reach {
		reach[a] = num.SqDist(x, centers.RawRowView(a)) / (4 * s.slack)
	}
	return reach
}

// drawBest draws several rows and returns the one that lowers Σ w D² most.
func (s *seeding) drawBest(rng *rand.Rand, draws, c int, centers *mat.Dense) int {
	rows := make([]int, draws)
	drawn := mat.NewDense(draws, s.data.D, nil)
	reach := make([]float64, c) // the least over the draws
	for t := range rows {
		rows[t] = s.draw(rng)
		drawn.SetRow(t, s.data.Row(rows[t]))
		for a, r := range s.reach(drawn.RawRowView(t), c, centers) {
			if t == 0 || r < reach[a] {
				reach[a] = r
			}
		}
	}
	candidates := num.RowsOf(drawn)
	gains := make([]float64, len(s.parts)*draws)
	s.blocks.Each(func(_, b, lo, hi int) {
		gain, d2 := gains[b*draws:(b+1)*draws], make([]float64, draws)
		for i := lo; i < hi; i++ {
			if s.gap[i] > reach[s.near[i]] {
				candidates.SqDists(d2, s.data.Row(i), 0)
				for t, v := range d2 {
					gain[t] += s.data.w[i] * max(0, s.gap[i]-v)
				}
			}
		}
	})
	best, most := rows[0], 0.0
	for t, r := range rows {
		var gain float64
		for b := range s.parts {
			gain += gains[b*draws+t]
		}
		if gain > most {
			best, most = r, gain
		}
	}
	return best
}
