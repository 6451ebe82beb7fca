package kernels

import "math"

// solveSecular finds the roots λ of
//
//	f(λ) = 1/ρ + Σ_j w_j²/(d_j - λ)
//
// one between each two poles d_j and one beyond the last. A root is kept as its distance
// from the nearer pole, from which its distances from all poles follow without
// cancellation.
func (m *merger) solveSecular(rho float64) {
	k := len(m.poles)
	m.roots = make([]float64, k)
	m.delta = Of(k, k, make([]float64, k*k), k)
	squares := make([]float64, k)
	for j, w := range m.weights {
		squares[j] = w * w
	}
	parallel(ceilDiv(k, 16), func(task int) {
		for i := task * 16; i < min((task+1)*16, k); i++ {
			m.roots[i] = root(m.delta.row(i), m.poles, squares, 1/rho, i)
		}
	})
}

// root returns the root after pole i and sets delta[j] to poles[j] less the root.
//
// The steps are those of Li (1994), "the middle way": the terms of the poles on either
// side are replaced by a constant and one pole each, with the value and slope of f here,
// and the root of that is a root of a quadratic. A step that leaves the bracket, and
// every step after the twentieth, halves the bracket instead.
func root(delta, poles, squares []float64, inverse float64, i int) float64 {
	k := len(poles)
	s := secular{squares: squares, inverse: inverse, delta: delta}
	var origin float64
	var low, high float64    // bracket of λ - origin
	p := min(i, max(0, k-2)) // the two poles that the steps follow are p and p+1
	if i < k-1 {
		gap := poles[i+1] - poles[i]
		for j := range delta {
			delta[j] = (poles[j] - poles[i]) - float64(gap/2)
		}
		if s.evaluate(i); s.f >= 0 {
			origin, high = poles[i], gap/2
		} else {
			origin, low = poles[i+1], -gap/2
		}
	} else {
		total := 0.0
		for _, w2 := range squares {
			total += w2
		}
		origin, high = poles[i], total/inverse
	}
	at := low + (high-low)/2
	if k == 1 {
		at = high
	}
	for step := range 1200 { // halving from 1 to the smallest float64 takes 1075
		for j := range delta {
			delta[j] = (poles[j] - origin) - at
		}
		s.evaluate(i)
		if math.Abs(s.f) <= epsilon*(s.rounding+float64(math.Abs(at)*s.slope())) {
			break
		}
		if s.f < 0 {
			low = at
		} else {
			high = at
		}
		next := low + (high-low)/2
		if next == low || next == high {
			break
		}
		if k > 1 && step < 20 {
			if move := at + s.step(p, i == k-1); low < move && move < high {
				next = move
			}
		}
		at = next
	}
	return origin + at
}

// secular is f, in two parts: the poles up to the root and the poles beyond.
type secular struct {
	squares, delta []float64
	inverse        float64

	f              float64
	before, beyond float64 // slopes of the two parts
	rounding       float64 // bound of the error of f over ε
}

func (s *secular) slope() float64 { return s.before + s.beyond }

// evaluate sets f and its parts for the distances delta; poles up to i lie before the root.
// Each part is summed towards the root, small terms first.
func (s *secular) evaluate(i int) {
	psi, phi, bound := 0.0, 0.0, 0.0
	s.before, s.beyond = 0, 0
	for j, d := range s.delta[:i+1] {
		r := 1 / d
		t := float64(s.squares[j] * r)
		psi += t
		s.before += float64(t * r)
		bound -= psi
	}
	for j := len(s.delta) - 1; j > i; j-- {
		r := 1 / s.delta[j]
		t := float64(s.squares[j] * r)
		phi += t
		s.beyond += float64(t * r)
		bound += phi
	}
	s.f = s.inverse + psi + phi
	s.rounding = bound + float64(8*(phi-psi)) + float64(2*s.inverse)
}

// step returns the step to the root of the model with poles p and p+1.
func (s *secular) step(p int, last bool) float64 {
	d0, d1 := s.delta[p], s.delta[p+1]
	product := d0 * d1
	a := float64((d0+d1)*s.f) - float64(product*s.slope())
	b := product * s.f
	var c float64
	if last {
		// Both poles lie before the root: the far ones go with the first of the two.
		near := s.squares[p+1] / d1 / d1
		c = s.f - float64(d0*(s.before-near)) - float64(d1*near)
		c = math.Abs(c)
	} else {
		c = s.f - float64(d0*s.before) - float64(d1*s.beyond)
	}
	root := math.Sqrt(math.Abs(float64(a*a) - float64(4*b*c)))
	switch {
	case c == 0:
		return b / a
	case last && a >= 0:
		return (a + root) / (2 * c)
	case last:
		return 2 * b / (a - root)
	case a <= 0:
		return (a - root) / (2 * c)
	default:
		return 2 * b / (a + root)
	}
}
