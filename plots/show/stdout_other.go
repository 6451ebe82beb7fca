//go:build !linux

package show

import "time"

// drainStdout gives the kernel time to publish what the program printed before a
// display, which reaches it through another pipe.
func drainStdout() { time.Sleep(20 * time.Millisecond) }
