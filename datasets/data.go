// Package datasets holds the data of the lessons: small real data sets with
// their provenance, generators with known labels, and loaders for CSV, IDX
// (the format of MNIST) and PNG or JPEG images.
//
// Every data set is a [Data]: a matrix of n observations in rows, the names of
// its columns and, where they are known, the class of each row. Every function
// returns a fresh copy that the caller may change.
//
// Generators take their random numbers from the rng that is passed in and draw
// in the order that their comment states, so the same seed gives the same bits.
// They panic when n < 1 or rng is nil. Loaders never panic on what they read:
// bad input is a [*ParseError] that names the line and column, or the byte.
package datasets

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Data is a data set of n observations of d variables.
type Data struct {
	Name    string
	X       *mat.Dense // n×d, a row is an observation
	Columns []string   // d names, with units in parentheses where there are any
	Labels  []int      // n class numbers, 0 ≤ Labels[i] < len(Classes); nil when there are none
	Classes []string   // names of the classes; nil when Labels is nil
	Source  string     // where the data come from, or the parameters they were generated with
}

// ClassMeans returns the mean of the rows of each class, len(Classes)×d. The row
// of a class without observations is zero.
//
// It panics when the data have no labels.
func (d *Data) ClassMeans() *mat.Dense {
	if d.Labels == nil {
		panic(fmt.Sprintf("datasets: ClassMeans: %s has no labels", d.Name))
	}
	_, cols := d.X.Dims()
	means := mat.NewDense(len(d.Classes), cols, nil)
	count := make([]float64, len(d.Classes))
	for i, c := range d.Labels {
		count[c]++
		row := means.RawRowView(c)
		for j, v := range d.X.RawRowView(i) {
			row[j] += v
		}
	}
	for c, n := range count {
		if n == 0 {
			continue
		}
		row := means.RawRowView(c)
		for j := range row {
			row[j] /= n
		}
	}
	return means
}

// numbered returns prefix+"0", prefix+"1", …
func numbered(prefix string, from, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(prefix, from+i)
	}
	return names
}
