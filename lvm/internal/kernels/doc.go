// Package kernels holds the dense arithmetic that the models wait for: matrix
// products, factorisations, distances and vector maths.
package kernels
