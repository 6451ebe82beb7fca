package clustering

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/kernels"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// gaussian is ln π_k N(x | μ_k, Σ_k) made ready for many rows.
type gaussian struct {
	bias  float64   // ln π − ½ (d ln 2π + ln |Σ|)
	mean  []float64 // μ
	chol  num.Cholesky
	scale []float64 // 1/σ_j, instead of chol if Σ is diagonal
	df    float64   // degrees of freedom of a Student-t with that scale; 0: Gaussian
	noise float64   // see noise
}

// densities checks m and prepares its components.
func (m *GMM) densities(op string) ([]gaussian, error) {
	if err := m.check(op); err != nil {
		return nil, err
	}
	gs := make([]gaussian, len(m.Weights))
	for k := range gs {
		if k > 0 && m.Shape == Tied {
			gs[k] = gs[0]
		} else if !gs[k].factor(m.Covs[k], m.Shape) {
			return nil, notPositive(op, k, m.Floor != nil)
		}
		gs[k].mean = m.Means.RawRowView(k)
		gs[k].noise = noise(gs[k].mean, m.Covs[k], gs[k].chol.Cond, m.Floor != nil)
	}
	for k, w := range m.Weights {
		gs[k].bias += math.Log(w)
	}
	return gs, nil
}

// factor prepares Σ, and reports whether it is positive definite.
func (g *gaussian) factor(cov *mat.SymDense, shape Shape) bool {
	d := cov.SymmetricDim()
	var logDet float64
	if shape == Full || shape == Tied {
		var ok bool
		if g.chol, ok = num.NewCholesky(cov); !ok {
			return false
		}
		logDet = g.chol.LogDet
	} else {
		g.scale = make([]float64, d)
		for j := range g.scale {
			v := cov.At(j, j)
			if !(v > 0) || math.IsInf(v, 1) {
				return false
			}
			g.scale[j] = 1 / math.Sqrt(v)
			logDet += math.Log(v)
		}
	}
	g.bias = -0.5 * (float64(d)*math.Log(2*math.Pi) + logDet)
	return true
}

// noise returns how far rounding the mean and the covariance may move the log
// density of a row, on average over the rows of the component.
//
// With condition κ, rounding Σ moves a log density by a few d·u·κ, u = 2⁻⁵³, and
// rounding μ moves whitened rows by d·u·√κ·max_j |μ_j|/σ_j. The M step is at a maximum,
// so the effect is of second order, except for a Σ that is held up by a floor.
func noise(mean []float64, cov *mat.SymDense, cond float64, floor bool) float64 {
	du := float64(len(mean)) * 0x1p-53
	cond = max(cond, 1)
	var far float64
	for j, v := range mean {
		far = max(far, math.Abs(v)/math.Sqrt(cov.At(j, j)))
	}
	move := 4 * du * (cond + math.Sqrt(cond)*far)
	if floor {
		return move*move + 4*du*cond
	}
	return move * move
}

// squares sets q to the squared distances (x−μ)ᵀ Σ⁻¹ (x−μ) of rows stored by columns,
// or to what takes their place in a Student-t.
func (g *gaussian) squares(q, x, scratch []float64) {
	if g.scale != nil {
		kernels.ScaledSquares(q, x, g.mean, g.scale)
	} else {
		kernels.WhitenedSquares(q, x, g.mean, g.chol.L, scratch)
	}
	if g.df > 0 {
		for b, v := range q {
			q[b] = (g.df + float64(len(g.mean))) * math.Log1p(v/g.df)
		}
	}
}

// eStep computes responsibilities for a chunk of rows at a time, which is small
// enough to stay in the cache with all that belongs to it. Chunks are stored by
// columns and padded to a multiple of kernels.RowLanes with copies of the last row.
type eStep struct {
	gs      []gaussian
	size    int       // rows of a full chunk
	n, lo   int       // rows of the chunk in hand, padded, and its first row
	x       []float64 // n×d by columns: the rows
	post    []float64 // n×k by columns: p(z=k | x)
	logProb []float64 // ln p(x) of the rows, without the padding
	scratch []float64
}

