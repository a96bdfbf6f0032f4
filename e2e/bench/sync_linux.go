package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync makes what was written to a file durable, and no more.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
