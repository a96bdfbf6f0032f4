package classic

import (
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/internal/implicit"
	"github.com/sequent-dev/sequent/tool"
)

// Codes of rules that this contract alone has.
const (
	codeInvalidArgument = "INVALID_ARGUMENT" // an argument is missing or of another type
	codeScopeRequired   = "SCOPE_REQUIRED"   // nothing says which session the call belongs to
)

// words are a code of the engine in this contract.
type words struct {
	code string
	fix  string // where the engine has none, or none that fits this tool
}

const (
	again = "repeat the call"
	tell  = "tell the user; nothing was recorded"
)

// table has every code of the engine but the internal error, which is left to
// the transport: it logs the cause and tells the client where to find it.
var table = map[sequent.Code]words{
	sequent.CodeInvalidThought:   {code: "INVALID_THOUGHT"},
	sequent.CodeInvalidSession:   {"INVALID_SESSION", "use another scope"},
	sequent.CodeInvalidQuery:     {"INVALID_QUERY", again},
	sequent.CodeSessionNotFound:  {"SESSION_NOT_FOUND", again},
	sequent.CodeSessionExists:    {"SESSION_EXISTS", again},
	sequent.CodeRequestKeyReused: {"REQUEST_KEY_REUSED", again},
	sequent.CodeLimitExceeded:    {code: "LIMIT_EXCEEDED"},
	sequent.CodeConflict:         {"CONFLICT", again},
	sequent.CodeCanceled:         {"CANCELED", again},
	sequent.CodeBusy:             {"STORE_BUSY", again},
	sequent.CodeUnavailable:      {"STORE_UNAVAILABLE", tell},
	sequent.CodeReadOnly:         {"STORE_READ_ONLY", tell},
	sequent.CodeFull:             {"STORE_FULL", tell},
	sequent.CodeCorrupt:          {"STORE_CORRUPT", "tell the user to run: sequent doctor"},
	sequent.CodeNewerSchema:      {"STORE_NEWER_SCHEMA", "tell the user to update sequent"},
}

// fields are the engine's names of arguments in this contract.
var fields = map[string]string{"text": "thought", "branch": "branchId"}

// A refusal has the members of the contract, error and status, and what a model
// needs to do better.
type refusal struct {
	Error  string `json:"error"`
	Status string `json:"status"`
	Code   string `json:"code"`
	Field  string `json:"field,omitempty"`
	Fix    string `json:"fix,omitempty"`
}

// reply returns r as a failed reply. It has no structured content, because
// clients hold that against the output schema, which describes good replies.
func (r refusal) reply() tool.Reply {
	r.Status = "failed"
	return tool.Reply{Text: tool.JSONReply(r).Text, Failed: true}
}

// reject words arguments that do not fit the schema.
func reject(err *tool.ArgumentError) (tool.Reply, error) {
	r := refusal{Code: codeInvalidArgument, Field: err.Field, Fix: "correct it and repeat the call"}
	switch {
	case err.Missing:
		r.Error = "Invalid " + err.Field + ": it is missing; it must be " + err.Want
		r.Fix = "add it and repeat the call"
	case err.Field == "":
		r.Error = "Invalid arguments: they are " + err.Value + "; they must be " + err.Want
		r.Fix = "send the arguments as one JSON object"
	default:
		r.Error = "Invalid " + err.Field + ": it is " + err.Value + "; it must be " + err.Want
	}
	return r.reply(), nil
}

// refuse words an error. An error without words is returned: it is a fault.
func refuse(err error) (tool.Reply, error) {
	if errors.Is(err, implicit.ErrNoScope) {
		return refusal{
			Code:  codeScopeRequired,
			Error: "Nothing says which session the call belongs to",
			Fix:   "add ?scope=NAME to the endpoint's URL, or authenticate, or use stdio",
		}.reply(), nil
	}
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return tool.Reply{}, err
	}
	w, ok := table[e.Code]
	if !ok {
		return tool.Reply{}, err
	}
	r := refusal{Code: w.code, Field: e.Field, Error: e.Msg, Fix: e.Fix}
	if w.fix != "" {
		r.Fix = w.fix
	}
	if ours, ok := fields[e.Field]; ok {
		r.Field = ours
		if rest, begins := strings.CutPrefix(r.Error, e.Field+" "); begins {
			r.Error = "it " + rest
		}
		r.Error = "Invalid " + ours + ": " + r.Error
	}
	if e.Code == sequent.CodeLimitExceeded && e.Field == "thought" {
		r.Field, r.Fix = "", "begin another session with thoughtNumber 1"
	}
	if r.Error == "" {
		r.Error = strings.ToLower(strings.ReplaceAll(w.code, "_", " "))
	}
	return r.reply(), nil
}
