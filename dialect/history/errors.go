package history

import (
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// codeInvalidArgument is the one code that this contract adds to the engine's:
// an argument is missing or of another type.
const codeInvalidArgument = "INVALID_ARGUMENT"

// words are a code of the engine in this contract.
type words struct {
	code string
	fix  string // where the engine has none, or none in the terms of this contract
}

const (
	again    = "repeat the call"
	tellUser = "tell the user; nothing was recorded"
)

// table has every code of the engine but the internal error, which is left to
// the transport: it logs the cause and tells the client where to find it.
var table = map[sequent.Code]words{
	sequent.CodeInvalidThought:   {code: "INVALID_THOUGHT"},
	sequent.CodeInvalidSession:   {"INVALID_SESSION_ID", "pass the sessionId of a reply, or leave it out to begin a session"},
	sequent.CodeInvalidQuery:     {code: "INVALID_QUERY"},
	sequent.CodeSessionNotFound:  {"SESSION_NOT_FOUND", again},
	sequent.CodeSessionExists:    {"SESSION_EXISTS", again},
	sequent.CodeRequestKeyReused: {code: "REQUEST_KEY_REUSED"},
	sequent.CodeLimitExceeded:    {code: "LIMIT_EXCEEDED"},
	sequent.CodeConflict:         {"CONFLICT", again},
	sequent.CodeCanceled:         {"CANCELED", again},
	sequent.CodeBusy:             {"STORE_BUSY", again},
	sequent.CodeUnavailable:      {"STORE_UNAVAILABLE", tellUser},
	sequent.CodeReadOnly:         {"STORE_READ_ONLY", tellUser},
	sequent.CodeFull:             {"STORE_FULL", tellUser},
	sequent.CodeCorrupt:          {"STORE_CORRUPT", "tell the user to run: sequent doctor"},
	sequent.CodeNewerSchema:      {"STORE_NEWER_SCHEMA", "tell the user to update sequent"},
}

// fields are the engine's names of arguments in this contract.
var fields = map[string]string{"text": "thought", "branch": "branchId"}

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
