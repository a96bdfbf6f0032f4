package command

import (
	"os"

	"golang.org/x/sys/windows"
)

// stopSignals returns the signals that end the program. Go reports Ctrl-C and
// Ctrl-Break as an interrupt; an MCP client ends a server by closing its input.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// survivePipes does nothing: on Windows a write to a closed pipe returns an error.
func survivePipes() {}

// ignoreHangup does nothing: there is no such signal.
func ignoreHangup() {}

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
