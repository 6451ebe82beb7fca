package coding

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/lvm"
)

// MaxValues is the largest number of values, rows times columns, of one message.
const MaxValues = 1 << 24

// seed lies at the bottom of every stack: 32 arbitrary bits for the first draw,
// where there is no bucket, and a mark that a receiver must come back to.
const seed = 0x9E3779B9

// MessageError reports a message that cannot be decoded.
type MessageError struct {
	Problem string // what is wrong
	Try     string // what to do about it
}

// Error says what is wrong and what to try.
func (e *MessageError) Error() string {
	return "coding.Mixture.Decode: " + e.Problem + "; try " + e.Try
}

// Encode returns a message from which Decode gets back the rows, rounded to the
// grid, and the bucket. The bucket is other data that has to be sent too and that
// looks random, such as a compressed file; it may be nil. On a stack that begins
// with the bucket,
//
//	pop   z ~ q(z | x)     draws a component with bits of the stack
//	push  x | z
//	push  z ~ π
//
// for every row. The receiver pops z and x, and pushes the same z by the same q(z|x):
// the bits of the draw are back, and at the end so is the bucket. A row costs
// log₂ q − log₂ π_z − log₂ P(x|z), which for the posterior q is −log₂ p(x) whatever z is.
// The bits of the draws come from the bucket first, then from the rows already on
// the stack.
//
// All of the message is paid for: 8·(len(message) − len(bucket)) bits are the rows,
// 32 bits at the bottom of the stack, a check sum of 32, and a head of 2 to 9 bytes
// with the numbers of rows and bytes; whole words add 32 at most.
//
// Data outside of the grid, not finite, or more than MaxValues, is a *lvm.DataError.
// Cost: O(n·k·d²).
//
// Source: Townsend, Bird and Barber (2019).
func (m *Mixture) Encode(x mat.Matrix, bucket []byte) (message []byte, err error) {
	const op = "coding.Mixture.Encode"
	if n, d := x.Dims(); n > MaxValues/max(d, 1) {
		return nil, &lvm.DataError{Op: op, Row: -1, Col: -1, Problem: fmt.Sprintf("%d rows of %d columns are more than %d values", n, d, MaxValues), Try: "several messages"}
	}
	c, rows, err := m.ready(op, x)
	if err != nil {
		return nil, err
	}
	s := NewStack(append(wordsOf(bucket), seed))
	for i := len(rows) - 1; i >= 0; i-- { // what comes last is decoded first
		z := c.posteriorOf(rows[i]).Pop(s)
		c.push(s, z, rows[i])
		c.prior.Push(s, z)
	}
	message = binary.AppendUvarint(nil, uint64(len(rows)))
	message = binary.AppendUvarint(message, uint64(len(bucket)))
	for _, w := range s.Words() {
		message = binary.LittleEndian.AppendUint32(message, w)
	}
	return binary.LittleEndian.AppendUint32(message, crc32.ChecksumIEEE(message)), nil
}

// Decode returns the rows, as centres of bins, and the bucket of a message. A
// message that is damaged or cut short, or comes from another Mixture, is a
// *MessageError: the check sum must be right, and in the end nothing may be left on
// the stack but what Encode began with.
//
// Cost: O(n·d·(k·d + log Bins)).
func (m *Mixture) Decode(message []byte) (x *mat.Dense, bucket []byte, err error) {
	c, err := m.coder("coding.Mixture.Decode")
	if err != nil {
		return nil, nil, err
	}
	n, length, words, err := open(message, len(c.grid))
	if err != nil {
		return nil, nil, err
	}
	s := NewStack(words)
	d := len(c.grid)
	x, row := mat.NewDense(n, d, nil), make([]int, d)
	for i := range n {
		z := c.prior.Pop(s)
		c.pop(s, z, row)
		c.posteriorOf(row).Push(s, z)
		for j, b := range row {
			x.Set(i, j, c.grid[j].centre(b))
		}
	}
	rest := s.Words()
	last := len(rest) - 1
	if bucket = bytesOf(rest[:last]); rest[last] != seed || len(bucket) != (length+3)/4*4 || !zero(bucket[length:]) {
		return nil, nil, &MessageError{Problem: "the stack does not end as it began", Try: "the Mixture that encoded it, on a processor of the same family"}
	}
	return x, bucket[:length], nil
}

// open checks a message and takes it apart.
func open(message []byte, d int) (n, length int, words []uint32, err error) {
	body := len(message) - 4
	if body < 0 || crc32.ChecksumIEEE(message[:body]) != binary.LittleEndian.Uint32(message[body:]) {
		return 0, 0, nil, &MessageError{Problem: fmt.Sprintf("%d bytes with a wrong check sum", len(message)), Try: "fetching the message again"}
	}
	rest := message[:body]
	rows, size := binary.Uvarint(rest)
	rest = rest[max(size, 0):]
	other, size2 := binary.Uvarint(rest)
	rest = rest[max(size2, 0):]
	if size <= 0 || size2 <= 0 || rows < 1 || rows > uint64(MaxValues/d) || other > 8*uint64(len(message)) || len(rest) == 0 || len(rest)%4 != 0 {
		return 0, 0, nil, &MessageError{Problem: "the head is not that of a message", Try: "a message that Encode wrote"}
	}
	words = wordsOf(rest)
	if last := len(words) - 1; last > 0 && words[last] == 0 {
		return 0, 0, nil, &MessageError{Problem: "there is a zero on top of the stack", Try: "a message that Encode wrote"}
	}
	return int(rows), int(other), words, nil
}

// posteriorOf returns q(z | x) ∝ π_z P(x | z), with the probabilities that the
// bins have on the stack: these are never zero.
func (c *coder) posteriorOf(row []int) *Table {
	for k := range c.score {
		c.score[k] = c.logWeight[k]
		c.walk(k, row, func(j int, mean, sd float64) {
			c.score[k] += math.Log(float64(c.grid[j].slots(row[j], mean, sd).freq))
		})
	}
	top := floats.Max(c.score)
	for k, s := range c.score {
		c.score[k] = math.Exp(s - top)
	}
	c.posterior.set(c.score, floats.Sum(c.score))
	return c.posterior
}

// push puts a row on the stack, the first column on top.
func (c *coder) push(s *Stack, z int, row []int) {
	c.walk(z, row, func(j int, mean, sd float64) { c.slots[j] = c.grid[j].slots(row[j], mean, sd) })
	for j := len(row) - 1; j >= 0; j-- {
		s.Push(c.slots[j].start, c.slots[j].freq, precision)
	}
}

// pop takes a row off the stack.
func (c *coder) pop(s *Stack, z int, row []int) {
	c.walk(z, row, func(j int, mean, sd float64) {
		row[j] = c.grid[j].find(s.Peek(precision), mean, sd)
		own := c.grid[j].slots(row[j], mean, sd)
		s.Pop(own.start, own.freq, precision)
	})
}

// wordsOf packs bytes into words, the last filled up with zeros.
func wordsOf(b []byte) []uint32 {
	words := make([]uint32, (len(b)+3)/4)
	for i, v := range b {
		words[i/4] |= uint32(v) << (8 * (i % 4))
	}
	return words
}

func bytesOf(words []uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func zero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
