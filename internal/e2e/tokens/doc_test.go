// Package tokens measures what the tools cost a model: the tokens of their
// definitions, of their replies and of whole sessions, for every dialect and for
// the reference server. What it finds is docs/tokens.md.
package tokens
