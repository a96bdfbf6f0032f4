// Package archtest tests the rules of ARCHITECTURE.md: which package may import
// which, and what a package may contain.
//
// Go caches no change of files outside of this module: run them with -count=1.
//
// The tests parse every source file, including those for other operating systems.
package archtest
