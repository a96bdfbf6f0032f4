package redact

import (
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/sequent-dev/sequent"
)

// maxProgram is the maximum number of bytes and instructions of all expressions together.
const maxProgram = 20_000

// Expressions returns a finder for regular expressions in the syntax of RE2. It removes
// the first group of a match that is not empty, or the whole match. Expressions that would
// compile into too many instructions are refused before they are compiled.
func Expressions(exprs []string) (Finder, error) {
	budget := maxProgram
	compiled := make([]*regexp.Regexp, len(exprs))
	for i, expr := range exprs {
		tree, err := &syntax.Regexp{}, error(nil)
		if budget -= len(expr); budget >= 0 {
			if tree, err = syntax.Parse(expr, syntax.Perl); err == nil {
				budget = spend(tree, budget)
			}
		}
		if budget < 0 {
			return nil, sequent.Errorf(sequent.CodeLimitExceeded, "redact", "use fewer expressions, or smaller repetitions such as x{20}",
				"the expressions are longer than %d bytes and instructions", maxProgram)
		}
		if err == nil {
			compiled[i], err = regexp.Compile(expr)
		}
		if err != nil {
			return nil, &sequent.Error{Code: sequent.CodeInvalidQuery, Field: "redact", Msg: err.Error(), Fix: "use the syntax of Go's regular expressions, RE2"}
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

// spend returns what is left of a budget of instructions after an expression. It ends when
// nothing is left: a repetition of repetitions can have billions.
func spend(tree *syntax.Regexp, budget int) int {
	times := 1
	if tree.Op == syntax.OpRepeat {
		times = max(tree.Min+1, tree.Max)
	}
	for range times {
		budget--
		if tree.Op == syntax.OpLiteral {
			budget -= len(tree.Rune)
		}
		for _, sub := range tree.Sub {
			if budget >= 0 {
				budget = spend(sub, budget)
			}
		}
		if budget < 0 {
			break
		}
	}
	return budget
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
