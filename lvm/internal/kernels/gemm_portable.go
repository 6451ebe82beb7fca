package kernels

import "unsafe"

var (
	portable64 = portableKernel[float64]()
	portable32 = portableKernel[float32]()
)

func portableKernel[T Float]() kernel[T] {
	return kernel[T]{portableRows, 8, 1, productPortable[T], packRowsPortable[T], packColumnsPortable[T]}
}

const portableRows = 4

// productPortable is kernel.product; it takes four columns at a time, which keeps a
// processor's adders busy.
func productPortable[T Float](m, n, k int, alpha T, a *T, ars, acs, aps int, b *T, brs int, c *T, crs int, add bool) {
	for i := range m {
		x := offset(a, i/portableRows*aps+i%portableRows*ars)
		row := unsafe.Slice(offset(c, i*crs), n)
		j := 0
		for ; j+4 <= n; j += 4 {
			var s0, s1, s2, s3 T
			for l := range k {
				v := *offset(x, l*acs)
				y := (*[4]T)(unsafe.Pointer(offset(b, l*brs+j)))
				s0 = fma(v, y[0], s0)
				s1 = fma(v, y[1], s1)
				s2 = fma(v, y[2], s2)
				s3 = fma(v, y[3], s3)
			}
			for q, s := range [4]T{s0, s1, s2, s3} {
				row[j+q] = final(alpha, s, row[j+q], add)
			}
		}
		for ; j < n; j++ {
			var s T
			for l := range k {
				s = fma(*offset(x, l*acs), *offset(b, l*brs+j), s)
			}
			row[j] = final(alpha, s, row[j], add)
		}
	}
}

func packRowsPortable[T Float](rows, n int, src *T, srs int, mean, weights *T, ws int, dst *T, drs int) {
	for l := range rows {
		w := *offset(weights, l*ws)
		for j := range n {
			x := *offset(src, l*srs+j)
			if mean != nil {
				x -= *offset(mean, j)
			}
			*offset(dst, l*drs+j) = w * x
		}
	}
}

func packColumnsPortable[T Float](rows, n int, src *T, scs int, dst *T, drs int) {
	for j := range n {
		for l := range rows {
			*offset(dst, l*drs+j) = *offset(src, l+j*scs)
		}
	}
}

// offset returns the address of the element n after p.
func offset[T Float](p *T, n int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), n*int(unsafe.Sizeof(*p))))
}
