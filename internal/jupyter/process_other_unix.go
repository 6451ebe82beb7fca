//go:build unix && !linux

package jupyter

import "syscall"

func endWithParent(*syscall.SysProcAttr) {} // only Linux can do that