func newEStep(gs []gaussian, rows int) *eStep {
	k, d := len(gs), len(gs[0].mean)
	size := padded(min(rows, max(kernels.RowLanes, min(128, 2048/d))))
	return &eStep{
		gs: gs, size: size,
		x: make([]float64, size*d), post: make([]float64, size*k), logProb: make([]float64, size),
		scratch: make([]float64, kernels.RowLanes*d),
	}
}

func padded(n int) int { return (n + kernels.RowLanes - 1) / kernels.RowLanes * kernels.RowLanes }

// run fills post and logProb for the rows from lo to hi. Where the log density is
// not a finite number, the posterior is not either.
func (e *eStep) run(rows num.Rows, lo, hi int) {
	e.load(rows, lo, hi)
	e.posterior()
}

// load brings in the rows from lo to hi.
func (e *eStep) load(rows num.Rows, lo, hi int) {
	n, d, k := padded(hi-lo), rows.D, len(e.gs)
	e.n, e.lo = n, lo
	e.x, e.post, e.logProb = e.x[:n*d], e.post[:n*k], e.logProb[:hi-lo]
	for b := 0; b < n; b += 4 {
		row := func(i int) []float64 { return rows.Row(min(lo+b+i, hi-1))[:d] }
		r0, r1, r2, r3 := row(0), row(1), row(2), row(3)
		for j, v := range r0 {
			to := e.x[j*n+b:][:4]
			to[0], to[1], to[2], to[3] = v, r1[j], r2[j], r3[j]
		}
	}
}

// joint sets post to ln p(x, z=k).
func (e *eStep) joint() {
	for c := range e.gs {
		post, bias := e.of(c), e.gs[c].bias
		e.gs[c].squares(post, e.x, e.scratch)
		for b, q := range post {
			post[b] = bias - 0.5*q
		}
	}
}

// posterior fills post and logProb.
func (e *eStep) posterior() {
	e.joint()
	kernels.LogSumExpRows(e.logProb[:e.n], kernels.Of(len(e.gs), e.n, e.post, e.n).T())
}

// of returns the posterior probabilities of component c.
func (e *eStep) of(c int) []float64 { return e.post[c*e.n:][:e.n] }

// mustPrepare returns the components, ready for many rows.
func (m *GMM) mustPrepare(op string) []gaussian {
	gs, err := m.densities(op)
	if err != nil {
		panic(err)
	}
	return gs
}

// eachChunk runs E steps over all rows of x and hands f every finished chunk
// with its block and first row.
func eachChunk(op string, gs []gaussian, x mat.Matrix, f func(block, lo int, e *eStep)) {
	rows := num.RowsOf(x)
	if d := len(gs[0].mean); rows.D != d {
		panic(&lvm.ShapeError{Op: op, What: "columns of x", Got: rows.D, Want: d})
	}
	blocks := num.BlocksOf(rows.N)
	work := make([]*eStep, blocks.Workers())
	for i := range work {
		work[i] = newEStep(gs, rows.N)
	}
	blocks.Each(func(worker, block, lo, hi int) {
		e := work[worker]
		for ; lo < hi; lo += e.size {
			e.run(rows, lo, min(hi, lo+e.size))
			for b, l := range e.logProb {
				if l-l != 0 {
					e.outlier(b, rows.Row(lo+b))
				}
			}
			f(block, lo, e)
		}
	})
}

// outlier sets the posterior and the log density of row b of the chunk, whose
// log density is not a finite number.
//
// A finite row is so far out that the squares of its distances overflow. It
// belongs to the component for which the distance is smallest, measured in a
// unit in which its square does not overflow: the limit of the posterior. A
// row with a NaN or an infinity gets NaN.
func (e *eStep) outlier(b int, row []float64) {
	unit := largest
	for _, v := range row {
		unit = max(unit, math.Abs(v))
	}
	if unit-unit != 0 {
		for c := range e.gs {
			e.of(c)[b] = math.NaN()
		}
		e.logProb[b] = math.NaN()
		return
	}
	d := len(row)
	x, q := make([]float64, kernels.RowLanes*d), make([]float64, kernels.RowLanes)
	best, least := 0, math.Inf(1)
	for c, g := range e.gs {
		e.of(c)[b] = 0
		if math.IsInf(g.bias, -1) {
			continue
		}
		for j, v := range row {
			x[j*kernels.RowLanes] = v/unit - g.mean[j]/unit
		}
		g.mean = make([]float64, d)
		g.squares(q, x, e.scratch)
		if q[0] < least {
			best, least = c, q[0]
		}
	}
	e.of(best)[b] = 1
	e.logProb[b] = math.Inf(-1)
}

