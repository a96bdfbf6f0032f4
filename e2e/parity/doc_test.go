// Package parity compares the dialect classic with the reference server, an npm
// package. make parity installs it and runs the tests. Each run makes random calls
// and prints their seed, with which a run can be repeated:
//
//	go test -C e2e ./parity -seed=12345
package parity
