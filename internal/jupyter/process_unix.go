//go:build unix

package jupyter

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the process into a group of its own, so that a Ctrl-C in the
// terminal does not reach it and killGroup reaches everything it started.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

func killGroup(pid int) {
	syscall.Kill(-pid, syscall.SIGKILL)
}
