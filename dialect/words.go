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

// Words describe an error code in a dialect. Zero fields mean the shared words.
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

// shared has every code of the engine except [sequent.CodeInternal], which is
// left to the transport: it logs the cause and refers the client to the log.
var shared = map[sequent.Code]Words{
	sequent.CodeInvalidThought:   {"INVALID_THOUGHT", Correct, ""},
	sequent.CodeInvalidSession:   {"INVALID_SESSION_ID", Correct, ""},
	sequent.CodeInvalidQuery:     {"INVALID_QUERY", Correct, ""},
	sequent.CodeRequestKeyReused: {"REQUEST_KEY_REUSED", Correct, ""},
	sequent.CodeLimitExceeded:    {"LIMIT_EXCEEDED", Correct, ""},
	sequent.CodeQuotaExceeded:    {"QUOTA_EXCEEDED", Report, "tell the user to delete what is not needed any more, or to have the quota raised; nothing was recorded"},
	CodeScopeRequired:            {"SCOPE_REQUIRED", Correct, ""},
	sequent.CodeSessionNotFound:  {"SESSION_NOT_FOUND", Repeat, RepeatCall},
	sequent.CodeThoughtNotFound:  {"THOUGHT_NOT_FOUND", Correct, ""},
	sequent.CodeSessionExists:    {"SESSION_EXISTS", Repeat, RepeatCall},
	sequent.CodeConflict:         {"CONFLICT", Repeat, RepeatCall},
	sequent.CodeCanceled:         {"CANCELED", Repeat, RepeatCall},
	sequent.CodeBusy:             {"STORE_BUSY", Repeat, RepeatCall},
	sequent.CodeUnavailable:      {"STORE_UNAVAILABLE", Report, TellUser},
	sequent.CodeReadOnly:         {"STORE_READ_ONLY", Report, TellUser},
	sequent.CodeFull:             {"STORE_FULL", Report, TellUser},
	sequent.CodeCorrupt:          {"STORE_CORRUPT", Report, "tell the user to run: sequent doctor"},
	sequent.CodeOtherFormat:      {"STORE_OTHER_FORMAT", Report, "tell the user: another version of sequent wrote the store; `sequent export` of that version reads it"},
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
// [sequent.Error] in its chain, or one of a code without words: a fault, which the
// dialect returns as it is. The transport logs it and hides the cause from the client.
func (t Table) Refusal(err error) (Refusal, bool) {
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return Refusal{}, false
	}
	all, known := shared[e.Code]
	w, own := t.Codes[e.Code]
	if !known && !own {
		return Refusal{}, false
	}
	r := Refusal{
		Refusal: tool.Refusal{
			Code: cmp.Or(w.Code, all.Code), Field: e.Field, Message: e.Msg, Fix: cmp.Or(w.Fix, all.Fix, e.Fix),
		},
		Action: cmp.Or(w.Action, all.Action),
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
