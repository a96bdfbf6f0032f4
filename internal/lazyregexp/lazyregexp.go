// Package lazyregexp compiles regular expressions when they are first used. A
// program pays in memory and at its start only for the parts that it runs: an
// expression with a counted repetition takes tens of kilobytes.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression. It compiles at its
// first call, and panics then if the expression is not valid.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
