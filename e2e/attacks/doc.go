// Package attacks tests that a client of the program is not harmed by another one: one
// client attacks the server over HTTP as fast as it can, another one thinks meanwhile.
//
// make attacks prints the figures.
package attacks
