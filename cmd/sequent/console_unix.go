//go:build !windows

package main

import "os"

// canStyle reports whether a terminal acts upon escape sequences, which all do
// that do not say that they are dumb.
func canStyle(*os.File) bool { return os.Getenv("TERM") != "dumb" }
