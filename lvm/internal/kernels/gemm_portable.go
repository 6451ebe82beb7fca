package kernels

import (
	"math"
	"unsafe"
)

var (
	portable64 = portableKernel[float64]()
	portable32 = portableKernel[float32]()
)

func portableKernel[T Float]() kernel[T] {
	return kernel[T]{portableRows, 8, 1, productPortable[T], packRowsPortable[T], packColumnsPortable[T], addRowPortable[T], substitutePortable[T]}
}

const portableRows = 4

func productPortable[T Float](m, n, k int, alpha T, a *T, ars, acs, aps int, b *T, brs int, c *T, crs int, add bool) {
	for i := range m {
		x := offset(a, i/portableRows*aps+i%portableRows*ars)
		j := 0
		for ; j+4 <= n; j += 4 {
			s := dotFour(k, x, acs, offset(b, j), brs)
			addRowPortable(4, alpha, &s[0], offset(c, i*crs+j), add)
		}
		for ; j < n; j++ {
			var s T
			for l := range k {
				s = fma(*offset(x, l*acs), *offset(b, l*brs+j), s)
			}
			addRowPortable(1, alpha, &s, offset(c, i*crs+j), add)
		}
	}
}

// dotFour returns the sums for one row of A and four columns of B, which keep a
// processor's adders busy. It writes out fma, which the compiler does not inline.
func dotFour[T Float](k int, x *T, acs int, b *T, brs int) [4]T {
	if unsafe.Sizeof(*x) == 8 {
		var s0, s1, s2, s3 float64
		for l := range k {
			v, y := float64(*offset(x, l*acs)), (*[4]T)(unsafe.Pointer(offset(b, l*brs)))
			s0 = math.FMA(v, float64(y[0]), s0)
			s1 = math.FMA(v, float64(y[1]), s1)
			s2 = math.FMA(v, float64(y[2]), s2)
			s3 = math.FMA(v, float64(y[3]), s3)
		}
		return [4]T{T(s0), T(s1), T(s2), T(s3)}
	}
	var s [4]T
	for l := range k {
		for q, y := range *(*[4]T)(unsafe.Pointer(offset(b, l*brs))) {
			s[q] = fma(*offset(x, l*acs), y, s[q])
		}
	}
	return s
}

func addRowPortable[T Float](n int, alpha T, s, c *T, add bool) {
	from, to := unsafe.Slice(s, n), unsafe.Slice(c, n)
	for j, v := range from {
		if add {
			to[j] = fma(alpha, v, to[j])
		} else {
			to[j] = alpha * v
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

func substitutePortable[T Float](m, n int, a *T, ars, acs int, b *T, brs int, unit bool) {
	for j := range n {
		x := offset(b, j)
		for i := range m {
			var s T
			for l := range i {
				s = fma(*offset(a, i*ars+l*acs), *offset(x, l*brs), s)
			}
			v := *offset(x, i*brs) - s
			if !unit {
				v /= *offset(a, i*(ars+acs))
			}
			*offset(x, i*brs) = v
		}
	}
}

// offset returns the address of the element n after p.
func offset[T Float](p *T, n int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), n*int(unsafe.Sizeof(*p))))
}
