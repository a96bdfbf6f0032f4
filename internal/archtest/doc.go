// Package archtest holds the architecture, as tests: who may import whom, and
// what may stand in which package. ARCHITECTURE.md tells the same in prose.
//
// The tests read the source of every package for every operating system, not
// only what is built here.
package archtest
