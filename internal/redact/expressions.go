package redact

import (
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/sequent-dev/sequent"
)

// maxProgram is the maximum number of bytes of all expressions together, and of
// instructions of their programs.
const maxProgram = 10_000

// Expressions returns a finder for regular expressions in the syntax of RE2. It removes
// the first group of a match that is not empty, or the whole match. Expressions that would
// compile into more than 10,000 instructions are refused before they are compiled.
func Expressions(exprs []string) (Finder, error) {
	bytes, budget := maxProgram, maxProgram
	compiled := make([]*regexp.Regexp, len(exprs))
	for i, expr := range exprs {
		if bytes -= len(expr); bytes < 0 {
			return nil, tooLarge("have more than %d bytes")
		}
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			return nil, invalidExpression(err)
		}
		if budget = spend(tree, budget); budget < 0 {
			return nil, tooLarge("compile into more than %d instructions")
		}
		if compiled[i], err = regexp.Compile(expr); err != nil {
			return nil, invalidExpression(err)
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

func tooLarge(what string) error {
	return sequent.Errorf(sequent.CodeLimitExceeded, "redact", "use fewer expressions, or smaller repetitions such as x{20}",
		"the expressions %s", fmt.Sprintf(what, maxProgram))
}

func invalidExpression(err error) error {
	return &sequent.Error{Code: sequent.CodeInvalidQuery, Field: "redact", Msg: err.Error(), Fix: "use the syntax of Go's regular expressions, RE2"}
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
