package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// InverseCDF draws x = h⁻¹(u), u uniform on (0, 1), where quantile is the
// inverse h⁻¹ of the distribution function,
//
//	h(x) = ∫_{−∞}^x p(x') dx' = u  ⇒  x ~ p
//
// u is an odd multiple of 2⁻⁵³, so it is never 0 or 1 and the quantile is
// finite. Any quantile function will do, those of gonum's distuv too.
//
// Notes 000, (5.6)–(5.7); notes 002, (11.6), whose right side must be the
// integral of p up to x.
func InverseCDF(rng *rand.Rand, quantile func(u float64) float64) float64 {
	return quantile(openUniform(rng))
}

// openUniform draws from the open interval (0, 1), symmetric about ½.
func openUniform(rng *rand.Rand) float64 {
	return float64(rng.Uint64()>>12<<1|1) * 0x1p-53
}

// Exponential is the waiting time between events that come at a rate γ,
//
//	p(x) = γ exp(−γx), x ≥ 0;  h(x) = 1 − exp(−γx);  h⁻¹(u) = −ln(1−u)/γ
//
// with mean 1/γ and variance 1/γ². Notes 000, (5.8)–(5.11).
type Exponential struct{ Rate float64 } // γ > 0

// LogProb returns log p(x).
func (e Exponential) LogProb(x float64) float64 {
	e.check()
	if x < 0 {
		return math.Inf(-1)
	}
	return math.Log(e.Rate) - e.Rate*x
}

// CDF returns h(x).
func (e Exponential) CDF(x float64) float64 {
	e.check()
	return -math.Expm1(-e.Rate * max(x, 0))
}

// Quantile returns h⁻¹(u). It panics unless 0 ≤ u ≤ 1.
func (e Exponential) Quantile(u float64) float64 {
	e.check()
	checkProbability("Exponential", u)
	return -math.Log1p(-u) / e.Rate
}

// Draw draws by the inverse of the distribution function.
func (e Exponential) Draw(rng *rand.Rand) float64 { return InverseCDF(rng, e.Quantile) }

func (e Exponential) check() { checkPositive("Exponential.Rate", e.Rate) }

// Cauchy is the distribution of the ratio of two standard normal variables,
//
//	p(x) = 1/(πs (1 + t²)),  t = (x − m)/s;  h(x) = ½ + arctan(t)/π
//	h⁻¹(u) = m + s tan(π(u − ½))
//
// It has no mean. Notes 003, §10, has it as a sparse prior.
type Cauchy struct {
	Location float64 // m, the median
	Scale    float64 // s > 0, half the distance of the quartiles
}

// LogProb returns log p(x).
func (c Cauchy) LogProb(x float64) float64 {
	c.check()
	t := (x - c.Location) / c.Scale
	if math.Abs(t) > 1e100 { // t² would overflow
		return -math.Log(math.Pi*c.Scale) - 2*math.Log(math.Abs(t))
	}
	return -math.Log(math.Pi*c.Scale) - math.Log1p(t*t)
}

// CDF returns h(x).
func (c Cauchy) CDF(x float64) float64 {
	c.check()
	return math.Atan2(1, (c.Location-x)/c.Scale) / math.Pi // ½ + arctan(t)/π without its cancellation
}

// Quantile returns h⁻¹(u). It panics unless 0 ≤ u ≤ 1.
func (c Cauchy) Quantile(u float64) float64 {
	c.check()
	checkProbability("Cauchy", u)
	// tan(π(u−½)) = −cot(πu); in the tails the difference would lose digits.
	var t float64
	switch {
	case u < 0.25:
		t = -1 / math.Tan(math.Pi*u)
	case u > 0.75:
		t = 1 / math.Tan(math.Pi*(1-u))
	default:
		t = math.Tan(math.Pi * (u - 0.5))
	}
	return c.Location + c.Scale*t
}

// Draw draws by the inverse of the distribution function.
func (c Cauchy) Draw(rng *rand.Rand) float64 { return InverseCDF(rng, c.Quantile) }

func (c Cauchy) check() { checkPositive("Cauchy.Scale", c.Scale) }

// Laplace is an exponential distribution on either side of its mean,
//
//	p(x) = exp(−|t|)/2b,  t = (x − m)/b
//	h⁻¹(u) = m + b ln(2u) below the median, m − b ln(2(1−u)) above
//
// with variance 2b².
type Laplace struct {
	Location float64 // m, mean and median
	Scale    float64 // b > 0
}

// LogProb returns log p(x).
func (l Laplace) LogProb(x float64) float64 {
	l.check()
	return -math.Log(2*l.Scale) - math.Abs(x-l.Location)/l.Scale
}

// CDF returns h(x).
func (l Laplace) CDF(x float64) float64 {
	l.check()
	t := (x - l.Location) / l.Scale
	if t < 0 {
		return 0.5 * math.Exp(t)
	}
	return 1 - 0.5*math.Exp(-t)
}

