package kernels

//go:generate go run ./gen/vec -out vec_amd64.s -stubs vec_stubs_amd64.go

var vectors64 = [numPaths]*vectorKernels[float64]{
	portable: portableVectors[float64](),
	avx2: {
		exp: exp64AVX2, log: log64AVX2,
		sigmoid: sigmoid64AVX2, tanh: tanh64AVX2, softplus: softplus64AVX2,
		sum: sum64AVX2, dot: dot64AVX2,
		rows: logSumExpRows64AVX2, columns: logSumExpColumns64AVX2, lanes: 4,
	},
	avx512: {
		exp: exp64AVX512, log: log64AVX512,
		sigmoid: sigmoid64AVX512, tanh: tanh64AVX512, softplus: softplus64AVX512,
		sum: sum64AVX512, dot: dot64AVX512,
		rows: logSumExpRows64AVX512, columns: logSumExpColumns64AVX512, lanes: 8,
	},
}

var vectors32 = [numPaths]*vectorKernels[float32]{
	portable: portableVectors[float32](),
	avx2: {
		exp: exp32AVX2, log: log32AVX2,
		sigmoid: sigmoid32AVX2, tanh: tanh32AVX2, softplus: softplus32AVX2,
		sum: sum32AVX2, dot: dot32AVX2,
		rows: logSumExpRows32AVX2, columns: logSumExpColumns32AVX2, lanes: 8,
	},
	avx512: {
		exp: exp32AVX512, log: log32AVX512,
		sigmoid: sigmoid32AVX512, tanh: tanh32AVX512, softplus: softplus32AVX512,
		sum: sum32AVX512, dot: dot32AVX512,
		rows: logSumExpRows32AVX512, columns: logSumExpColumns32AVX512, lanes: 16,
	},
}
