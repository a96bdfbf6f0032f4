//go:build unix

package sqlite

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var r unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
