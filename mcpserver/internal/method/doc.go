// Package method answers the requests of the Model Context Protocol for one
// dialect, in both of its eras: the versions with a handshake, and those from
// 2026-07-28 on, in which each request stands for itself. What is published and
// what a reply looks like is the dialect's; schemas, arguments and replies pass
// in their own bytes.
//
// The package keeps no state of a connection: see package session.
package method
