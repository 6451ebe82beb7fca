package coding

import (
	"fmt"
	"math/bits"
)

// MaxPrecision is the largest precision of a symbol on a Stack, in bits.
const MaxPrecision = 31

// Stack is an entropy coder: a stack of symbols of which each takes no more
// room than it is worth, within rounding. It is one large whole number X. A
// symbol of probability f/2^r owns f of the 2^r remainders, from start on, and
//
//	push:  X ← ⌊X/f⌋·2^r + start + X mod f        X grows by the factor 2^r/f
//	pop:   slot = X mod 2^r lies in [start, start+f);   X ← ⌊X/2^r⌋·f + slot − start
//
// undo each other exactly, in either order. So a Stack never runs empty: to pop
// from random bits is to draw a symbol with its probability, and to push that
// symbol gives those bits back.
//
// Only the top of X, a state of 64 bits, is computed with; it gives words of 32
// bits to a list below and takes them back. A symbol costs r − log₂ f bits up to an
// error of about 2^r/X, which with r ≤ 24 is below a thousandth of a bit on average.
//
// The zero value is X = 0. Cost: O(1) a symbol.
//
// Source: Duda (2009), Asymmetric numeral systems, the range variant (rANS).
type Stack struct {
	state uint64   // at least 2³² if there are words below
	words []uint32 // the last is the next below the state
}

// NewStack returns the stack that holds the given words, the last on top.
// The last must not be zero if there are others below it; Words never returns
// such.
func NewStack(words []uint32) *Stack {
	s := &Stack{}
	n := len(words)
	if n > 1 && words[n-1] == 0 {
		panic("coding: NewStack with a zero on top")
	}
	for taken := 0; n > 0 && taken < 2; taken++ {
		n--
		s.state = s.state<<32 | uint64(words[n])
	}
	s.words = append(s.words, words[:n]...)
	return s
}

// Words returns all that is on the stack as words of 32 bits, the last on top.
func (s *Stack) Words() []uint32 {
	words := append([]uint32(nil), s.words...)
	words = append(words, uint32(s.state))
	if high := uint32(s.state >> 32); high > 0 {
		words = append(words, high)
	}
	return words
}

// Bits returns the length of X in binary: how much room the stack takes.
func (s *Stack) Bits() int { return 32*len(s.words) + bits.Len64(s.state) }

// Push puts a symbol on top that owns the slots from start to start+freq−1 of
// 2^precision. It panics if there are no such slots, or freq is zero.
func (s *Stack) Push(start, freq uint32, precision int) {
	checkSlots("Push", start, freq, precision)
	if s.state>>(64-precision) >= uint64(freq) { // it would overflow
		s.words = append(s.words, uint32(s.state))
		s.state >>= 32
	}
	f := uint64(freq)
	s.state = s.state/f<<precision + s.state%f + uint64(start)
}

// Peek returns the slot that the symbol on top owns, if it was pushed with
// this precision.
func (s *Stack) Peek(precision int) (slot uint32) {
	checkSlots("Peek", 0, 1, precision)
	return uint32(s.state & (1<<precision - 1))
}

// Pop takes off the symbol on top, which owns the slots from start to
// start+freq−1 of 2^precision. It panics if the slot that Peek returns is not
// among them.
func (s *Stack) Pop(start, freq uint32, precision int) {
	checkSlots("Pop", start, freq, precision)
	slot := s.Peek(precision)
	if slot-start >= freq {
		panic(fmt.Sprintf("coding: Stack.Pop of the slots %d to %d, but %d is on top", start, start+freq-1, slot))
	}
	s.state = s.state>>precision*uint64(freq) + uint64(slot-start)
	if n := len(s.words); n > 0 && s.state < 1<<32 {
		s.state = s.state<<32 | uint64(s.words[n-1])
		s.words = s.words[:n-1]
	}
}

func checkSlots(name string, start, freq uint32, precision int) {
	if precision < 0 || precision > MaxPrecision {
		panic(fmt.Sprintf("coding: Stack.%s with precision %d, want 0 to %d", name, precision, MaxPrecision))
	}
	if freq == 0 || uint64(start)+uint64(freq) > 1<<precision {
		panic(fmt.Sprintf("coding: Stack.%s of %d slots from %d on, of %d", name, freq, start, uint64(1)<<precision))
	}
}
