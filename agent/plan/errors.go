package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/llm"
)

// A Code classifies an [Error]. Codes are stable and only ever added.
type Code string

// The codes of this package.
const (
	CodeNoPlan      Code = "plan_not_found"     // the session has no machine, or another one
	CodeNoProblem   Code = "plan_no_problem"    // the problem is empty or too large
	CodeTaken       Code = "plan_taken"         // another process runs the plan
	CodeOutOfTokens Code = "plan_out_of_tokens" // the token budget is used up
	CodeNoAnswer    Code = "plan_no_answer"     // the model produced no result in a phase
	CodeExhausted   Code = "plan_exhausted"     // the steps of a phase ran out before the model answered
)

// An Error is an error of a machine.
type Error struct {
	Code Code
	Msg  string // what is wrong, in one sentence
	Fix  string // what to do next
}

// Error returns the message and what to do next.
func (e *Error) Error() string { return e.Msg + ": " + e.Fix }

func taken(id sequent.ID) *Error {
	return &Error{
		Code: CodeTaken, Msg: fmt.Sprintf("another process is working on session %s", id),
		Fix: "watch the session, or resume it when the other process has ended",
	}
}

// fault converts an error for storage in the session.
func fault(phase string, err error) *Fault {
	f := &Fault{Phase: phase, Code: string(sequent.CodeOf(err)), Message: err.Error()}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		f.Code = string(e.Code)
	} else if e, ok := errors.AsType[*Error](err); ok {
		f.Code = string(e.Code)
	}
	return f
}

// external reports whether an error is unrelated to the plan: Run was canceled, the
// store failed, or another process runs the plan.
func external(ctx context.Context, err error) bool {
	if ctx.Err() != nil || llm.CodeOf(err) == llm.CodeCanceled {
		return true
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code == CodeTaken
	}
	_, ok := errors.AsType[*sequent.Error](err)
	return ok
}
