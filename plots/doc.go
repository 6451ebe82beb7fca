// Package plots draws latent variable models: points with their cluster labels,
// covariance ellipses, densities, decision regions, mixtures in one dimension,
// the course of an objective and grids of images.
//
// Every mark is a [plot.Plotter] of gonum.org/v1/plot, so it mixes with gonum's
// own lines, bars, histograms and error bars in one figure:
//
//	f := plots.New("Two kinds of eruption", "eruption (min)", "waiting (min)")
//	points, err := plots.NewClusters(x, labels)
//	…
//	f.Add(points)
//	err = f.Save("faithful.png")
//
// Marks take plain data (matrices with one observation per row, slices) or an
// interface with one method, such as LogProb or Assign, never a model type.
// Constructors copy the data and return an error that names the row and column
// of a value that cannot be drawn. The style is in exported fields, to be set before
// the mark is added to a figure, as adding reads the mark's extent.
//
// A [Figure] is a gonum plot in the house style: readable at 16×10 cm, colours
// that colour-blind readers can tell apart and never colour alone, a legend that
// covers no data, and a description of what the picture shows, made from the
// data, for readers who cannot see it (see [Figure.Alt]). [Grid] puts several
// figures in panels with aligned axes.
//
// The package only draws. Package plots/show puts pictures in a notebook.
package plots
