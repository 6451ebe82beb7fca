package coding

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-lessons/latent/lvm"
)

// Every symbol owns a slot, all slots are owned, and no symbol costs more than it
// is allowed to.
func TestNewTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		precision := rng.IntN(MaxPrecision + 1)
		n := 1 + rng.IntN(min(1<<precision, 100))
		weights, sum := make([]float64, n), 0.0
		for i := range weights {
			if rng.IntN(5) > 0 || i == 0 {
				weights[i] = math.Exp(20 * rng.NormFloat64())
			}
			sum += weights[i]
		}
		table, err := NewTable(weights, precision)
		if err != nil {
			t.Fatal(err)
		}
		allowed := -math.Log2(1 - float64(n)/math.Exp2(float64(precision)))
		var total uint64
		for i, w := range weights {
			if table.Starts[i+1] <= table.Starts[i] {
				t.Fatalf("symbol %d of %d owns no slot", i, n)
			}
			total += uint64(table.Starts[i+1] - table.Starts[i])
			if over := table.Bits(i) + math.Log2(w/sum); over > allowed+1e-6 {
				t.Errorf("precision %d: a symbol of probability %v costs %v bits more, allowed are %v", precision, w/sum, over, allowed)
			}
		}
		if total != 1<<precision || table.Starts[0] != 0 {
			t.Errorf("%d slots from %d on, want %d", total, table.Starts[0], uint64(1)<<precision)
		}
	}
}

// One symbol takes no room; as many symbols as slots get one each.
func TestTableEnds(t *testing.T) {
	one, err := NewTable([]float64{0.3}, 12)
	if err != nil {
		t.Fatal(err)
	}
	s := NewStack([]uint32{5, 6})
	for range 100 {
		one.Push(s, 0)
	}
	if s.state != 6<<32+5 || len(s.words) != 0 || one.Bits(0) != 0 {
		t.Errorf("a certain symbol takes room: %+v", s)
	}
	even, err := NewTable([]float64{1, 1e9, 0, 7}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if even.Bits(i) != 2 {
			t.Errorf("symbol %d of 4 in 4 slots costs %v bits", i, even.Bits(i))
		}
	}
}

func TestNewTableRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		weights   []float64
		precision int
		row       int
	}{
		{nil, 8, -1}, {[]float64{0, 0}, 8, -1}, {[]float64{1, -1}, 8, 1}, {[]float64{nan}, 8, 0}, {[]float64{1, 2, inf}, 8, 2},
		{[]float64{1e308, 1e308}, 8, -1}, {[]float64{1}, -1, -1}, {[]float64{1}, 32, -1}, {[]float64{1, 1, 1}, 1, -1},
	} {
		_, err := NewTable(c.weights, c.precision)
		var data *lvm.DataError
		if !errors.As(err, &data) || data.Row != c.row {
			t.Errorf("NewTable(%v, %d): %v", c.weights, c.precision, err)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	weights := make([]float64, 256)
	for i := range weights {
		weights[i] = math.Exp(-0.02 * float64(i))
	}
	table, err := NewTable(weights, 16)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s := &Stack{}
		for i := range 100000 {
			table.Push(s, i%256)
		}
		for range 100000 {
			table.Pop(s)
		}
	}
	b.ReportMetric(200000*float64(b.N)/b.Elapsed().Seconds(), "symbols/s")
}
