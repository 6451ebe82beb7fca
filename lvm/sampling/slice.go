package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/latent-lessons/latent/lvm"
)

// Slice is the slice sampler, one coordinate after the other: it draws a
// height under the density and then a point at which the density is higher,
//
//	log y = log p̃(x) − e,  e ~ Exp(1);   x_j' ~ U{x_j : p̃(x) ≥ y}
//
// It finds the slice by an interval of width w placed at random about x_j,
// stepped out by w until both ends are outside, and shrunk towards x_j with
// every point drawn outside. A width that is far off costs evaluations, the
// logarithm of the ratio if it is too large, the ratio if it is too small,
// and there is no rejection.
//
// What the log density may return is as for [Metropolis].
//
// Cost per step: O(d) log densities; it allocates nothing after the first.
//
// Neal 2003, §4, Figures 3 and 5.
type Slice struct {
	// LogDensity returns log p̃(x), up to a constant.
	LogDensity func(x []float64) float64

	// Width is w, about the standard deviation of a coordinate. 0 means 1.
	Width float64

	// Widths, if not nil, are the widths of each coordinate instead.
	Widths []float64

	// MaxSteps bounds the widths of an interval stepped out, both sides
	// together. 0 means 100.
	MaxSteps int

	buf  [2][]float64
	memo memo
}

// maxShrink bounds the points drawn on a slice: more than enough to shrink
// an interval until it holds no other number than x itself.
const maxShrink = 3000

// Step redraws every coordinate once.
func (k *Slice) Step(rng *rand.Rand, x []float64) ([]float64, Info) {
	const op = "sampling.Slice"
	info := Info{LogDensity: math.NaN(), Acceptance: 1}
	if len(x) == 0 {
		info.Err = &lvm.ShapeError{Op: op, What: "length of the state", Got: 0, Want: 1}
		return x, info
	}
	if k.Widths != nil && len(k.Widths) != len(x) {
		info.Err = &lvm.ShapeError{Op: op, What: "widths", Got: len(k.Widths), Want: len(x)}
		return x, info
	}
	logp, evals := k.memo.at(k.LogDensity, x)
	info.LogDensity, info.Evaluations = logp, evals
	if info.Err = checkDensity(op, x, logp); info.Err != nil {
		return x, info
	}
	y := nextBuffer(&k.buf, x)
	for j := range y {
		w := k.Width
		if k.Widths != nil {
			w = k.Widths[j]
		}
		if w == 0 {
			w = 1
		}
		if w < 0 || w-w != 0 || k.MaxSteps < 0 {
			panic(fmt.Sprintf("sampling: Slice with width %v and at most %d steps", w, k.MaxSteps))
		}
		logp = k.coordinate(rng, y, j, logp, w, &info)
		if info.Err != nil {
			return x, info
		}
	}
	k.memo.set(y, logp)
	info.LogDensity = logp
	return y, info
}

// coordinate redraws y[j], given log p̃(y), and returns log p̃ of the new y.
func (k *Slice) coordinate(rng *rand.Rand, y []float64, j int, logp, w float64, info *Info) float64 {
	x := y[j]
	height := logp - rng.ExpFloat64()
	at := func(v float64) float64 {
		y[j] = v
		l := k.LogDensity(y)
		info.Evaluations++
		if math.IsNaN(l) {
			info.Invalid = true
		}
		return l
	}

	steps := k.MaxSteps
	if steps == 0 {
		steps = 100
	}
	lo := x - w*rng.Float64()
	hi := lo + w
	left := rng.IntN(steps)
	right := steps - 1 - left
	for ; left > 0 && at(lo) >= height; left-- {
		lo -= w
	}
	for ; right > 0 && at(hi) >= height; right-- {
		hi += w
	}

	for range maxShrink {
		v := lo + rng.Float64()*(hi-lo)
		l := at(v)
		if math.IsInf(l, 1) {
			info.Err = checkDensity("sampling.Slice", y, l)
			return logp
		}
		if l >= height {
			info.Accepted = info.Accepted || v != x
			return l
		}
		if v < x {
			lo = v
		} else {
			hi = v
		}
	}
	y[j] = x // the log density changes its mind about x
	info.Invalid = true
	return logp
}
