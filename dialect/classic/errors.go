package classic

import (
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/internal/implicit"
	"github.com/sequent-dev/sequent/dialect/internal/wording"
	"github.com/sequent-dev/sequent/tool"
)

// Codes of rules that this contract alone has.
const (
	codeInvalidArgument = "INVALID_ARGUMENT" // an argument is missing or of another type
	codeScopeRequired   = "SCOPE_REQUIRED"   // nothing says which session the call belongs to
)

const (
	again = "repeat the call"
	tell  = "tell the user; nothing was recorded"
)

// table has the words of this contract for the engine's.
var table = wording.Table{
	Codes: map[sequent.Code]wording.Words{
		sequent.CodeInvalidThought:   {Code: "INVALID_THOUGHT"},
		sequent.CodeInvalidSession:   {Code: "INVALID_SESSION", Fix: "use another scope"},
		sequent.CodeInvalidQuery:     {Code: "INVALID_QUERY", Fix: again},
		sequent.CodeSessionNotFound:  {Code: "SESSION_NOT_FOUND", Fix: again},
		sequent.CodeSessionExists:    {Code: "SESSION_EXISTS", Fix: again},
		sequent.CodeRequestKeyReused: {Code: "REQUEST_KEY_REUSED", Fix: again},
		sequent.CodeLimitExceeded:    {Code: "LIMIT_EXCEEDED"},
		sequent.CodeConflict:         {Code: "CONFLICT", Fix: again},
		sequent.CodeCanceled:         {Code: "CANCELED", Fix: again},
		sequent.CodeBusy:             {Code: "STORE_BUSY", Fix: again},
		sequent.CodeUnavailable:      {Code: "STORE_UNAVAILABLE", Fix: tell},
		sequent.CodeReadOnly:         {Code: "STORE_READ_ONLY", Fix: tell},
		sequent.CodeFull:             {Code: "STORE_FULL", Fix: tell},
		sequent.CodeCorrupt:          {Code: "STORE_CORRUPT", Fix: "tell the user to run: sequent doctor"},
		sequent.CodeNewerSchema:      {Code: "STORE_NEWER_SCHEMA", Fix: "tell the user to update sequent"},
	},
	Fields: map[string]string{"text": "thought", "branch": "branchId"},
}

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
	r := refusal{Code: codeInvalidArgument, Field: err.Field, Fix: wording.ArgumentFix(err)}
	switch {
	case err.Missing:
		r.Error = "Invalid " + err.Field + ": it is missing; it must be " + err.Want
	case err.Field == "":
		r.Error = "Invalid arguments: they are " + err.Value + "; they must be " + err.Want
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
	said, e, ok := table.Refusal(err)
	if !ok {
		return tool.Reply{}, err
	}
	r := refusal{Code: said.Code, Field: said.Field, Error: said.Message, Fix: said.Fix}
	if said.Field != e.Field { // one of the arguments
		if rest, begins := strings.CutPrefix(r.Error, said.Field+" "); begins {
			r.Error = "it " + rest
		}
		r.Error = "Invalid " + said.Field + ": " + r.Error
	}
	if e.Code == sequent.CodeLimitExceeded && e.Field == "thought" {
		r.Field, r.Fix = "", "begin another session with thoughtNumber 1"
	}
	return r.reply(), nil
}
