package show

import (
	"encoding/gob"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

func init() { gob.Register(map[string]any{}) } // the metadata of one MIME type

var kernel struct {
	sync.Mutex
	tried bool
	pipe  *os.File // held open so that the kernel sees no end of file; nil = no kernel
}

// How long to wait for a kernel that has just started this program to open its end
// of the pipe, and for one that is busy to take a display. Tests wait less.
var (
	openPatience = 10 * time.Second
	sendPatience = 60 * time.Second
)

// send displays d and reports whether there is a kernel to do so. It never waits for
// a kernel that is gone: gonbui alone would.
func send(d protocol.DisplayData) bool {
	kernel.Lock()
	defer kernel.Unlock()
	if !connected() {
		return false
	}
	drainStdout()
	done := make(chan struct{})
	go func() {
		gonbui.SendData(&d)
		gonbui.Sync()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(sendPatience):
		kernel.pipe = nil // gone, or stuck: do not try again
	}
	return true
}

// connected opens the kernel's pipe, the first time it is asked, without waiting for
// a reader: a named pipe that nobody reads is left over from a kernel that died.
func connected() bool {
	if kernel.tried || !gonbui.IsNotebook {
		return kernel.pipe != nil
	}
	kernel.tried = true
	path := os.Getenv(protocol.GONB_PIPE_ENV)
	for start := time.Now(); time.Since(start) < openPatience; time.Sleep(5 * time.Millisecond) {
		pipe, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			kernel.pipe = pipe
			break
		}
		if !errors.Is(err, syscall.ENXIO) {
			break
		}
	}
	return kernel.pipe != nil
}
