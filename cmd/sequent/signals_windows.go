package main

import "os"

// stopSignals are those that ask the program to end. Windows has Ctrl-C and
// Ctrl-Break for it, which Go calls an interrupt; a client that wants a server
// to end closes its input.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// survivePipes has nothing to do here: a write to a closed pipe fails.
func survivePipes() {}
