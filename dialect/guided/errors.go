package guided

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/internal/implicit"
	"github.com/sequent-dev/sequent/tool"
)

// words are a code of the engine in this contract.
type words struct {
	reason reason
	repeat bool   // the same call may succeed
	fix    string // where the engine has none, or none in the terms of this contract
}

const (
	repeatCall = "repeat the call"
	tellUser   = "stop and tell the user; nothing was recorded"
)

// table has every code of the engine.
var table = map[sequent.Code]words{
	sequent.CodeInvalidThought:   {reason: validationError},
	sequent.CodeInvalidSession:   {reason: processingError, fix: tellUser},
	sequent.CodeInvalidQuery:     {reason: processingError, fix: tellUser},
	sequent.CodeSessionNotFound:  {processingError, true, repeatCall},
	sequent.CodeSessionExists:    {processingError, true, repeatCall},
	sequent.CodeRequestKeyReused: {reason: processingError, fix: tellUser},
	sequent.CodeLimitExceeded:    {reason: limitReached},
	sequent.CodeConflict:         {processingError, true, repeatCall},
	sequent.CodeCanceled:         {processingError, true, repeatCall},
	sequent.CodeBusy:             {processingError, true, repeatCall},
	sequent.CodeUnavailable:      {reason: processingError, fix: tellUser},
	sequent.CodeReadOnly:         {reason: processingError, fix: tellUser},
	sequent.CodeFull:             {reason: processingError, fix: tellUser},
	sequent.CodeCorrupt:          {reason: processingError, fix: "stop and tell the user to run: sequent doctor"},
	sequent.CodeNewerSchema:      {reason: processingError, fix: "stop and tell the user to update sequent"},
	sequent.CodeInternal:         {reason: unexpectedError, fix: tellUser},
}

// An invalid is the error of a call that breaks a rule for arguments.
type invalid struct {
	msg   string
	fixed args
}

// Error returns what is wrong.
func (e *invalid) Error() string { return e.msg }

// misfit passes on arguments that do not fit the schema, for [server.call] to
// answer: an answer needs more than the fault.
func misfit(err *tool.ArgumentError) (tool.Reply, error) { return tool.Reply{}, err }

// reject words arguments that do not fit the schema.
func (d *server) reject(ctx context.Context, c tool.Call, fault *tool.ArgumentError) tool.Reply {
	p := d.salvage(ctx, c)
	s := d.current(ctx, c.Caller)
	if p.plain() && s.State != sequent.Active {
		s = d.empty // such a thought begins a session
	}
	return correction(fault.Error(), p.correct(s, d.engine.Limits()))
}

// correction refuses a call in favour of the one that its author meant.
func correction(fault string, call args) tool.Reply {
	fix := "send next_call_arguments"
	if call.Thought == "" {
		fix += " with the text of the thought in it"
	}
	return again(validationError, call).refusal(fault + "; " + fix)
}

// current returns the scope's session as it is, or an empty one.
func (d *server) current(ctx context.Context, caller tool.Caller) *sequent.Session {
	turn, err := d.scopes.Enter(caller)
	if err != nil {
		return d.empty
	}
	defer turn.Leave()
	id, err := turn.Current(ctx)
	if err != nil || id == "" {
		return d.empty
	}
	s, err := d.engine.Owned(caller.Owner).Session(ctx, id)
	if err != nil {
		return d.empty
	}
	return s
}

// emptySession returns a session without thoughts, to ask the questions that are
// asked of the others.
func emptySession() *sequent.Session {
	s, err := sequent.New(sequent.Config{}).Begin(context.Background(), "empty", func(*sequent.Session) error { return nil })
	if err != nil {
		panic("guided: " + err.Error())
	}
	return s
}

// refuse words an error.
func (d *server) refuse(ctx context.Context, in args, err error) tool.Reply {
	if e, ok := errors.AsType[*invalid](err); ok {
		return correction(e.msg, e.fixed)
	}
	if errors.Is(err, implicit.ErrNoScope) {
		return in.stop(processingError).refusal(implicit.ErrNoScope.Error() + "; " + implicit.Remedies)
	}
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		e = &sequent.Error{Code: sequent.CodeInternal}
	}
	if e.Code == sequent.CodeLimitExceeded && e.Field == "text" {
		in.Thought = ""
		return again(tooLarge, in).refusal(renamed(e) + "; say it in several shorter thoughts, beginning with next_call_arguments")
	}
	w, ok := table[e.Code]
	if !ok {
		w = table[sequent.CodeInternal]
	}
	if w.reason == unexpectedError {
		d.logger.ErrorContext(ctx, "a call failed", "dialect", name, "error", err)
		return in.stop(unexpectedError).refusal("something went wrong here; " + tellUser)
	}
	said, fix := renamed(e), cmp.Or(w.fix, e.Fix)
	if w.reason == limitReached && e.Field == "thought" {
		fix = "stop here; thoughtNumber 1 begins a new session"
	}
	if fix != "" {
		said += "; " + fix
	}
	if w.repeat {
		return again(w.reason, in).refusal(said)
	}
	return in.stop(w.reason).refusal(said)
}

// fields are the engine's names of arguments in this contract.
var fields = map[string]string{"text": "thought", "branch": "branchId"}

// renamed returns what e says, with the name of the argument as it is here.
func renamed(e *sequent.Error) string {
	if ours, ok := fields[e.Field]; ok {
		if rest, begins := strings.CutPrefix(e.Msg, e.Field+" "); begins {
			return ours + " " + rest
		}
	}
	return cmp.Or(e.Msg, strings.ReplaceAll(string(e.Code), "_", " "))
}
