//go:build !amd64

package kernels

// best returns the only path there is without assembly.
func best() path { return portable }
