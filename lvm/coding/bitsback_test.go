package coding

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm"
	"github.com/latent-lessons/latent/lvm/clustering"
)

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// What is decoded is what was encoded, bucket and all, whatever the model, its
// shape, the grid and the number of rows.
func TestBitsBackRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		model := three(shapes[seed%4])
		if seed%5 == 0 {
			model.Weights = []float64{0.7, 0, 0.3}
		}
		_, x := model.Sample(rng, 1+rng.IntN(200))
		grid, err := NewGrid(x, math.Exp(rng.NormFloat64()-2), math.Exp(rng.NormFloat64()-2))
		if err != nil {
			t.Fatal(err)
		}
		m := &Mixture{Model: model, Grid: grid}
		bucket := randomBytes(rng, rng.IntN(200))
		message, err := m.Encode(x, bucket)
		if err != nil {
			t.Fatal(err)
		}
		want, err := grid.Round(x)
		if err != nil {
			t.Fatal(err)
		}
		got, back, err := m.Decode(message)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !mat.Equal(got, want) || !bytes.Equal(bucket, back) {
			t.Errorf("seed %d: another message came out", seed)
		}
	}
}

// The rows take the bits of the bound, within 1 % with all that goes along, and
// fewer than the deterministic code needs; with a bucket and without, since what the
// draws take comes back. Drawn rows give a bound that is near the entropy.
func TestBitsBackLength(t *testing.T) {
	for _, shape := range shapes {
		model := three(shape)
		rng := rand.New(rand.NewPCG(uint64(shape), 2))
		_, x := model.Sample(rng, 4000)
		grid, err := NewGrid(x, 0.05, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		m := &Mixture{Model: model, Grid: grid}
		bound, err := m.Bound(x)
		if err != nil {
			t.Fatal(err)
		}
		deterministic, err := m.Deterministic(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 10000} {
			message, err := m.Encode(x, randomBytes(rng, size))
			if err != nil {
				t.Fatal(err)
			}
			got := float64(8 * (len(message) - size))
			t.Logf("%v, bucket of %d: %.3f bits a row, bound %.3f, deterministic %.3f", shape, size, got/4000, bound/4000, deterministic/4000)
			if math.Abs(got/bound-1) > 0.005 || got > deterministic-500 {
				t.Errorf("%v: %v bits, bound %.0f, deterministic %.0f", shape, got, bound, deterministic)
			}
		}
	}
}

// Without giving the bits back a row costs the deterministic code at least. This
// codes by hand, so it holds Encode to what it should be.
func TestBitsBackByHand(t *testing.T) {
	m, _ := twoOnALine()
	_, x := m.Model.Sample(rand.New(rand.NewPCG(1, 2)), 300)
	c, rows, err := m.ready("test", x)
	if err != nil {
		t.Fatal(err)
	}
	s := NewStack([]uint32{1, 2, 3, seed})
	kept := NewStack([]uint32{1, 2, 3, seed})
	for i := len(rows) - 1; i >= 0; i-- {
		q := c.posteriorOf(rows[i])
		z := q.Pop(s)
		own := m.Grid[0].slots(rows[i][0], m.Model.Means.At(z, 0), 1)
		s.Push(own.start, own.freq, precision)
		c.prior.Push(s, z)
		kept.Push(own.start, own.freq, precision)
		c.prior.Push(kept, z)
	}
	var bucket []byte
	for _, w := range []uint32{1, 2, 3} {
		bucket = binary.LittleEndian.AppendUint32(bucket, w)
	}
	message, err := m.Encode(x, bucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, words, err := open(message, 1); err != nil || !bytes.Equal(bytesOf(words), bytesOf(s.Words())) {
		t.Errorf("another stack, %v", err)
	}
	deterministic, _ := m.Deterministic(x)
	if got := float64(kept.Bits() - 128); got < deterministic {
		t.Errorf("keeping the bits took %v bits, the deterministic code %.0f", got, deterministic)
	}
}

// The digits, 61 pixels that vary, exact to the last grey value and within 1 % of
// the bound.
func TestBitsBackDigits(t *testing.T) {
	all := datasets.Digits().X
	var x mat.Dense
	var widths []float64
	for j := range 64 {
		if column := all.Slice(0, 1797, j, j+1); mat.Max(column) > 0 {
			var y mat.Dense
			if x.IsEmpty() {
				y.CloneFrom(column)
			} else {
				y.Augment(&x, column)
			}
			x, widths = y, append(widths, 1)
		}
	}
	model, _, err := clustering.FitGMM(rand.New(rand.NewPCG(1, 2)), &x, 10, &clustering.GMMOptions{Options: lvm.Options{Restarts: 1, MaxIter: 30}, Shape: clustering.Diagonal, Floor: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	grid, err := NewGrid(&x, widths...)
	if err != nil {
		t.Fatal(err)
	}
	m := &Mixture{Model: model, Grid: grid}
	message, err := m.Encode(&x, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := m.Decode(message)
	if err != nil || !mat.Equal(got, &x) {
		t.Fatalf("the digits did not come back: %v", err)
	}
	bound, err := m.Bound(&x)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.2f bits a digit, bound %.2f, naive %.2f", 8*float64(len(message))/1797, bound/1797, grid.Bits())
	if ratio := 8 * float64(len(message)) / bound; math.Abs(ratio-1) > 0.01 {
		t.Errorf("%d bytes, bound %.0f bits: ratio %.4f", len(message), bound, ratio)
	}
}

// A message that another implementation wrote, testdata/message.py, decodes to the
// rows it was made of, and is written here with the same bytes.
func TestMessageOfPython(t *testing.T) {
	message, err := hex.DecodeString("" +
		"28086c656374e9c4b087970c3e31a57a97abe30b62f5b6fcff6f8fff76ca095b382a1585ff01b1ffac389d982cf2015c6b8f" +
		"a8d6c0751de60c0ea8060000419cb3d5")
	if err != nil {
		t.Fatal(err)
	}
	m := &Mixture{Model: three(clustering.Full), Grid: Grid{{-10, 0.5, 41}, {-10, 0.25, 81}}}
	x, bucket, err := m.Decode(message)
	if err != nil || string(bucket) != "lecture!" {
		t.Fatalf("%q, %v", bucket, err)
	}
	for i := range 40 {
		if a, b := m.Grid[0].centre(15+7*i%13), m.Grid[1].centre(33+11*i%17); x.At(i, 0) != a || x.At(i, 1) != b {
			t.Errorf("row %d is %v, want %v and %v", i, x.RawRowView(i), a, b)
		}
	}
	if again, err := m.Encode(x, bucket); err != nil || !bytes.Equal(again, message) {
		t.Errorf("encoded to %x, %v", again, err)
	}
}

// A message that is changed in any bit, cut at any byte or made longer is refused,
// and so is one from another mixture.
func TestDecodeRefuses(t *testing.T) {
	m, x := twoOnALine()
	message, err := m.Encode(x, []byte("bucket"))
	if err != nil {
		t.Fatal(err)
	}
	refused := func(m *Mixture, message []byte) bool {
		x, bucket, err := m.Decode(message)
		var e *MessageError
		return errors.As(err, &e) && e.Try != "" && x == nil && bucket == nil
	}
	for i := range 8 * len(message) {
		b := bytes.Clone(message)
		b[i/8] ^= 1 << (i % 8)
		if !refused(m, b) {
			t.Errorf("bit %d flipped: not refused", i)
		}
	}
	for i := range message {
		if !refused(m, message[:i]) || !refused(m, message[i+1:]) {
			t.Errorf("cut at %d: not refused", i)
		}
	}
	if !refused(m, append(bytes.Clone(message), 0)) || !refused(m, nil) {
		t.Error("not refused")
	}
	other, _ := twoOnALine()
	other.Model.Means.Set(0, 0, -0.4999)
	if !refused(other, message) {
		t.Error("another mean: not refused")
	}
	if finer := (&Mixture{Model: m.Model, Grid: Grid{{-8, 0.01, 2002}}}); !refused(finer, message) {
		t.Error("another grid: not refused")
	}
	// Heads that lie, with a check sum that is right. (7 and 7 would be the truth about
	// a bucket that ends with a zero.)
	for _, head := range [][]uint64{{0, 0}, {1 << 60, 0}, {MaxValues + 1, 0}, {7, 1 << 62}, {7, 9}, {6, 6}} {
		b := binary.AppendUvarint(binary.AppendUvarint(nil, head[0]), head[1])
		b = append(b, message[2:len(message)-4]...)
		if b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)); !refused(m, b) {
			t.Errorf("head %d: not refused", head)
		}
	}
	if _, _, err := (&Mixture{}).Decode(message); err == nil {
		t.Error("no model: not refused")
	}
}

// endless is a matrix of more rows than a message may have.
type endless struct{}

func (endless) Dims() (r, c int)    { return 1 << 40, 1 }
func (endless) At(_, _ int) float64 { return 0 }
func (endless) T() mat.Matrix       { return mat.Transpose{Matrix: endless{}} }

func TestEncodeRefuses(t *testing.T) {
	m, x := twoOnALine()
	var data *lvm.DataError
	if _, err := m.Encode(endless{}, nil); !errors.As(err, &data) {
		t.Errorf("too many rows: %v", err)
	}
	x.Set(3, 0, -8.0051)
	if _, err := m.Encode(x, nil); !errors.As(err, &data) || data.Row != 3 || data.Col != 0 {
		t.Errorf("outside of the grid: %v", err)
	}
	x.Set(3, 0, math.Inf(1))
	if _, err := m.Encode(x, nil); !errors.As(err, &data) || data.Row != 3 {
		t.Errorf("infinite: %v", err)
	}
	m.Grid = nil
	var shape *lvm.ShapeError
	if _, err := m.Encode(x, nil); !errors.As(err, &shape) {
		t.Errorf("no grid: %v", err)
	}
}

// Any words decode to something or are refused: no panic, no end that does not come.
func FuzzDecode(f *testing.F) {
	m, x := twoOnALine()
	message, err := m.Encode(x, []byte("bucket"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(message, uint8(7), uint8(6))
	full := &Mixture{Model: three(clustering.Full), Grid: Grid{{-3, 0.5, 20}, {-3, 1e-3, 9000}}}
	f.Fuzz(func(t *testing.T, body []byte, rows, length uint8) {
		for _, m := range []*Mixture{m, full} {
			checkDecode(t, m, body)
			b := append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(rows)), uint64(length)), body...)
			checkDecode(t, m, binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
		}
	})
}

// checkDecode: what is decoded is on the grid and encodes to the same message.
func checkDecode(t *testing.T, m *Mixture, message []byte) {
	x, bucket, err := m.Decode(message)
	if err != nil {
		var e *MessageError
		if !errors.As(err, &e) {
			t.Fatalf("not a MessageError: %v", err)
		}
		return
	}
	if again, err := m.Encode(x, bucket); err != nil || !bytes.Equal(again, message) {
		t.Fatalf("%x became %x, %v", message, again, err)
	}
}

func BenchmarkEncode(b *testing.B) {
	m, x, _ := benchmark(b)
	for b.Loop() {
		if _, err := m.Encode(x, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(10000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkDecode(b *testing.B) {
	m, _, message := benchmark(b)
	for b.Loop() {
		if _, _, err := m.Decode(message); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(10000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func benchmark(b *testing.B) (*Mixture, *mat.Dense, []byte) {
	_, x := three(clustering.Full).Sample(rand.New(rand.NewPCG(1, 2)), 10000)
	grid, err := NewGrid(x, 0.01, 0.01)
	if err != nil {
		b.Fatal(err)
	}
	m := &Mixture{Model: three(clustering.Full), Grid: grid}
	message, err := m.Encode(x, nil)
	if err != nil {
		b.Fatal(err)
	}
	return m, x, message
}
