package clustering

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/internal/num"
)

// OnlineKMeans is k-means for data that arrives in pieces. Each centre is the
// running mean of the rows that came to it, and of the weight it began with:
//
//	n_z ← n_z + 1,   μ_z ← μ_z + (x − μ_z)/n_z
//
// A count of 0 makes the first row replace the centre; a large count makes the
// centre slow to move.
type OnlineKMeans struct {
	Centers *mat.Dense // μ, k×d
	Counts  []float64  // n, k: how many rows each centre stands for
}

// Update returns the centres after a batch of rows, and the objective
// −Σ_i ‖x_i − μ_{z_i}‖² of the receiver over that batch. Every row goes to the
// centre of the receiver that is nearest to it, the lowest among equals, and
// every centre to the mean of all that it stands for. One row at a time it is
// the algorithm of MacQueen.
//
// The objective over all rows seen may rise or fall, and a centre without rows
// stays where it is.
//
// Data with a NaN, an infinity or a value beyond ±1e140, counts that are
// negative or not finite and a lack of centres are a *lvm.DataError; data of another width than the
// centres and a wrong number of counts are a *lvm.ShapeError.
//
// Cost: O(n·k·d) for a batch of n rows.
//
// Source: MacQueen (1967), Some methods for classification and analysis of
// multivariate observations; Sculley (2010), Web-scale k-means clustering.
func (m *OnlineKMeans) Update(x mat.Matrix) (*OnlineKMeans, float64, error) {
	const op = "clustering.OnlineKMeans.Update"
	if err := checkPresent(op, m.Centers); err != nil {
		return nil, 0, err
	}
	data, err := newWeighted(op, x, nil)
	if err != nil {
		return nil, 0, err
	}
	k, _ := m.Centers.Dims()
	centers, err := checkCenters(op, m.Centers, k, data.D)
	if err != nil {
		return nil, 0, err
	}
	if len(m.Counts) != k {
		return nil, 0, &lvm.ShapeError{Op: op, What: "counts", Got: len(m.Counts), Want: k}
	}
	for z, n := range m.Counts {
		if !(n >= 0) || math.IsInf(n, 1) {
			return nil, 0, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("centre %d has the count %v", z, n), Try: "counts that are finite and not negative"}
		}
	}

	next := &OnlineKMeans{Centers: mat.DenseCopyOf(centers), Counts: append([]float64(nil), m.Counts...)}
	old := num.RowsOf(centers)
	d2 := make([]float64, k)
	var inertia float64
	for i := range data.N {
		row := data.Row(i)
		z, d2 := nearest(row, old, d2)
		inertia += d2
		next.Counts[z]++
		center := next.Centers.RawRowView(z)
		for j, v := range row {
			center[j] += (v - center[j]) / next.Counts[z]
		}
	}
	return next, -inertia, nil
}
