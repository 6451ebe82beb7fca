package datasets_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/latent-lessons/latent/datasets"
)

// encodeIDX writes values that fit the type, which the callers see to.
func encodeIDX(a *datasets.Array) []byte {
	b := []byte{0, 0, byte(a.Type), byte(len(a.Dims))}
	for _, n := range a.Dims {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, v := range a.Values {
		switch a.Type {
		case datasets.IDXUint8:
			b = append(b, uint8(v))
		case datasets.IDXInt8:
			b = append(b, uint8(int8(v)))
		case datasets.IDXInt16:
			b = binary.BigEndian.AppendUint16(b, uint16(int16(v)))
		case datasets.IDXInt32:
			b = binary.BigEndian.AppendUint32(b, uint32(int32(v)))
		case datasets.IDXFloat32:
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case datasets.IDXFloat64:
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

func pack(b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(b)
	w.Close()
	return z.Bytes()
}

// Bytes written by hand, from the description of the format.
func TestIDXTypes(t *testing.T) {
	for _, test := range []struct {
		bytes string
		want  []float64
	}{
		{"\x00\x00\x08\x01\x00\x00\x00\x02" + "\x00\xff", []float64{0, 255}},
		{"\x00\x00\x09\x01\x00\x00\x00\x02" + "\x7f\x80", []float64{127, -128}},
		{"\x00\x00\x0b\x01\x00\x00\x00\x02" + "\x01\x02\xff\xff", []float64{258, -1}},
		{"\x00\x00\x0c\x01\x00\x00\x00\x02" + "\x00\x01\x00\x00\x80\x00\x00\x00", []float64{65536, -2147483648}},
		{"\x00\x00\x0d\x01\x00\x00\x00\x01" + "\xbf\xc0\x00\x00", []float64{-1.5}},
		{"\x00\x00\x0e\x01\x00\x00\x00\x01" + "\x3f\xb9\x99\x99\x99\x99\x99\x9a", []float64{0.1}},
	} {
		for _, b := range [][]byte{[]byte(test.bytes), pack([]byte(test.bytes))} {
			a, err := datasets.IDX(bytes.NewReader(b))
			if err != nil {
				t.Errorf("%q: %v", b, err)
			} else if !slices.Equal(a.Values, test.want) || a.Type != datasets.IDXType(test.bytes[2]) || !slices.Equal(a.Dims, []int{len(test.want)}) {
				t.Errorf("%q: got %+v, want %v", b, a, test.want)
			}
		}
	}
}

func TestIDXMatrix(t *testing.T) {
	b := "\x00\x00\x08\x03" + "\x00\x00\x00\x02" + "\x00\x00\x00\x01" + "\x00\x00\x00\x03" + "\x01\x02\x03\x04\x05\x06"
	a, err := datasets.IDX(iotest.OneByteReader(strings.NewReader(b)))
	if err != nil {
		t.Fatal(err)
	}
	m := a.Matrix()
	if r, c := m.Dims(); r != 2 || c != 3 || !slices.Equal(m.RawRowView(1), []float64{4, 5, 6}) {
		t.Errorf("dims %v became a %d×%d matrix, row 1 %v", a.Dims, r, c, m.RawRowView(1))
	}
}

func TestIDXRefuses(t *testing.T) {
	const again = "; check that this is the whole file, and download it again"
	for _, test := range []struct {
		name, bytes, want string
	}{
		{"empty", "", "datasets: IDX, byte 0: the header is cut short"},
		{"other format", "\x89PNG\r\n", "datasets: IDX, byte 0: 89 50 4e 47 does not begin an IDX file"},
		{"unknown type", "\x00\x00\x0a\x01\x00\x00\x00\x01\x00", "datasets: IDX, byte 0: 00 00 0a 01 does not begin an IDX file"},
		{"no dimensions", "\x00\x00\x08\x00\x01", "datasets: IDX, byte 0: 00 00 08 00 does not begin an IDX file"},
		{"header ends", "\x00\x00\x08\x02\x00\x00\x00\x02\x00", "datasets: IDX, byte 9: the header is cut short"},
		{"no values", "\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x00", "datasets: IDX, byte 8: dimension 2 is zero: there are no values"},
		{"values end", "\x00\x00\x0b\x01\x00\x00\x00\x03\x01\x02\x03", "datasets: IDX, byte 11: the data end after 1 of 3 values [3]"},
		{"values go on", "\x00\x00\x08\x01\x00\x00\x00\x01ab", "datasets: IDX, byte 9: there are more than the 1 values that the dimensions [1] declare"},
		{"too large", "\x00\x00\x08\x02\x00\x01\x00\x00\x00\x00\x40\x01", "datasets: IDX, byte 8: the dimensions [65536 16385] make more than 1073741824 values"},
		{"gzip header", "\x1f\x8b\x08", "datasets: IDX, byte 0: the gzip header is damaged"},
	} {
		_, err := datasets.IDX(strings.NewReader(test.bytes))
		if _, ok := err.(*datasets.ParseError); !ok || err.Error() != test.want+again {
			t.Errorf("%s: got  %T %v\nwant %s", test.name, err, err, test.want+again)
		}
	}
}

// Cut anywhere, a file is refused with the place of the cut.
func TestIDXTruncated(t *testing.T) {
	b := encodeIDX(&datasets.Array{Type: datasets.IDXInt16, Dims: []int{2, 2}, Values: []float64{1, -2, 3, -4}})
	for n := range len(b) {
		_, err := datasets.IDX(bytes.NewReader(b[:n]))
		var parse *datasets.ParseError
		if !errors.As(err, &parse) || parse.Offset != int64(n) {
			t.Errorf("cut at byte %d: %v", n, err)
		}
		if n > 0 && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			t.Errorf("cut at byte %d: %v is no end of file", n, err)
		}
	}
	z := pack(b)
	for n := range len(z) {
		if _, err := datasets.IDX(bytes.NewReader(z[:n])); err == nil {
			t.Errorf("gzip cut at byte %d of %d is accepted", n, len(z))
		}
	}
	z[len(z)-5] ^= 1 // the checksum
	if _, err := datasets.IDX(bytes.NewReader(z)); !errors.Is(err, gzip.ErrChecksum) {
		t.Errorf("wrong checksum: %v", err)
	}
}

// A header of 2³⁰ doubles with nothing behind it must not allocate 8 GiB.
func TestIDXLies(t *testing.T) {
	lie := []byte("\x00\x00\x0e\x02\x00\x00\x80\x00\x00\x00\x80\x00 and nothing more")
	for _, b := range [][]byte{lie, pack(lie)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := datasets.IDX(bytes.NewReader(b))
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Error("the lie was believed")
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%d bytes allocated for %d of data", got, len(b))
		}
	}
}

func TestIDXReadFails(t *testing.T) {
	failure := errors.New("the cable is loose")
	for _, n := range []int{0, 2, 6, 9} {
		b := "\x00\x00\x08\x01\x00\x00\x00\x05abcde"
		_, err := datasets.IDX(io.MultiReader(strings.NewReader(b[:n]), iotest.ErrReader(failure)))
		if !errors.Is(err, failure) || !strings.Contains(err.Error(), "the cable is loose") {
			t.Errorf("failure at byte %d: %v", n, err)
		}
	}
}

func TestIDXFile(t *testing.T) {
	if _, err := datasets.IDXFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

// writeMNIST writes a small MNIST: images of 2×3 pixels, spelled and packed in
// every way that is accepted.
func writeMNIST(t *testing.T) string {
	dir := t.TempDir()
	image := func(n int) []byte {
		a := &datasets.Array{Type: datasets.IDXUint8, Dims: []int{n, 2, 3}}
		for i := range n * 6 {
			a.Values = append(a.Values, float64(10*i%256))
		}
		return encodeIDX(a)
	}
	labels := func(v ...float64) []byte {
		return encodeIDX(&datasets.Array{Type: datasets.IDXUint8, Dims: []int{len(v)}, Values: v})
	}
	write(t, dir, "train-images-idx3-ubyte", image(3))
	write(t, dir, "train-labels-idx1-ubyte.gz", pack(labels(7, 0, 9)))
	write(t, dir, "t10k-images.idx3-ubyte", image(2))
	write(t, dir, "t10k-labels.idx1-ubyte.gz", pack(labels(1, 1)))
	return dir
}

func write(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMNIST(t *testing.T) {
	train, test, err := datasets.MNIST(writeMNIST(t))
	if err != nil {
		t.Fatal(err)
	}
	valid(t, train)
	valid(t, test)
	if r, c := train.X.Dims(); r != 3 || c != 6 || !slices.Equal(train.Labels, []int{7, 0, 9}) {
		t.Errorf("train is %d×%d with labels %v", r, c, train.Labels)
	}
	if r, c := test.X.Dims(); r != 2 || c != 6 || !slices.Equal(test.Labels, []int{1, 1}) {
		t.Errorf("test is %d×%d with labels %v", r, c, test.Labels)
	}
	if got := train.X.At(1, 2); got != 80 {
		t.Errorf("pixel 2 of image 1 is %v, want 80", got)
	}
	if got := train.Columns[5]; got != "pixel 1,2 (0–255)" {
		t.Errorf("column 5 is %q", got)
	}
}

func TestMNISTMissing(t *testing.T) {
	dir := writeMNIST(t)
	for _, name := range []string{"train-labels-idx1-ubyte.gz", "t10k-images.idx3-ubyte"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := datasets.MNIST(dir)
	var missing *datasets.MissingFilesError
	want := fmt.Sprintf("datasets: MNIST: no train-labels-idx1-ubyte, t10k-images-idx3-ubyte in folder %q; "+
		"download them from https://github.com/cvdfoundation/mnist and put them there, as .gz or unpacked", dir)
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, _, err := datasets.MNIST(filepath.Join(dir, "nowhere")); !errors.As(err, &missing) || len(missing.Files) != 4 {
		t.Errorf("no folder: %v", err)
	}
}

func TestMNISTRefuses(t *testing.T) {
	for _, test := range []struct {
		name, file string
		bytes      []byte
		offset     int64
		problem    string
	}{
		{"label", "train-labels-idx1-ubyte.gz", pack([]byte("\x00\x00\x08\x01\x00\x00\x00\x03\x01\x0a\x01")), 9, "label 10 is not a digit"},
		{"count", "t10k-labels.idx1-ubyte.gz", []byte("\x00\x00\x08\x01\x00\x00\x00\x01\x01"), 4, "1 labels for 2 images"},
		{"swapped", "train-images-idx3-ubyte", []byte("\x00\x00\x08\x01\x00\x00\x00\x01\x01"), 2, "not images: 1 dimensions of type 0x08"},
		{"type", "train-labels-idx1-ubyte.gz", []byte("\x00\x00\x09\x01\x00\x00\x00\x01\x01"), 2, "not labels: 1 dimensions of type 0x09"},
		{"damaged", "t10k-images.idx3-ubyte", []byte("\x00\x00\x08"), 3, "the header is cut short"},
	} {
		dir := writeMNIST(t)
		write(t, dir, test.file, test.bytes)
		_, _, err := datasets.MNIST(dir)
		var parse *datasets.ParseError
		if !errors.As(err, &parse) {
			t.Errorf("%s: got %T %v", test.name, err, err)
		} else if parse.File != filepath.Join(dir, test.file) || parse.Offset != test.offset || parse.Problem != test.problem {
			t.Errorf("%s: got %v, want %s at byte %d of %s", test.name, err, test.problem, test.offset, test.file)
		}
	}
}

// What IDX accepts comes back the same after it is written and read again, packed.
func FuzzIDX(f *testing.F) {
	for _, typ := range []datasets.IDXType{datasets.IDXUint8, datasets.IDXInt8, datasets.IDXInt16,
		datasets.IDXInt32, datasets.IDXFloat32, datasets.IDXFloat64} {
		b := encodeIDX(&datasets.Array{Type: typ, Dims: []int{2, 1, 3}, Values: []float64{0, 1, -2, 3, 100, 127}})
		f.Add(b)
		f.Add(pack(b))
		f.Add(b[:len(b)-1])
	}
	f.Add([]byte("\x00\x00\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := datasets.IDX(bytes.NewReader(b))
		if err != nil {
			if _, ok := err.(*datasets.ParseError); !ok {
				t.Fatalf("not a ParseError: %#v", err)
			}
			return
		}
		size := 1
		for _, n := range a.Dims {
			size *= n
		}
		if len(a.Dims) == 0 || size != len(a.Values) || size == 0 {
			t.Fatalf("%d values for dimensions %v", len(a.Values), a.Dims)
		}
		if r, _ := a.Matrix().Dims(); r != a.Dims[0] {
			t.Fatalf("matrix of %d rows for dimensions %v", r, a.Dims)
		}
		again, err := datasets.IDX(bytes.NewReader(pack(encodeIDX(a))))
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		if a.Type != again.Type || !slices.Equal(a.Dims, again.Dims) || !slices.EqualFunc(a.Values, again.Values, same) {
			t.Fatalf("got %v back, want %v", again, a)
		}
	})
}

func BenchmarkIDX(b *testing.B) {
	file := encodeIDX(&datasets.Array{Type: datasets.IDXUint8, Dims: []int{2000, 28, 28}, Values: make([]float64, 2000*28*28)})
	for name, data := range map[string][]byte{"plain": file, "gzip": pack(file)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := datasets.IDX(bytes.NewReader(data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
