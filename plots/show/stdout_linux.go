package show

import (
	"time"

	"golang.org/x/sys/unix"
)

// drainStdout waits until the kernel has read what the program printed. Prints and
// displays reach it through different pipes, and the kernel publishes each as it
// comes, so without this a display can overtake the line printed before it.
func drainStdout() {
	const stdout = 1
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if n, err := unix.IoctlGetInt(stdout, unix.TIOCINQ); err != nil || n == 0 {
			break
		}
	}
	time.Sleep(5 * time.Millisecond) // from reading to publishing
}
