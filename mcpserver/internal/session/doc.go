// Package session has the state of one connection with a client: whether it has
// made the handshake, its requests until they have their replies, and the
// documents of whose changes it is told. Requests themselves are answered by
// package method.
package session
