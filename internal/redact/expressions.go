package redact

import (
	"context"
	"fmt"
	"regexp"

	"github.com/sequent-dev/sequent"
)

// Expressions returns a finder for regular expressions in the syntax of RE2. It removes
// the first group of a match that is not empty, or the whole match.
func Expressions(exprs []string) (Finder, error) {
	compiled := make([]*regexp.Regexp, len(exprs))
	for i, expr := range exprs {
		var err error
		if compiled[i], err = regexp.Compile(expr); err != nil {
			return nil, &sequent.Error{
				Code: sequent.CodeInvalidQuery, Field: "redact", Msg: err.Error(),
				Fix: "use the syntax of Go's regular expressions, RE2",
			}
		}
	}
	return func(ctx context.Context, text string, found func(secret, name string)) {
		for i, expr := range compiled {
			if ctx.Err() != nil {
				return
			}
			name := fmt.Sprintf("--redact %d", i+1) // the expression may be the secret itself
			for _, m := range expr.FindAllStringSubmatchIndex(text, -1) {
				start, end := secretOf(m)
				found(text[start:end], name)
			}
		}
	}, nil
}

// secretOf returns the first group of a match that is not empty, or the whole match.
func secretOf(m []int) (start, end int) {
	for g := 2; g < len(m); g += 2 {
		if m[g] < m[g+1] {
			return m[g], m[g+1]
		}
	}
	return m[0], m[1]
}
