package command

import "os"

// stopSignals returns the signals that end the program. Go reports Ctrl-C and
// Ctrl-Break as an interrupt; an MCP client ends a server by closing its input.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// survivePipes does nothing: on Windows a write to a closed pipe returns an error.
func survivePipes() {}

// ignoreHangup does nothing: there is no such signal.
func ignoreHangup() {}
