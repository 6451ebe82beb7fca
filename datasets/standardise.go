package datasets

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Standardise shifts and scales the columns of x (n×d) to mean 0 and variance 1:
//
//	z_ij = (x_ij − mean_j) / sd_j,   sd_j² = Σ_i (x_ij − mean_j)² / n
//
// The divisor is n, so that Σ_i z_ij² = n. A column that is constant has sd 0
// and stays 0 in z; x_ij = mean_j + sd_j z_ij gets the data back in every case.
// A constant is recognised by its values, whatever the rounding of its mean.
//
// A NaN or an infinity in x, an empty x, and values so far apart that their
// difference is no float64 are a *[ValueError]. Cost O(nd).
func Standardise(x mat.Matrix) (z *mat.Dense, mean, sd []float64, err error) {
	n, d := x.Dims()
	if n == 0 || d == 0 {
		return nil, nil, nil, &ValueError{Row: -1, Column: -1,
			Problem: "no values to standardise", Try: "load or generate the data first"}
	}
	z = mat.DenseCopyOf(x)
	for i := range n {
		for j, v := range z.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, nil, nil, &ValueError{Row: i, Column: j,
					Problem: "the value is not finite", Try: "drop the row or fill the value in"}
			}
		}
	}
	mean, sd = make([]float64, d), make([]float64, d)
	col := make([]float64, n)
	for j := range d {
		mean[j], sd[j] = standardise(mat.Col(col, j, z))
		if math.IsInf(sd[j], 0) || math.IsNaN(sd[j]) {
			return nil, nil, nil, &ValueError{Row: -1, Column: j,
				Problem: "the values are too far apart for a float64", Try: "rescale the column"}
		}
		z.SetCol(j, col)
	}
	return z, mean, sd, nil
}

// standardise works in place on one column. It counts from the first value, so
// that a constant column has deviations of exactly 0, and squares deviations
// only after dividing by the largest, so that no square over- or underflows.
func standardise(x []float64) (mean, sd float64) {
	n := float64(len(x))
	origin := x[0]
	var shift float64
	for i := range x {
		x[i] -= origin
		shift += x[i] / n
	}
	var largest float64
	for i := range x {
		x[i] -= shift
		largest = max(largest, math.Abs(x[i]))
	}
	mean = origin + shift
	if largest == 0 {
		return mean, 0
	}
	var square float64
	for i := range x {
		x[i] /= largest
		square += x[i] * x[i]
	}
	scale := math.Sqrt(square / n)
	for i := range x {
		x[i] /= scale
	}
	return mean, largest * scale
}
