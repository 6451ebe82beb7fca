//go:build !amd64

package kernels

func sqDistRow(dst, x, rows []float64) { sqDistRowPortable(dst, x, rows) }

func twoLeast(v []float64) (index int, least, second float64) { return twoLeastPortable(v) }
