package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// canStyle reports whether a console acts upon escape sequences, and sees to it:
// consoles of Windows do so only when they are asked. Characters need nothing of
// the kind, since Go writes to a console in UTF-16, whatever its code page.
func canStyle(console *os.File) bool {
	h := windows.Handle(console.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
