package kernels

// A path names one implementation of every kernel. All paths give the same bits;
// they differ in speed alone.
type path int

const (
	portable path = iota // Go and math.FMA, any machine
	avx2                 // 256-bit vectors with FMA
	avx512               // 512-bit vectors

	numPaths
)

func (p path) String() string {
	return [numPaths]string{"portable", "avx2", "avx512"}[p]
}

// active is the path in use: the best that the processor offers. It is set once,
// before any kernel runs; only tests change it. GODEBUG=cpu.avx2=off (see
// golang.org/x/sys/cpu) takes a processor down to the portable path.
var active = best()
