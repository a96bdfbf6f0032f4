// Package models tests the client of language models against a double that others
// wrote, on the path of each provider, and the program's agents against the death
// of their process.
package models
