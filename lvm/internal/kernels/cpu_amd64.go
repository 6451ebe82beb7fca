package kernels

import "golang.org/x/sys/cpu"

// best returns the fastest path that this processor and operating system support.
func best() path {
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA {
		return portable
	}
	if x.HasAVX512F && x.HasAVX512VL && x.HasAVX512DQ && x.HasAVX512BW {
		return avx512
	}
	return avx2
}
