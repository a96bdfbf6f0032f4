package command

import (
	"os"

	"golang.org/x/sys/windows"
)

// canStyle enables escape sequences of a Windows console and reports whether it
// supports them. The code page does not matter: Go writes UTF-16 to a console.
func canStyle(console *os.File) bool {
	h := windows.Handle(console.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
