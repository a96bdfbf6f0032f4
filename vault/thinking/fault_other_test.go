//go:build !linux

package thinking_test

import "context"

// systemTasks are what a child can do on this system.
var systemTasks map[string]func(context.Context) error
