package clustering

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/latent-lessons/latent/lvm"
)

// CRP is the Chinese restaurant process, a distribution of the partitions of
// n rows. Guests come in one by one. With N of them seated, N_k at table k,
//
//	the next one sits down at table k   with probability N_k/(α+N)
//	                    at a new table  with probability α/(α+N)
//
// so that a partition into K tables has the probability
//
//	p(z) = α^K Π_k (N_k − 1)! · Γ(α)/Γ(α+n)
//
// whatever the order in which the guests came: they are exchangeable. It is
// the partition by equal values of draws from a [DP].
//
// Its methods panic with a *lvm.DataError unless α is positive and finite.
//
// Source: Aldous (1985), Exchangeability and related topics, §11; Pilikos,
// Unsupervised Learning, §2.3, which prints N_k and 1/(α+N) for the two
// probabilities; they do not sum to one.
type CRP struct {
	Alpha float64 // α, the concentration
}

// Sample seats n guests and returns the table of each. Tables are numbered in
// the order in which they are opened. It panics if rng is nil or n is negative.
//
// Cost: O(n): not to open a table is to join the table of a guest drawn at random.
func (c CRP) Sample(rng *rand.Rand, n int) []int {
	c.check("CRP.Sample", n)
	checkRand("CRP.Sample", rng)
	z, tables := make([]int, n), 0
	for i := range z {
		if rng.Float64()*(c.Alpha+float64(i)) < c.Alpha {
			z[i] = tables
			tables++
		} else {
			z[i] = z[rng.IntN(i)]
		}
	}
	return z
}

// Predictive returns the probabilities of what the next guest does, given how
// many sit at each table: one for every table, and last that of a new one.
func (c CRP) Predictive(sizes []int) []float64 {
	n := 0
	for _, s := range sizes {
		n += s
	}
	c.check("CRP.Predictive", n)
	p := make([]float64, len(sizes)+1)
	for k, s := range sizes {
		p[k] = float64(s) / (c.Alpha + float64(n))
	}
	p[len(sizes)] = c.Alpha / (c.Alpha + float64(n))
	return p
}

// LogProb returns ln p(z) of the partition into rows of equal labels, whatever
// the labels are.
func (c CRP) LogProb(z []int) float64 {
	c.check("CRP.LogProb", len(z))
	return c.logProb(sizesOf(z))
}

// logProb is LogProb given how many sit at each table. Tables may be empty.
func (c CRP) logProb(sizes []int) float64 {
	l, n := lgamma(c.Alpha), 0
	for _, m := range sizes {
		n += m
		if m > 0 {
			l += math.Log(c.Alpha) + lgamma(float64(m))
		}
	}
	return l - lgamma(c.Alpha+float64(n))
}

// TablesMean returns the expected number of tables of n guests,
// Σ_{i=1}^n α/(α+i−1) ≈ α ln(1 + n/α).
func (c CRP) TablesMean(n int) float64 {
	c.check("CRP.TablesMean", n)
	var m float64
	for i := range n {
		m += c.Alpha / (c.Alpha + float64(i))
	}
	return m
}

// TablesVar returns the variance of the number of tables of n guests,
// Σ_{i=1}^n α(i−1)/(α+i−1)²: each opens one independently of the others.
func (c CRP) TablesVar(n int) float64 {
	c.check("CRP.TablesVar", n)
	var v float64
	for i := range n {
		p := c.Alpha / (c.Alpha + float64(i))
		v += p * (1 - p)
	}
	return v
}

// TablesProb returns the distribution of the number of tables of n guests:
// element K is p(K), for K = 0 … n.
//
// Source: Antoniak (1974), Mixtures of Dirichlet processes, where
// p(K) = |s(n, K)| α^K Γ(α)/Γ(α+n) with Stirling numbers of the first kind.
// Here one guest is seated after the other, which needs no large numbers.
// Cost: O(n²).
func (c CRP) TablesProb(n int) []float64 {
	c.check("CRP.TablesProb", n)
	p := make([]float64, n+1)
	p[0] = 1
	for i := range n {
		open := c.Alpha / (c.Alpha + float64(i))
		for k := i + 1; k > 0; k-- {
			p[k] = p[k]*(1-open) + p[k-1]*open
		}
		p[0] *= 1 - open
	}
	return p
}

func (c CRP) check(name string, n int) {
	op := "clustering: " + name
	if n < 0 {
		panic(fmt.Sprintf("%s with n = %d", op, n))
	}
	if err := checkAlpha(op, c.Alpha); err != nil {
		panic(err)
	}
}

func checkAlpha(op string, alpha float64) error {
	if err := checkPositive(op, "concentration α", alpha); err != nil {
		err.(*lvm.DataError).Try = "a positive number; α ln(1+n/α) is about the number of clusters to expect among n rows"
		return err
	}
	return nil
}
