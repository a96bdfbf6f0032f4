//go:build unix

package command

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
)

// A program that nohup started goes on when its terminal is closed.
func TestNohup(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if got := stopSignals(); !slices.Contains(got, os.Signal(syscall.SIGHUP)) {
		t.Errorf("it stops with %v", got)
	}
	signal.Ignore(syscall.SIGHUP)
	if got := stopSignals(); slices.Contains(got, os.Signal(syscall.SIGHUP)) || !slices.Contains(got, os.Signal(syscall.SIGTERM)) {
		t.Errorf("under nohup it stops with %v", got)
	}
}
