// Package mcpserver serves a dialect over the Model Context Protocol.
//
//	s := mcpserver.New(mcpserver.Config{Dialect: d, Version: version, Caller: caller})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// What is published and what a reply looks like is the dialect's. Schemas go out
// as they were written, lists in the dialect's order, structured content in the
// bytes that the tool gave, and no error tells a client more than it may know. A
// method for something that the dialect does not have is not found.
//
// # Protocol versions
//
// A connection may use both eras of the protocol, even in turns: the handshake
// of 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25, and the stateless
// requests of 2026-07-28, each of which says in _meta what it needs said.
//
// # HTTP
//
// An [HTTP] serves one or more dialects, each at its endpoint:
//
//	h, err := mcpserver.NewHTTP(mcpserver.HTTPConfig{Servers: []*mcpserver.Server{s}, Auth: tokens})
//	err = h.Serve(ctx, listener)
//
// Who calls is the subject of the request's bearer token, and which conversation
// a call belongs to is said by ?scope=NAME in the URL, else by the subject, else
// by the session of an older client. A server that others can reach needs an
// [Authenticator]; see [CheckAddress].
//
// # Reading the code
//
// This package is the public face. Below it, from the bottom to the top:
// internal/message is what a message is; internal/method answers requests, which
// is where tools are called; internal/session is the state of a connection; and
// internal/stdio and internal/streamhttp are the transports.
package mcpserver
