// Package parity compares the dialect classic with the reference server, an npm
// package. make parity installs that and runs the tests; each run makes other
// calls, and prints the seed with which they can be made again:
//
//	go test ./internal/e2e/parity -seed=12345
package parity
