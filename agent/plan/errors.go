package plan

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/llm"
)

// The codes of a machine's errors, which are of type [*sequent.Error].
const (
	CodeNoPlan      sequent.Code = "plan_not_found"     // the session has no machine, or another one
	CodeNoProblem   sequent.Code = "plan_no_problem"    // the problem is empty or too large
	CodeTaken       sequent.Code = "plan_taken"         // another process runs the plan
	CodeOutOfTokens sequent.Code = "plan_out_of_tokens" // the token budget is used up
	CodeNoAnswer    sequent.Code = "plan_no_answer"     // the model produced no result in a phase
	CodeExhausted   sequent.Code = "plan_exhausted"     // the steps of a phase ran out before the model answered
)

// fault converts an error for storage in the session.
func fault(phase string, err error) *Fault {
	code := string(llm.CodeOf(err))
	if code == "" {
		code = string(sequent.CodeOf(err))
	}
	return &Fault{Phase: phase, Code: code, Message: err.Error()}
}

// external reports whether an error is unrelated to the plan: Run was canceled, the
// store failed, or another process runs the plan.
func external(ctx context.Context, err error) bool {
	if ctx.Err() != nil || llm.CodeOf(err) == llm.CodeCanceled {
		return true
	}
	e, ok := errors.AsType[*sequent.Error](err)
	return ok && e.Code != CodeOutOfTokens && e.Code != CodeNoAnswer
}
