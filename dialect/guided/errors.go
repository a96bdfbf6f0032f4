package guided

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
)

// table has the words that differ from the shared ones. No argument of this contract can
// cause these errors, so the model cannot correct them.
var table = wording.Table{
	Codes: map[sequent.Code]wording.Words{
		sequent.CodeInvalidSession:   {Action: wording.Report, Fix: wording.TellUser},
		sequent.CodeInvalidQuery:     {Action: wording.Report, Fix: wording.TellUser},
		sequent.CodeThoughtNotFound:  {Action: wording.Report, Fix: wording.TellUser},
		sequent.CodeRequestKeyReused: {Action: wording.Report, Fix: wording.TellUser},
	},
	Fields:      map[string]string{"text": "thought", "branch": "branchId"},
	SessionFull: "stop here; thoughtNumber 1 begins a new session",
}

// An invalid is the error of a call that breaks an argument rule.
type invalid struct {
	msg   string
	fixed args
}

// Error returns what is wrong.
func (e *invalid) Error() string { return e.msg }

// misfit returns the error of arguments that do not fit the schema, for [server.call].
func misfit(err *tool.ArgumentError) (tool.Reply, error) { return tool.Reply{}, err }

// reject returns the refusal of arguments that do not fit the schema.
func (d *server) reject(ctx context.Context, c tool.Call, fault *tool.ArgumentError) tool.Reply {
	given := members(c)
	p := d.salvage(ctx, c, given)
	s := d.current(ctx, c.Caller)
	if p.plain() && (s.State() != sequent.Active || p.Number != nil && *p.Number <= 1) {
		s = d.empty // the call begins a session
	}
	return correction(d.words(fault, given), p.correct(s, d.engine.Limits()))
}

// words returns what is wrong with the arguments of a call, with the names of all that
// are missing.
func (d *server) words(fault *tool.ArgumentError, given map[string]json.RawMessage) string {
	if given == nil {
		return fault.Error()
	}
	names := d.missing(given)
	switch {
	case len(names) == 0, len(names) == 1 && fault.Missing:
		return fault.Error()
	case fault.Missing:
		return strings.Join(names, ", ") + " are missing"
	case len(names) == 1:
		return fault.Error() + "; " + names[0] + " is missing"
	}
	return fault.Error() + "; " + strings.Join(names, ", ") + " are missing"
}

// correction refuses a call and recommends a corrected one.
func correction(fault string, call args) tool.Reply {
	fix := "send next_call_arguments"
	if call.Thought == "" {
		fix += " with the text of the thought in it"
	}
	return again(validationError, call).refusal(fault + "; " + fix)
}

// current returns the scope's current session, or an empty session.
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

// emptySession returns a session without thoughts, for calls without a session.
func emptySession() *sequent.Session {
	s, err := sequent.New(sequent.Config{}).Begin(context.Background(), "empty", func(*sequent.Change) error { return nil })
	if err != nil {
		panic("guided: " + err.Error())
	}
	return s
}

// refuse returns the refusal of an error.
func (d *server) refuse(ctx context.Context, in args, err error) tool.Reply {
	if e, ok := errors.AsType[*invalid](err); ok {
		return correction(e.msg, e.fixed)
	}
	said, ok := table.Refusal(err)
	if !ok {
		d.logger.ErrorContext(ctx, "a call failed", "dialect", name, "error", err)
		fix := wording.TellUser
		if sequent.IsUncertain(err) {
			fix = "tell the user; the thought may or may not have been recorded"
		}
		return in.stop(unexpectedError).refusal("something went wrong here; stop and " + fix)
	}
	code := said.Cause.Code
	if code == sequent.CodeLimitExceeded && said.Cause.Field == "text" {
		in.Thought = ""
		return again(tooLarge, in).refusal(said.Message + "; say it in several shorter thoughts, beginning with next_call_arguments")
	}
	if said.Action == wording.Report {
		said.Fix = "stop and " + said.Fix
	}
	switch {
	case said.Action == wording.Repeat:
		return again(processingError, in).refusal(said.Text())
	case code == sequent.CodeInvalidThought:
		return in.stop(validationError).refusal(said.Text())
	case code == sequent.CodeLimitExceeded, code == sequent.CodeQuotaExceeded:
		return in.stop(limitReached).refusal(said.Text())
	}
	return in.stop(processingError).refusal(said.Text())
}
