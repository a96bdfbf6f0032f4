//go:build !windows

package command

import (
	"os"
	"os/signal"
	"syscall"
)

// stopSignals returns the signals that end the program. SIGHUP is one of them, so
// that a server ends with its terminal, unless it was ignored at the start, as
// nohup does.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// survivePipes makes a write to a closed pipe return an error instead of killing
// the program.
func survivePipes() { signal.Ignore(syscall.SIGPIPE) }

// ignoreHangup has SIGHUP, which rotation of logs and systemd send, not end the program.
func ignoreHangup() { signal.Ignore(syscall.SIGHUP) }

// canStyle reports whether a terminal supports escape sequences. All do, except
// those with TERM=dumb.
func canStyle(*os.File) bool { return os.Getenv("TERM") != "dumb" }
