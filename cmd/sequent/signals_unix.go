//go:build !windows

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// stopSignals are those that ask the program to end. The terminal that goes
// away is one, a server without a client has nothing to do, unless whoever
// started the program said that it is none, as nohup does.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// survivePipes lets a write to a pipe that nobody reads fail, instead of ending
// the program on the spot.
func survivePipes() { signal.Ignore(syscall.SIGPIPE) }
