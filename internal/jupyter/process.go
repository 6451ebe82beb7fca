package jupyter

import (
	"os/exec"
	"runtime"
	"time"
)

// A Process is a child with a process group of its own: a Ctrl-C in the
// terminal does not reach it, Kill reaches everything that it started.
type Process struct {
	Exited <-chan struct{} // closed when the process has ended
	pid    int
}

// StartProcess starts cmd. On Linux the child is told to end if this process
// is killed before it can end the child itself.
func StartProcess(cmd *exec.Cmd) (*Process, error) {
	ownGroup(cmd)
	cmd.WaitDelay = time.Second // a grandchild may hold the output open
	exited := make(chan struct{})
	started := make(chan error)
	// Linux counts the thread that started the child as its parent; this one
	// stays as long as the child.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return &Process{Exited: exited, pid: cmd.Process.Pid}, nil
}

// Stop asks the process to end and kills it with its group if it has not
// done so within the grace.
func (p *Process) Stop(grace time.Duration) {
	terminate(p.pid)
	select {
	case <-p.Exited:
	case <-time.After(grace):
	}
	p.Kill()
}

// Kill ends the process and its group at once.
func (p *Process) Kill() {
	killGroup(p.pid)
	<-p.Exited
}
