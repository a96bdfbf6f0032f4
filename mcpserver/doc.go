// Package mcpserver serves a dialect over the Model Context Protocol.
//
//	s := mcpserver.New(mcpserver.Config{Dialect: d, Version: version, Caller: caller})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// The dialect determines what is published and the form of replies. Schemas are sent as
// they are written, lists in the dialect's order, structured content in the bytes of the
// tool. Errors show clients no internal details. A method for something that the dialect
// does not have is not found.
//
// # Protocol versions
//
// A connection may use both eras of the protocol, also in turns: the handshake of
// 2024-11-05, 2025-06-18 and 2025-11-25, and the stateless requests of 2026-07-28, whose
// _meta has everything that the server needs. A client that asks for another version, such
// as 2025-03-26 with its batches, is offered 2025-11-25.
//
// # HTTP
//
// An [HTTP] serves one or more dialects, each at its endpoint:
//
//	h, err := mcpserver.NewHTTP(mcpserver.HTTPConfig{Servers: []*mcpserver.Server{s}, Auth: tokens})
//	err = h.Serve(ctx, listener)
//
// The caller is the subject of the bearer token. The scope of a call is NAME of
// ?scope=NAME in the URL, otherwise the subject, otherwise the session of an older
// client. A server that other machines can reach needs an [auth.Authenticator]; see
// [CheckAddress].
package mcpserver
