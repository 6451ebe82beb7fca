package coding_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
	"github.com/latent-lessons/latent/lvm/clustering"
	"github.com/latent-lessons/latent/lvm/coding"
)

// Old Faithful in seconds and minutes, sent and received.
func ExampleMixture() {
	x := datasets.OldFaithful().X
	x.Apply(func(_, j int, v float64) float64 { return math.Round([]float64{60, 1}[j] * v) }, x)
	model, _, err := clustering.FitGMM(rand.New(rand.NewPCG(1, 2)), x, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	grid, err := coding.NewGrid(x, 1, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := &coding.Mixture{Model: model, Grid: grid}

	bound, _ := m.Bound(x)
	message, err := m.Encode(x, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	received, _, err := m.Decode(message)
	fmt.Println("exact:", mat.Equal(received, x), err)
	fmt.Printf("naive %.0f bytes, bound %.0f, sent %d\n", 272*grid.Bits()/8, bound/8, len(message))
	// Output:
	// exact: true <nil>
	// naive 458 bytes, bound 403, sent 415
}

// Eight symbols on a stack take the room that they are worth, and come back.
func ExampleStack() {
	table, err := coding.NewTable([]float64{0.5, 0.25, 0.25}, 16)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := coding.NewStack([]uint32{1 << 20})
	before := s.Bits()
	for _, symbol := range []int{0, 1, 0, 2, 0, 0, 1, 2} {
		table.Push(s, symbol)
	}
	fmt.Println(s.Bits()-before, "bits")
	for range 8 {
		fmt.Print(table.Pop(s), " ")
	}
	// Output:
	// 12 bits
	// 2 1 0 0 2 0 1 0
}
