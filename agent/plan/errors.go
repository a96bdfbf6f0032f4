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
	CodeNoPlan      Code = "plan_not_found"     // the session belongs to no machine, or to another
	CodeNoProblem   Code = "plan_no_problem"    // there is nothing to work on, or too much
	CodeTaken       Code = "plan_taken"         // another process goes on with it
	CodeOutOfTokens Code = "plan_out_of_tokens" // its token budget is used up
	CodeNoAnswer    Code = "plan_no_answer"     // the model said nothing in a phase
)

// An Error is a refusal of a machine, or why it failed.
type Error struct {
	Code Code
	Msg  string // what is wrong, in one sentence
	Fix  string // what to do next
}

// Error returns the message and what to do next.
func (e *Error) Error() string { return e.Msg + ": " + e.Fix }

func taken(id sequent.ID) *Error {
	return &Error{
		Code: CodeTaken, Msg: fmt.Sprintf("another process goes on with %s", id),
		Fix: "watch it, or wait until it has ended and resume",
	}
}

// fault puts an error into words that can be stored and shown.
func fault(phase string, err error) *Fault {
	f := &Fault{Phase: phase, Code: string(sequent.CodeOf(err)), Message: err.Error()}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		f.Code = string(e.Code)
	} else if e, ok := errors.AsType[*Error](err); ok {
		f.Code = string(e.Code)
	}
	return f
}

// passing reports whether an error says nothing about the plan: whoever runs it
// wants to stop, the store is out of reach, or another process has it.
func passing(ctx context.Context, err error) bool {
	if ctx.Err() != nil || llm.CodeOf(err) == llm.CodeCanceled {
		return true
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code == CodeTaken
	}
	_, ok := errors.AsType[*sequent.Error](err)
	return ok
}
