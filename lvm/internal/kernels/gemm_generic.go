//go:build !amd64

package kernels

var (
	kernels64 = [numPaths]*kernel[float64]{&portable64}
	kernels32 = [numPaths]*kernel[float32]{&portable32}
)
