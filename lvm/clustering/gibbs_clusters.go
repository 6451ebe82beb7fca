package clustering

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm/internal/kernels"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// ClusterPrior is the prior of the parameters of one cluster, conjugate to its
// rows, so that samplers can integrate the parameters out. [NIW] and
// [FixedVariance] are.
type ClusterPrior interface {
	// Check returns what is wrong with the prior for data with d columns: a
	// *lvm.ShapeError or a *lvm.DataError.
	Check(d int) error

	// LogMarginal returns ln p(x) of all rows of x in one cluster, its
	// parameters integrated out.
	LogMarginal(x mat.Matrix) float64

	// nextRow returns the density of the next row in a cluster with these.
	nextRow(x mat.Matrix) *StudentMixture

	// collapse prepares clusters of rows of the data.
	collapse(data gibbsData) clusters
}

// clusters are the posteriors of the parameters of the clusters of a sampler,
// each in its slot, as rows come and go.
type clusters interface {
	// grow makes room for so many slots.
	grow(slots int)
	// fit makes a slot the cluster of these rows.
	fit(slot int, rows []int)
	// add and remove move row i into the cluster and out of it.
	add(slot, i int)
	remove(slot, i int)
	// predict sets logp to ln p(x_i | the rows of the slot) for the rows of a
	// block, the lanes of which are kernels.RowLanes.
	predict(logp []float64, slot, block int)
	// predictOwn returns the same for row i, one of the cluster's two or more,
	// given its other rows. predict has been called for the slot and the
	// block of the row, and the cluster has not changed since. It is not ok
	// if row i matters so much to the cluster that taking it out of the
	// posterior would cost digits.
	predictOwn(slot, i int) (logp float64, ok bool)
	// marginal returns ln p(all rows of the slot).
	marginal(slot int) float64
}

// gibbsData is the data of a sampler, by rows and by blocks of columns.
type gibbsData struct {
	num.Rows
	columns []float64
}

func newGibbsData(rows num.Rows) gibbsData {
	const lanes = kernels.RowLanes
	d := gibbsData{Rows: rows, columns: make([]float64, padded(rows.N)*rows.D)}
	for i := range rows.N {
		at := i/lanes*lanes*rows.D + i%lanes
		for j, v := range rows.Row(i) {
			d.columns[at+j*lanes] = v
		}
	}
	return d
}

// block returns the rows of a block by columns.
func (d gibbsData) block(b int) []float64 {
	size := kernels.RowLanes * d.D
	return d.columns[b*size:][:size]
}

// niwClusters are clusters with means and covariances of their own.
type niwClusters struct {
	gibbsData
	kappa, nu float64
	mean0     []float64
	scale0    []float64 // Ψ, packed
	chol0     num.Cholesky

	// next holds, for clusters of N rows, the part of ln p(x | cluster) that
	// depends on N alone, and evidence the same for ln p(rows).
	next, evidence []float64

	size   []int
	mean   []float64 // m, slots × d
	factor []float64 // of Ψ, slots × packed
	logDet []float64 // ln |Ψ|
	square []float64 // the squared distances that predict found, slots × RowLanes

	v, scratch []float64
}

func (p NIW) collapse(data gibbsData) clusters {
	d, n := data.D, data.N
	c := &niwClusters{
		gibbsData: data, kappa: p.Kappa, nu: p.Nu, mean0: p.Mean,
		scale0: make([]float64, num.PackedLen(d)),
		next:   make([]float64, n+1), evidence: make([]float64, n+2),
		v: make([]float64, d), scratch: make([]float64, kernels.RowLanes*d),
	}
	for i := range d {
		for j := range i + 1 {
			c.scale0[num.PackedLen(i)+j] = p.Scale.At(i, j)
		}
	}
	c.chol0, _ = num.NewCholesky(p.Scale)
	c.evidence[0] = 0.5 * p.Nu * c.chol0.LogDet
	for m := range c.next {
		kappa, nu := p.Kappa+float64(m), p.Nu+float64(m)
		c.next[m] = lgamma((nu+1)/2) - lgamma((nu+1-float64(d))/2) +
			0.5*float64(d)*(math.Log(kappa/(kappa+1))-math.Log(math.Pi))
		c.evidence[m+1] = c.evidence[m] + c.next[m]
	}
	return c
}

func (p NIW) nextRow(x mat.Matrix) *StudentMixture { return p.Posterior(x).Predictive() }

