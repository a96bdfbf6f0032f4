//go:build !linux

package sqlite

// systemTasks are what a child can do on this system.
var systemTasks map[string]func() error
