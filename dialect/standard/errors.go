package standard

import (
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// Codes of rules that this contract alone has.
const (
	codeInvalidArgument = "INVALID_ARGUMENT"    // an argument is missing or of another type
	codeThoughtNotFound = "THOUGHT_NOT_FOUND"   // a reference to a thought that is not on the path
	codeBranchNotFound  = "BRANCH_NOT_FOUND"    // recall of a branch that the session does not have
	codeInvalidCursor   = "INVALID_CURSOR"      // a cursor that was not given for this call
	codeSessionRequired = "SESSION_ID_REQUIRED" // nothing says which session the call continues
)

// words are a code of the engine in this contract.
type words struct {
	code string
	fix  string // where the engine has none, or none in the terms of this contract
}

const again = "repeat the call"

// table has every code of the engine but the internal error, which is left to
// the transport: it logs the cause and tells the client where to find it.
var table = map[sequent.Code]words{
	sequent.CodeInvalidThought:   {code: "INVALID_THOUGHT"},
	sequent.CodeInvalidSession:   {code: "INVALID_SESSION_ID"},
	sequent.CodeInvalidQuery:     {code: "INVALID_QUERY"},
	sequent.CodeSessionNotFound:  {"SESSION_NOT_FOUND", "omit sessionId to begin a session, or call recall_thinking to list those that exist"},
	sequent.CodeSessionExists:    {"SESSION_EXISTS", again},
	sequent.CodeRequestKeyReused: {"REQUEST_KEY_REUSED", "use a new requestKey for a new thought, or repeat the first call unchanged"},
	sequent.CodeLimitExceeded:    {code: "LIMIT_EXCEEDED"},
	sequent.CodeConflict:         {"CONFLICT", again},
	sequent.CodeCanceled:         {"CANCELED", again},
	sequent.CodeBusy:             {"STORE_BUSY", again},
	sequent.CodeUnavailable:      {"STORE_UNAVAILABLE", "tell the user; nothing was recorded"},
	sequent.CodeReadOnly:         {"STORE_READ_ONLY", "tell the user; nothing was recorded"},
	sequent.CodeFull:             {"STORE_FULL", "tell the user; nothing was recorded"},
	sequent.CodeCorrupt:          {"STORE_CORRUPT", "tell the user to run: sequent doctor"},
	sequent.CodeNewerSchema:      {"STORE_NEWER_SCHEMA", "tell the user to update sequent"},
}

// fields are the engine's names of arguments in this contract.
var fields = map[string]string{"text": "thought", "branch": "branchId"}

// A refusal is a [tool.Refusal] on its way out of a change function.
type refusal tool.Refusal

// Error returns the refusal's code and message.
func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// reject words arguments that do not fit the schema.
func reject(err *tool.ArgumentError) (tool.Reply, error) {
	r := tool.Refusal{Code: codeInvalidArgument, Field: err.Field, Message: err.Error()}
	switch {
	case err.Missing:
		r.Fix = "add it and repeat the call"
	case err.Field == "":
		r.Fix = "send the arguments as one JSON object"
	default:
		r.Fix = "correct it and repeat the call"
	}
	return r.Reply(), nil
}

// refuse words an error. An error without words is returned: it is a fault.
func refuse(err error) (tool.Reply, error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return tool.Refusal(*r).Reply(), nil
	}
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return tool.Reply{}, err
	}
	w, ok := table[e.Code]
	if !ok {
		return tool.Reply{}, err
	}
	r := tool.Refusal{Code: w.code, Field: e.Field, Message: e.Msg, Fix: e.Fix}
	if w.fix != "" {
		r.Fix = w.fix
	}
	if e.Field == "cursor" {
		r.Code = codeInvalidCursor
	}
	if ours, ok := fields[e.Field]; ok {
		r.Field = ours
		if rest, begins := strings.CutPrefix(r.Message, e.Field+" "); begins {
			r.Message = ours + " " + rest
		}
	}
	if r.Message == "" {
		r.Message = strings.ToLower(strings.ReplaceAll(w.code, "_", " "))
	}
	return r.Reply(), nil
}
