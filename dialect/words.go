package dialect

import (
	"cmp"
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// An Action is what the caller of a refused tool should do.
type Action int

// The actions.
const (
	Correct Action = iota + 1 // change the call
	Repeat                    // send the same call again
	Report                    // tell a person
)

// Words describe an error code in a dialect. Zero fields mean the shared words: the
// engine's code in upper case and its fix, with which the caller can correct the call,
// unless the error is of the store.
type Words struct {
	Code   string // as the caller reads it, such as STORE_BUSY
	Action Action
	Fix    string // replaces the engine's fix; empty keeps it
}

// Fixes that dialects share.
const (
	RepeatCall = "repeat the call"
	// BeginAnother is for a session that is not what was recorded.
	BeginAnother = "begin another session, and tell the user to run: sequent store verify"
	TellUser     = "tell the user; nothing was recorded"
	// CheckFirst is for errors that are Uncertain.
	CheckFirst = "tell the user before you repeat the call, which could record the thought twice"
)

// shared has the codes that the caller does not read in upper case and cannot correct with
// the engine's fix.
var shared = map[sequent.Code]Words{
	sequent.CodeInvalidSession:  {Code: "INVALID_SESSION_ID"},
	sequent.CodeSessionNotFound: {Action: Repeat, Fix: RepeatCall},
	sequent.CodeSessionExists:   {Action: Repeat, Fix: RepeatCall},
	sequent.CodeConflict:        {Action: Repeat, Fix: RepeatCall},
	sequent.CodeCanceled:        {Action: Repeat, Fix: RepeatCall},
	sequent.CodeBusy:            {Action: Repeat, Fix: RepeatCall},
	sequent.CodeUnavailable:     {Action: Report, Fix: TellUser},
	sequent.CodeReadOnly:        {Action: Report, Fix: TellUser},
	sequent.CodeFull:            {Action: Report, Fix: TellUser},
	sequent.CodeCorrupt:         {Action: Report, Fix: "tell the user to run: sequent doctor"},
	sequent.CodeOtherFormat:     {Action: Report, Fix: "tell the user: another version of sequent wrote the store; `sequent export` of that version reads it"},
	sequent.CodeQuotaExceeded:   {Action: Report, Fix: "tell the user to delete what is not needed any more, or to have the quota raised; nothing was recorded"},
}

// A Table turns errors of the engine into refusals in a dialect's terms. It has the words
// that differ from those that all dialects share. The zero Table is usable.
type Table struct {
	Codes  map[sequent.Code]Words
	Fields map[string]string // from the engine's names of fields to the dialect's arguments
	// SessionFull is the fix when a session has reached the maximum number of
	// thoughts. Empty means the engine's.
	SessionFull string
	// Uncertain is the fix of an error that is Uncertain: how the caller finds out
	// what was recorded. Empty means [CheckFirst].
	Uncertain string
}

// A Refusal is an error of the engine in a dialect's terms.
type Refusal struct {
	tool.Refusal
	Action Action
	Cause  *sequent.Error // the error in err's chain that was worded
}

// SessionFull reports whether the session has reached the maximum number of
// thoughts.
func (r *Refusal) SessionFull() bool {
	return r.Cause.Code == sequent.CodeLimitExceeded && r.Cause.Field == "thought"
}

// Refusal returns err in the dialect's terms. It returns false if err has no
// [sequent.Error] in its chain, or an internal one: a fault, which the dialect returns as
// it is. The transport logs it and hides the cause from the client.
func (t Table) Refusal(err error) (Refusal, bool) {
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok || e.Code == sequent.CodeInternal {
		return Refusal{}, false
	}
	all, w := shared[e.Code], t.Codes[e.Code]
	code := strings.ToUpper(string(e.Code))
	r := Refusal{
		Refusal: tool.Refusal{
			Code: cmp.Or(w.Code, all.Code, code), Field: e.Field, Message: e.Msg, Fix: cmp.Or(w.Fix, all.Fix, e.Fix),
		},
		Action: cmp.Or(w.Action, all.Action, Correct),
		Cause:  e,
	}
	if e.Code == sequent.CodeCorrupt && e.Field == "sessionId" { // the session; the store may be intact
		r.Fix = BeginAnother
	}
	if e.Uncertain { // whatever the code, the caller must not simply repeat the call
		r.Action, r.Fix = Report, cmp.Or(t.Uncertain, CheckFirst)
	}
	if r.SessionFull() {
		r.Fix = cmp.Or(t.SessionFull, r.Fix)
	}
	if here, ok := t.Fields[e.Field]; ok {
		r.Field = here
		if rest, begins := strings.CutPrefix(e.Msg, e.Field+" "); begins {
			r.Message = here + " " + rest
		}
	}
	if r.Message == "" {
		r.Message = strings.ToLower(strings.ReplaceAll(r.Code, "_", " "))
	}
	return r, true
}

// Reply returns err as a refused call's reply, or err itself if it has no words: a fault.
func (t Table) Reply(err error) (tool.Reply, error) {
	r, ok := t.Refusal(err)
	if !ok {
		return tool.Reply{}, err
	}
	return r.Reply(), nil
}

// Reject returns the refusal of arguments that do not fit a tool's schema.
func Reject(err *tool.ArgumentError) (tool.Reply, error) {
	return tool.Refusal{Code: "INVALID_ARGUMENT", Field: err.Field, Message: err.Error(), Fix: err.Fix()}.Reply(), nil
}
