// Package method answers requests of the Model Context Protocol for one dialect, in both
// eras: the versions with a handshake, and those from 2026-07-28 on, whose requests are
// stateless. The dialect determines what is published and the form of replies; schemas,
// arguments and replies pass byte for byte.
//
// Package session has the state of connections.
package method
