// Package tokens counts the tokens of the tools' definitions, replies and sessions,
// for every dialect and for the reference server. It writes docs/tokens.md.
package tokens
