package kernels

//go:generate go run ./gen/screen -out screen_amd64.s -stubs screen_stubs_amd64.go -pkg kernels

func (p *Panels) screen(s *screening, n int, x, norms, panel []float32, first int) {
	if active == portable {
		p.screenPortable(s, n, x, norms, panel, first)
		return
	}
	kernel := differences16AVX2
	switch wide := len(panel) == 32*(p.d+1); {
	case p.product && wide:
		kernel = products32AVX2
	case p.product:
		kernel = products16AVX2
	case wide:
		kernel = differences32AVX2
	}
	kernel(&s.index[0], &s.least[0], &s.second[0], &s.gap[0], &x[0], &norms[0], p.d, &s.rows[0], n, &panel[0], first, &p.bound.perNorm)
}
