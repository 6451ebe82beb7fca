package kernels

// pack copies b into strips of width columns, one after the other, the rows of a
// strip end to end. The last strip is filled up with zeros. If given, the mean of
// each column is taken off and each row multiplied by its weight, in this order.
func (k *kernel[T]) pack(b Matrix[T], width int, mean, weights []T, to []T) {
	for j0 := 0; j0 < b.Cols; j0 += width {
		j1 := min(j0+width, b.Cols)
		strip := to[:b.Rows*width]
		to = to[b.Rows*width:]
		if j1-j0 < width {
			clear(strip)
		}
		part := b.Slice(0, b.Rows, j0, j1)
		switch {
		case b.ColStride == 1:
			k.weigh(part, sub(mean, j0, j1), weights, strip, width)
		case b.RowStride == 1:
			k.copyColumns(part, Of(b.Rows, part.Cols, strip, width))
		default:
			copyEach(part, Of(b.Rows, part.Cols, strip, width))
		}
		if b.ColStride != 1 && (mean != nil || weights != nil) {
			whole := Of(b.Rows, part.Cols, strip, width)
			k.weigh(whole, sub(mean, j0, j1), weights, strip, width)
		}
	}
}

// weigh sets rows of to, stride apart, to weight·(row - mean) for the rows of b, which
// lie in one piece each.
func (k *kernel[T]) weigh(b Matrix[T], mean, weights []T, to []T, stride int) {
	one := T(1)
	m, w, ws := (*T)(nil), &one, 0
	if mean != nil {
		m = &mean[0]
	}
	if weights != nil {
		w, ws = &weights[0], 1
	}
	_ = to[(b.Rows-1)*stride+b.Cols-1]
	k.packRows(b.Rows, b.Cols, b.at(0, 0), b.RowStride, m, w, ws, &to[0], stride)
}

// copyColumns copies a matrix whose columns are in one piece each into one whose rows are.
func (k *kernel[T]) copyColumns(from, to Matrix[T]) {
	n := from.Cols / k.lanes * k.lanes
	if n > 0 && from.Rows > 0 {
		k.packColumns(from.Rows, n, from.at(0, 0), from.ColStride, to.at(0, 0), to.RowStride)
	}
	copyEach(from.Slice(0, from.Rows, n, from.Cols), to.Slice(0, from.Rows, n, from.Cols))
}

func copyEach[T Float](from, to Matrix[T]) {
	for j := range from.Cols {
		for i := range from.Rows {
			*to.at(i, j) = *from.at(i, j)
		}
	}
}
