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

// onHangup has SIGHUP call f, instead of ending the program, until stop is called. After stop,
// f does not run any more.
func onHangup(f func()) (stop func()) {
	signal.Ignore(syscall.SIGHUP) // undoes what Main has asked for
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-received:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(received)
		close(done)
		<-ended
	}
}
