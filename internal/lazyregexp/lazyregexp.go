// Package lazyregexp compiles regular expressions on first use, so that a program
// does not spend time and memory on expressions that it never runs. One with a
// counted repetition takes tens of kilobytes.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles expr on its first call and returns the
// compiled expression. The function panics if expr is not valid.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
