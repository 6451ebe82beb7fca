//go:build !amd64

package kernels

func (p *Panels) screen(s *screening, n int, x, norms, panel []float32, first int) {
	p.screenPortable(s, n, x, norms, panel, first)
}
