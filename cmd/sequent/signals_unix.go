//go:build !windows

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// stopSignals are those that ask the program to end. The terminal that goes
// away is one: a server without a client has nothing to do.
func stopSignals() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// survivePipes lets a write to a pipe that nobody reads fail, instead of ending
// the program on the spot.
func survivePipes() { signal.Ignore(syscall.SIGPIPE) }
