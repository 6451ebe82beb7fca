package datasets

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"gonum.org/v1/gonum/mat"
)

// IDXType is the type of the values in an IDX file, with the code that the format
// gives it.
type IDXType byte

const (
	IDXUint8   IDXType = 0x08
	IDXInt8    IDXType = 0x09
	IDXInt16   IDXType = 0x0B
	IDXInt32   IDXType = 0x0C
	IDXFloat32 IDXType = 0x0D
	IDXFloat64 IDXType = 0x0E
)

// size returns the bytes of one value, 0 for a type that does not exist.
func (t IDXType) size() int64 {
	switch t {
	case IDXUint8, IDXInt8:
		return 1
	case IDXInt16:
		return 2
	case IDXInt32, IDXFloat32:
		return 4
	case IDXFloat64:
		return 8
	}
	return 0
}

// Array is the contents of an IDX file: an array of any number of dimensions.
type Array struct {
	Type   IDXType
	Dims   []int     // at least one, each at least 1
	Values []float64 // all of them, the last dimension changing fastest; every type fits exactly
}

// Matrix returns the array as a matrix of Dims[0] rows, the other dimensions laid
// out along the row. It shares the array's values.
func (a *Array) Matrix() *mat.Dense {
	return mat.NewDense(a.Dims[0], len(a.Values)/a.Dims[0], a.Values)
}

// maxValues limits an IDX array to 8 GiB as float64.
const maxValues = 1 << 30

// IDX reads an array in the format of MNIST (LeCun, Cortes and Burges), plain or
// compressed by gzip, which it detects from the first bytes. Two zero bytes, the
// type, the number of dimensions, each dimension as a 32-bit integer and then the
// values, all big-endian.
//
// A file that is not IDX, ends early, goes on behind its last value, holds no
// values or more than 2³⁰ of them is a *[ParseError] with the byte position. Memory
// is proportional to the values that are there, whatever the dimensions claim. A NaN
// in a file of floating-point numbers is passed on.
func IDX(r io.Reader) (*Array, error) {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(2); isGzip(head) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, idxError(0, err, "the gzip header is damaged")
		}
		in = bufio.NewReader(z)
	}
	a, count, err := idxHeader(in)
	if err != nil {
		return nil, err
	}
	start, size := int64(4+4*len(a.Dims)), a.Type.size()
	raw, err := io.ReadAll(io.LimitReader(in, count*size+1))
	got := int64(len(raw))
	switch {
	case err != nil:
		return nil, idxError(start+got, err, fmt.Sprintf("%d of %d values read", got/size, count))
	case got < count*size:
		return nil, idxError(start+got, io.ErrUnexpectedEOF, fmt.Sprintf("the data end after %d of %d values %v", got/size, count, a.Dims))
	case got > count*size:
		return nil, idxError(start+count*size, nil, fmt.Sprintf("there are more than the %d values that the dimensions %v declare", count, a.Dims))
	}
	a.Values = make([]float64, count)
	decode(a.Values, raw, a.Type)
	return a, nil
}

// IDXFile reads the file at path as [IDX] does.
func IDXFile(path string) (*Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	a, err := IDX(f)
	if err != nil {
		return nil, inFile(err, path)
	}
	return a, nil
}

func isGzip(head []byte) bool { return len(head) >= 2 && head[0] == 0x1F && head[1] == 0x8B }

// idxHeader reads the type and dimensions, and returns how many values they make.
func idxHeader(in io.Reader) (*Array, int64, error) {
	var magic [4]byte
	if n, err := io.ReadFull(in, magic[:]); err != nil {
		return nil, 0, idxError(int64(n), err, "the header is cut short")
	}
	a := &Array{Type: IDXType(magic[2])}
	if magic[0] != 0 || magic[1] != 0 || a.Type.size() == 0 || magic[3] == 0 {
		return nil, 0, idxError(0, nil, fmt.Sprintf("% x does not begin an IDX file", magic))
	}
	count := int64(1)
	for i := range int(magic[3]) {
		var dim [4]byte
		at := int64(4 + 4*i)
		if n, err := io.ReadFull(in, dim[:]); err != nil {
			return nil, 0, idxError(at+int64(n), err, "the header is cut short")
		}
		n := int64(binary.BigEndian.Uint32(dim[:]))
		a.Dims = append(a.Dims, int(n))
		if n == 0 {
			return nil, 0, idxError(at, nil, fmt.Sprintf("dimension %d is zero: there are no values", i+1))
		}
		if n > maxValues/count {
			return nil, 0, idxError(at, nil, fmt.Sprintf("the dimensions %v make more than %d values", a.Dims, maxValues))
		}
		count *= n
	}
	return a, count, nil
}

// decode turns big-endian values into float64, without loss.
func decode(dst []float64, raw []byte, t IDXType) {
	be := binary.BigEndian
	switch t {
	case IDXUint8:
		for i := range dst {
			dst[i] = float64(raw[i])
		}
	case IDXInt8:
		for i := range dst {
			dst[i] = float64(int8(raw[i]))
		}
	case IDXInt16:
		for i := range dst {
			dst[i] = float64(int16(be.Uint16(raw[2*i:])))
		}
	case IDXInt32:
		for i := range dst {
			dst[i] = float64(int32(be.Uint32(raw[4*i:])))
		}
	case IDXFloat32:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(be.Uint32(raw[4*i:])))
		}
	case IDXFloat64:
		for i := range dst {
			dst[i] = math.Float64frombits(be.Uint64(raw[8*i:]))
		}
	}
}

func idxError(offset int64, err error, problem string) error {
	e := &ParseError{Format: "IDX", Offset: offset, Problem: problem, Err: err,
		Try: "check that this is the whole file, and download it again"}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		e.Problem += ": " + err.Error()
	}
	return e
}