// LogProb returns ln p(x) of one row, NaN if it has a NaN.
//
// It factors the covariances on every call, O(k·d³); LogProbs, LogLikelihood
// and Posterior do so once for all their rows.
func (m *GMM) LogProb(x []float64) float64 {
	row := &mat.Dense{}
	if len(x) > 0 {
		row = mat.NewDense(1, len(x), x)
	}
	const op = "clustering: GMM.LogProb"
	return logLikelihoodOf(op, m.mustPrepare(op), row)
}

// LogLikelihood returns Σ_i ln p(x_i), larger is better; NaN if a row has a NaN.
//
// Cost: O(n·k·d²), for diagonal and spherical covariances O(n·k·d).
func (m *GMM) LogLikelihood(x mat.Matrix) float64 {
	const op = "clustering: GMM.LogLikelihood"
	return logLikelihoodOf(op, m.mustPrepare(op), x)
}

// LogProbs returns ln p(x_i) of every row; NaN where a row has a NaN.
func (m *GMM) LogProbs(x mat.Matrix) []float64 {
	const op = "clustering: GMM.LogProbs"
	return logDensitiesOf(op, m.mustPrepare(op), x)
}

func logDensitiesOf(op string, gs []gaussian, x mat.Matrix) []float64 {
	n, _ := x.Dims()
	l := make([]float64, n)
	eachChunk(op, gs, x, func(_, lo int, e *eStep) { copy(l[lo:], e.logProb) })
	return l
}

func logLikelihoodOf(op string, gs []gaussian, x mat.Matrix) float64 {
	n, _ := x.Dims()
	parts := make([]float64, num.BlocksOf(n).Count())
	eachChunk(op, gs, x, func(block, _ int, e *eStep) {
		for _, l := range e.logProb {
			parts[block] += l
		}
	})
	var sum float64
	for _, p := range parts {
		sum += p
	}
	return sum
}

// Posterior returns the responsibilities, n×k: γ_ik = p(z=k | x_i), by Bayes' rule
//
//	γ_ik = π_k N(x_i | μ_k, Σ_k) / Σ_j π_j N(x_i | μ_j, Σ_j)
//
// in the log domain, so that each row sums to one however far out x_i is.
// A row with a NaN or an infinity gets NaN.
func (m *GMM) Posterior(x mat.Matrix) *mat.Dense {
	const op = "clustering: GMM.Posterior"
	return posteriorOf(op, m.mustPrepare(op), x)
}

func posteriorOf(op string, gs []gaussian, x mat.Matrix) *mat.Dense {
	n, _ := x.Dims()
	if n == 0 {
		eachChunk(op, gs, x, nil)
		return &mat.Dense{}
	}
	k := len(gs)
	post := make([]float64, n*k)
	eachChunk(op, gs, x, func(_, lo int, e *eStep) {
		for b := range e.logProb {
			for c := range k {
				post[(lo+b)*k+c] = e.post[c*e.n+b]
			}
		}
	})
	return mat.NewDense(n, k, post)
}

// Assign returns the most probable component of every row, the lowest among
// equals. A row with a NaN or an infinity gets −1.
func (m *GMM) Assign(x mat.Matrix) []int {
	const op = "clustering: GMM.Assign"
	return assignOf(op, m.mustPrepare(op), x)
}

func assignOf(op string, gs []gaussian, x mat.Matrix) []int {
	n, _ := x.Dims()
	z := make([]int, n)
	eachChunk(op, gs, x, func(_, lo int, e *eStep) {
		for b := range e.logProb {
			best := e.post[b]
			for c := 1; c < len(gs); c++ {
				if p := e.post[c*e.n+b]; p > best {
					best, z[lo+b] = p, c
				}
			}
			if math.IsNaN(best) {
				z[lo+b] = -1
			}
		}
	})
	return z
}
