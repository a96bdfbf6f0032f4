// Package mcpserver serves a dialect over the Model Context Protocol.
//
//	s := mcpserver.New(mcpserver.Config{Dialect: d, Version: version, Caller: caller})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// The SDK answers; what is published and what a reply looks like is the
// dialect's. Schemas go out as they were written, lists in the dialect's order,
// structured content in the bytes that the tool gave, and no error tells a
// client more than it may know.
//
// # Protocol versions
//
// A connection may use both eras of the protocol, even in turns: the handshake
// of 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25, and the stateless
// requests of 2026-07-28, each of which says in _meta what it needs said.
//
// # Standard input and output
//
// ServeStdio does not use the SDK's transport, which loses replies when its
// input ends, handles pipelined calls in any order and dies of a malformed
// line. See [Server.ServeStdio] for what it promises instead.
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
// This is the only package that imports the SDK, together with its client in
// mcpserver/client.
package mcpserver