// Quantile returns h⁻¹(u). It panics unless 0 ≤ u ≤ 1.
func (l Laplace) Quantile(u float64) float64 {
	l.check()
	checkProbability("Laplace", u)
	if u < 0.5 {
		return l.Location + l.Scale*math.Log(2*u)
	}
	return l.Location - l.Scale*math.Log(2*(1-u))
}

// Draw draws by the inverse of the distribution function.
func (l Laplace) Draw(rng *rand.Rand) float64 { return InverseCDF(rng, l.Quantile) }

func (l Laplace) check() { checkPositive("Laplace.Scale", l.Scale) }

// Logistic is the distribution whose distribution function is the sigmoid,
//
//	h(x) = 1/(1 + exp(−t)),  t = (x − m)/s;  p(x) = h (1 − h)/s
//	h⁻¹(u) = m + s ln(u/(1−u))
//
// with variance π²s²/3.
type Logistic struct {
	Location float64 // m, mean and median
	Scale    float64 // s > 0
}

// LogProb returns log p(x).
func (l Logistic) LogProb(x float64) float64 {
	l.check()
	t := math.Abs(x-l.Location) / l.Scale // p is symmetric
	return -math.Log(l.Scale) - t - 2*math.Log1p(math.Exp(-t))
}

// CDF returns h(x).
func (l Logistic) CDF(x float64) float64 {
	l.check()
	return sigmoid((x - l.Location) / l.Scale)
}

// Quantile returns h⁻¹(u). It panics unless 0 ≤ u ≤ 1.
func (l Logistic) Quantile(u float64) float64 {
	l.check()
	checkProbability("Logistic", u)
	return l.Location + l.Scale*(math.Log(u)-math.Log1p(-u))
}

// Draw draws by the inverse of the distribution function.
func (l Logistic) Draw(rng *rand.Rand) float64 { return InverseCDF(rng, l.Quantile) }

func (l Logistic) check() { checkPositive("Logistic.Scale", l.Scale) }

// Triangular rises linearly from Lower to Mode and falls to Upper. With
// width w = b − a, below and above the mode c,
//
//	p(x) = 2(x−a)/(w(c−a)),       2(b−x)/(w(b−c))
//	h⁻¹(u) = a + √(u w(c−a)),     b − √((1−u) w(b−c))
type Triangular struct{ Lower, Mode, Upper float64 } // a ≤ c ≤ b, a < b

// LogProb returns log p(x).
func (t Triangular) LogProb(x float64) float64 {
	t.check()
	w := t.Upper - t.Lower
	switch {
	case x < t.Lower || x > t.Upper:
		return math.Inf(-1)
	case x < t.Mode:
		return math.Log(2 * (x - t.Lower) / (w * (t.Mode - t.Lower)))
	case x > t.Mode:
		return math.Log(2 * (t.Upper - x) / (w * (t.Upper - t.Mode)))
	}
	return math.Log(2 / w)
}

// CDF returns h(x).
func (t Triangular) CDF(x float64) float64 {
	t.check()
	w := t.Upper - t.Lower
	switch {
	case x <= t.Lower:
		return 0
	case x >= t.Upper:
		return 1
	case x <= t.Mode:
		return (x - t.Lower) * (x - t.Lower) / (w * (t.Mode - t.Lower))
	}
	return 1 - (t.Upper-x)*(t.Upper-x)/(w*(t.Upper-t.Mode))
}

// Quantile returns h⁻¹(u). It panics unless 0 ≤ u ≤ 1.
func (t Triangular) Quantile(u float64) float64 {
	t.check()
	checkProbability("Triangular", u)
	w, rise := t.Upper-t.Lower, t.Mode-t.Lower
	if u*w < rise {
		return t.Lower + math.Sqrt(u*w*rise)
	}
	return t.Upper - math.Sqrt((1-u)*w*(t.Upper-t.Mode))
}

// Draw draws by the inverse of the distribution function.
func (t Triangular) Draw(rng *rand.Rand) float64 { return InverseCDF(rng, t.Quantile) }

func (t Triangular) check() {
	if !(t.Lower <= t.Mode && t.Mode <= t.Upper && t.Lower < t.Upper) {
		panic(fmt.Sprintf("sampling: %+v: Lower ≤ Mode ≤ Upper and Lower < Upper must hold", t))
	}
}

func checkPositive(what string, v float64) {
	if !(v > 0 && v <= math.MaxFloat64) {
		panic(fmt.Sprintf("sampling: %s is %v; it must be positive and finite", what, v))
	}
}

func checkProbability(what string, u float64) {
	if !(u >= 0 && u <= 1) {
		panic(fmt.Sprintf("sampling: %s.Quantile of %v", what, u))
	}
}
