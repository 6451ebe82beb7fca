// Package kernels holds the dense arithmetic that the models wait for, at the speed of
// the processor, without cgo, and with the same bits on every machine.
//
//	gemm*, gemv*, syrk*                  products, also by a vector, and Gram matrices
//	trsm*, chol*, eigen*                 solves, factors, eigenvectors
//	vec*                                 exp, log, tanh …, sums, log-sum-exp of rows
//	nearest*, moves*, screen*, columns*  distances to centres, sums of rows that move; blocks by columns
//	matrix.go, cpu*.go, parallel.go      views, the choice of path, the processors
//
// Models reach it through package num. The operands are slices and views of them; none
// is kept, and none is changed but the destination.
//
// # Paths
//
// Each kernel, the innermost loops, exists up to three times: in AVX-512, in AVX2 with
// fused multiply-add, and in Go for any other machine. The variable active says which of
// them runs; it is set once, from the processor. The assembly is written by the programs
// under gen, which read better than what they write; go generate runs them, and a test
// checks that the committed files are what they write.
//
// # Blocks
//
// A product C ← αAB + βC is limited by memory unless each number that is loaded is used
// many times. So the work is cut three times:
//
//   - tile: 6×8 elements of C (12×16 with AVX-512, twice as wide in float32) stay in
//     registers while the inner index runs; each step loads one row of 8 of B and 6
//     single elements of A for 48 multiply-adds;
//   - block: the inner index runs over 256 at a time, so that a strip of B, 256×8, stays
//     in the first-level cache while tiles go down A, and 120 rows of A in the second;
//   - slab: about a million elements of B at a time are copied into strips, which then
//     lie in memory in the order in which tiles read them. A is read in place, unless its
//     rows lie in pieces and are used often; B too when it is small or used little. That
//     is why small and skinny products pay for no copies.
//
// Rectangles of C are the tasks that processors share. When C is small and the inner
// index long, as for Gram matrices, tasks are blocks of the inner index instead; each
// sums into its own buffer and adds that to C when its turn has come.
//
// Triangular solves and Cholesky factors halve their triangle until 32 rows are left, and
// leave the rest to the product. The eigen-solver does the same to reflections and to the
// merging of halves; see Eigen.
//
// # The bit contract
//
// Floating-point addition is not associative, so the order of additions is part of what
// a function promises. Element (i, j) of a product is
//
//	βc_ij + αs₀ + αs₁ + …    s_b = Σ a_il b_lj over l = 256b, …, 256b+255
//
// where s_b starts at zero and takes one fused multiply-add per l, in order, and each αs_b
// is added by one more, in order. Nothing else decides the bits: not the path, the shape
// of the other operands, a transpose, the strides, copies made on the way, GOMAXPROCS, or
// which processor did what. Vectors of any width agree because lanes are different
// elements, never parts of one sum; where a single sum has to have lanes (Dot, Sum, Gemv,
// the symmetric product in Eigen, SqDist), their number and the tree that adds them up are
// fixed. Sizes of tiles, strips, slabs and tasks may change; block, leaf, panel and
// smallTridiagonal may not without changing results.
//
// Scalar code says which products are rounded: fma(x, y, z) or T(x*y) + z, never x*y + z,
// which compilers fuse on some machines. Two things are outside the contract: the sign
// and payload of a NaN (that there is one is inside), and Screen, whose callers allow for
// its error.
//
// Tests force every path that the processor has and several GOMAXPROCS, and compare with
// plain loops bit by bit; checksums pin the results from one release to the next.
package kernels