func (c *niwClusters) grow(slots int) {
	for len(c.size) < slots {
		c.size, c.logDet = append(c.size, 0), append(c.logDet, 0)
		c.mean = append(c.mean, c.mean0...)
		c.factor = append(c.factor, c.scale0...)
		c.square = append(c.square, make([]float64, kernels.RowLanes)...)
	}
}

// at returns the mean and the factor of a slot.
func (c *niwClusters) at(slot int) (mean, factor []float64) {
	d, packed := c.D, len(c.scale0)
	return c.mean[slot*d:][:d], c.factor[slot*packed:][:packed]
}

func (c *niwClusters) fit(slot int, rows []int) {
	mean, a := c.at(slot)
	c.size[slot] = len(rows)
	if len(rows) == 0 {
		copy(mean, c.mean0)
		copy(a, c.chol0.L)
		c.logDet[slot] = c.chol0.LogDet
		return
	}
	n := float64(len(rows))
	clear(mean)
	for _, i := range rows {
		for j, v := range c.Row(i) {
			mean[j] += v
		}
	}
	for j := range mean {
		mean[j] /= n
	}
	copy(a, c.scale0)
	for _, i := range rows {
		c.scatter(a, c.Row(i), mean, 1)
	}
	c.scatter(a, c.mean0, mean, c.kappa*(n/(c.kappa+n)))
	for j := range mean {
		mean[j] += c.kappa / (c.kappa + n) * (c.mean0[j] - mean[j])
	}
	c.logDet[slot] = math.NaN() // of what is out of range; no density is a number then
	if factorPacked(a, c.D) {
		c.logDet[slot] = logDetPacked(a, c.D)
	}
}

// scatter adds w (x−m)(x−m)ᵀ to a packed matrix.
func (c *niwClusters) scatter(a, x, m []float64, w float64) {
	for j := range c.v {
		c.v[j] = x[j] - m[j]
	}
	for i, vi := range c.v {
		row := a[num.PackedLen(i):][:i+1]
		for j := range row {
			row[j] += w * vi * c.v[j]
		}
	}
}

func (c *niwClusters) add(slot, i int) {
	kappa := c.kappa + float64(c.size[slot])
	c.rotate(slot, i, math.Sqrt(kappa/(kappa+1)), 1/(kappa+1), +1)
}

func (c *niwClusters) remove(slot, i int) {
	kappa := c.kappa + float64(c.size[slot])
	c.rotate(slot, i, math.Sqrt(kappa/(kappa-1)), -1/(kappa-1), -1)
}

func (c *niwClusters) rotate(slot, i int, root, step float64, sign int) {
	mean, l := c.at(slot)
	for j, v := range c.Row(i) {
		v -= mean[j]
		c.v[j] = root * v
		mean[j] += step * v
	}
	rotatePacked(l, c.v, float64(sign))
	c.logDet[slot] = logDetPacked(l, c.D)
	c.size[slot] += sign
}

func (c *niwClusters) predict(logp []float64, slot, block int) {
	mean, l := c.at(slot)
	q := c.square[slot*kernels.RowLanes:][:kernels.RowLanes]
	kernels.WhitenedSquares(q, c.block(block), mean, l, c.scratch)
	kappa, nu := c.kappa+float64(c.size[slot]), c.nu+float64(c.size[slot])
	shrink := kappa / (kappa + 1)
	for b, v := range q {
		logp[b] = 1 + shrink*v
	}
	kernels.Log(logp, logp)
	base, slope := c.next[c.size[slot]]-0.5*c.logDet[slot], 0.5*(nu+1)
	for b, v := range logp {
		logp[b] = base - slope*v
	}
}

// With q the squared distance of x from the cluster that includes it, |Ψ|
// without x is |Ψ|(1−q), and that is all that the density needs.
func (c *niwClusters) predictOwn(slot, i int) (float64, bool) {
	n := c.size[slot]
	kappa, nu := c.kappa+float64(n), c.nu+float64(n)
	left := 1 - kappa/(kappa-1)*c.square[slot*kernels.RowLanes+i%kernels.RowLanes]
	if !(left > 1e-6) {
		return 0, false
	}
	return c.next[n-1] - 0.5*c.logDet[slot] + 0.5*(nu-1)*math.Log(left), true
}

func (c *niwClusters) marginal(slot int) float64 {
	n := c.size[slot]
	return c.evidence[n] - 0.5*(c.nu+float64(n))*c.logDet[slot]
}
