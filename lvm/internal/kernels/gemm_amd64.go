package kernels

//go:generate go run ./gen/gemm -out gemm_amd64.s -stubs gemm_stubs_amd64.go
//go:generate go run ./gen/pack -out gemm_pack_amd64.s -stubs gemm_pack_stubs_amd64.go
//go:generate go run ./gen/trsm -out trsm_amd64.s -stubs trsm_stubs_amd64.go

var (
	kernels64 = [numPaths]*kernel[float64]{
		&portable64,
		{6, 8, 4, product64AVX2, packRows64, packColumns64, addRow64, substitute64},
		{12, 16, 4, product64AVX512, packRows64, packColumns64, addRow64, substitute64},
	}
	kernels32 = [numPaths]*kernel[float32]{
		&portable32,
		{6, 16, 8, product32AVX2, packRows32, packColumns32, addRow32, substitute32},
		{12, 32, 8, product32AVX512, packRows32, packColumns32, addRow32, substitute32},
	}
)
