package coding

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// symbol is what one operation of a test works with.
type symbol struct {
	start, freq uint32
	precision   int
}

// anySymbol draws slots of all sizes, also all of them, and only one.
func anySymbol(rng *rand.Rand) symbol {
	precision := rng.IntN(MaxPrecision + 1)
	total := uint64(1) << precision
	freq := total >> rng.IntN(precision+1)
	if rng.IntN(2) == 0 {
		freq = 1 + rng.Uint64N(freq)
	}
	return symbol{uint32(rng.Uint64N(total - freq + 1)), uint32(freq), precision}
}

// As long as X fits into the state, the stack is the whole number of its formula.
func TestStackIsTheFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		s, x := &Stack{}, new(big.Int)
		for {
			y := anySymbol(rng)
			freq, rest, next := big.NewInt(int64(y.freq)), new(big.Int), new(big.Int)
			next.DivMod(x, freq, rest)
			next.Lsh(next, uint(y.precision)).Add(next, rest).Add(next, big.NewInt(int64(y.start)))
			if next.BitLen() > 64 {
				break
			}
			s.Push(y.start, y.freq, y.precision)
			if x = next; !x.IsUint64() || x.Uint64() != s.state || len(s.words) != 0 || s.Bits() != x.BitLen() {
				t.Fatalf("state %d and %d words, want %v", s.state, len(s.words), x)
			}
			if s.state > 1<<40 && y.precision == 0 {
				break // it may never grow
			}
		}
	}
}

// Pops after pushes bring back what was there, and so do pushes after pops, from
// every stack, the empty one included.
func TestStackIsReversible(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		begin := make([]uint32, rng.IntN(6))
		for i := range begin {
			begin[i] = 1 + rng.Uint32N(math.MaxUint32)
		}
		s := NewStack(begin)
		before := s.Words()
		type done struct {
			symbol
			pushed bool
		}
		var log []done
		for range rng.IntN(40) {
			y, push := anySymbol(rng), rng.IntN(2) == 0
			if push {
				s.Push(y.start, y.freq, y.precision)
			} else {
				slot := s.Peek(y.precision) // some symbol that owns it
				y.start = min(slot, uint32(1<<y.precision-uint64(y.freq)))
				y.freq = max(y.freq, slot-y.start+1)
				s.Pop(y.start, y.freq, y.precision)
			}
			if len(s.words) > 0 && s.state < 1<<32 {
				t.Fatalf("state %#x above %d words", s.state, len(s.words))
			}
			log = append(log, done{y, push})
			if s = NewStack(s.Words()); rng.IntN(3) == 0 {
				s.words = slices.Clip(s.words) // words written and read come to the same
			}
		}
		for _, d := range slices.Backward(log) {
			if !d.pushed {
				s.Push(d.start, d.freq, d.precision)
			} else if slot := s.Peek(d.precision); slot-d.start >= d.freq {
				t.Fatalf("slot %d is not of %+v", slot, d)
			} else {
				s.Pop(d.start, d.freq, d.precision)
			}
		}
		if after := s.Words(); !slices.Equal(before, after) {
			t.Fatalf("%x became %x", before, after)
		}
	}
}

// A thousand draws from a table take the bits that the table says, to a
// thousandth of a bit each: rounding changes log₂ X by 2^r/X or less, X ≥ 2³², which
// for X spread evenly over its octaves is 2^(r−32)/32 on average. The first push on
// the empty stack may waste r bits.
func TestStackLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, precision := range []int{1, 8, 16, 24} {
		for range 20 {
			weights := make([]float64, 1+rng.IntN(min(1<<precision, 300)))
			for i := range weights {
				weights[i] = math.Exp(3 * rng.NormFloat64())
			}
			table, err := NewTable(weights, precision)
			if err != nil {
				t.Fatal(err)
			}
			const n = 1000
			var worth float64
			var sent []int
			s := &Stack{}
			for range n {
				slot := rng.Uint32N(1 << precision)
				y, _ := slices.BinarySearch(table.Starts, slot+1)
				sent = append(sent, y-1)
				worth += table.Bits(y - 1)
				table.Push(s, y-1)
			}
			if got := float64(s.Bits()); math.Abs(got-worth) > 0.001*n+float64(precision)+1 {
				t.Errorf("precision %d, %d symbols: %v bits, worth %.1f", precision, len(weights), got, worth)
			}
			for _, want := range slices.Backward(sent) {
				if got := table.Pop(s); got != want {
					t.Fatalf("symbol %d came back as %d", want, got)
				}
			}
			if words := s.Words(); !slices.Equal(words, []uint32{0}) {
				t.Fatalf("%x is left", words)
			}
		}
	}
}

// To pop from random bits is to draw: the frequencies are those of the table.
func TestStackDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	words := make([]uint32, 6000)
	for i := range words {
		words[i] = 1 + rng.Uint32N(math.MaxUint32)
	}
	s := NewStack(words)
	table, err := NewTable([]float64{1, 2, 5}, 16)
	if err != nil {
		t.Fatal(err)
	}
	const n = 100000
	counts := make([]float64, 3)
	for range n {
		counts[table.Pop(s)]++
	}
	for i, p := range []float64{1. / 8, 2. / 8, 5. / 8} {
		if se := math.Sqrt(p * (1 - p) / n); math.Abs(counts[i]/n-p) > 4*se {
			t.Errorf("symbol %d: frequency %.4f, want %.4f ± %.4f", i, counts[i]/n, p, se)
		}
	}
}

func TestStackPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"no slots":               func() { new(Stack).Push(0, 0, 8) },
		"slots beyond the total": func() { new(Stack).Push(200, 57, 8) },
		"precision 32":           func() { new(Stack).Push(0, 1, 32) },
		"precision −1":           func() { new(Stack).Peek(-1) },
		"another symbol":         func() { NewStack([]uint32{77}).Pop(78, 3, 8) },
		"zero on top":            func() { NewStack([]uint32{1, 0}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
