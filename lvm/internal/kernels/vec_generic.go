//go:build !amd64

package kernels

var (
	vectors64 = [numPaths]*vectorKernels[float64]{portableVectors[float64]()}
	vectors32 = [numPaths]*vectorKernels[float32]{portableVectors[float32]()}
)
