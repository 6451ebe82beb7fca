//go:build unix

package jupyter

import (
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

func terminate(pid int) { syscall.Kill(pid, syscall.SIGTERM) }

func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
