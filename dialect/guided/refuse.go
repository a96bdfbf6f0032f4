package guided

import (
	"context"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// table has the words that differ from the shared ones. No argument of this contract can
// cause these errors, so the model cannot correct them.
var table = dialect.Table{
	Codes: map[sequent.Code]dialect.Words{
		sequent.CodeInvalidSession:   {Action: dialect.Report, Fix: dialect.TellUser},
		sequent.CodeInvalidQuery:     {Action: dialect.Report, Fix: dialect.TellUser},
		sequent.CodeThoughtNotFound:  {Action: dialect.Report, Fix: dialect.TellUser},
		sequent.CodeRequestKeyReused: {Action: dialect.Report, Fix: dialect.TellUser},
	},
	Fields:      map[string]string{"text": "thought", "branch": "branchId"},
	SessionFull: "stop here; thoughtNumber 1 begins a new session",
}

// correct refuses a call and recommends a corrected one.
func (d *server) correct(caller tool.Caller, fixed call, why reason, words string) tool.Reply {
	fix := "send next_call_arguments"
	switch {
	case why == tooLarge:
		fix = "say it in several shorter thoughts, beginning with next_call_arguments"
	case fixed.Thought == "":
		fix += " with a thought added"
	}
	return d.again(caller, fixed, why, words, fix)
}

// again refuses a call and recommends another one, unless it is the third refusal in a row
// for the same reason.
func (d *server) again(caller tool.Caller, next call, why reason, words, fix string) tool.Reply {
	if d.refusals.count(caller, string(why)+words) >= maxRefusals {
		return refusal(next.stop(why), words, "calls were refused for this several times in a row: stop and tell the user")
	}
	return refusal(next.recommend(why, next), words, fix)
}

// refusal returns an advice as a failed reply. The words come before the JSON, because the
// contract has no field for them.
func refusal(a advice, words, fix string) tool.Reply {
	r := tool.JSONReply(a)
	r.Text = string(a.Reason) + ": " + words + "; " + fix + "\n" + r.Text
	r.Failed, r.Code = true, string(a.Reason)
	return r
}

// refuse returns the refusal of an error.
func (d *server) refuse(ctx context.Context, caller tool.Caller, in call, err error) tool.Reply {
	said, ok := table.Refusal(err)
	if !ok {
		d.logger.ErrorContext(ctx, "a call failed", "dialect", name, "error", err)
		fix := "stop and " + dialect.TellUser
		if sequent.IsUncertain(err) {
			fix = "stop and tell the user; the thought may or may not have been recorded"
		}
		return refusal(in.stop(unexpectedError), "something went wrong here", fix)
	}
	fix := said.Fix
	switch said.Action {
	case dialect.Repeat:
		return d.again(caller, in, processingError, said.Message, fix)
	case dialect.Report:
		fix = "stop and " + fix
	}
	why := processingError
	switch said.Cause.Code {
	case sequent.CodeInvalidThought:
		why = validationError
	case sequent.CodeLimitExceeded, sequent.CodeQuotaExceeded:
		why = limitReached
	}
	return refusal(in.stop(why), said.Message, fix)
}

// maxRefusals is the number of refusals in a row for the same reason after which no call is
// recommended: the agent sends what it was told to send, and that does not help.
const maxRefusals = 3

// maxScopes limits for how many scopes refusals are counted. Clients choose the names of
// scopes.
const maxScopes = 10_000

// refusals counts, for each scope, the refusals in a row for the same reason. The zero
// value is ready to use.
type refusals struct {
	mu  sync.Mutex
	row map[scopeKey]row
}

type scopeKey struct {
	owner string
	scope tool.Scope
}

type row struct {
	why string
	n   int
}

// count counts a refusal and returns how many there are in a row for the same reason.
func (r *refusals) count(c tool.Caller, why string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.row == nil || len(r.row) >= maxScopes {
		r.row = make(map[scopeKey]row)
	}
	key := scopeKey{c.Owner, c.Scope}
	now := r.row[key]
	if now.why != why {
		now = row{why: why}
	}
	now.n++
	r.row[key] = now
	return now.n
}

// end ends a row of refusals: a call was accepted.
func (r *refusals) end(c tool.Caller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.row, scopeKey{c.Owner, c.Scope})
}
