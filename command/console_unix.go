//go:build !windows

package command

import "os"

// canStyle reports whether a terminal supports escape sequences. All do, except
// those with TERM=dumb.
func canStyle(*os.File) bool { return os.Getenv("TERM") != "dumb" }
