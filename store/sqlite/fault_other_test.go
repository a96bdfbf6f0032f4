//go:build !linux

package sqlite

// systemTasks are the tasks of a child that only this operating system has.
var systemTasks map[string]func() error
