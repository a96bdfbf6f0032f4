// Package models tests the client of language models against a third-party fake of
// each provider, and sequent think and plan against kills of their process.
package models
