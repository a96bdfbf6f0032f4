// Package archtest tests the rules of ARCHITECTURE.md: which package may import
// which, and what a package may contain.
//
// The tests parse every source file, including those for other operating systems.
package archtest
