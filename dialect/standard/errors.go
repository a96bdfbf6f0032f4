package standard

import (
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/internal/wording"
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

const again = "repeat the call"

// table has the words of this contract for the engine's.
var table = wording.Table{
	Codes: map[sequent.Code]wording.Words{
		sequent.CodeInvalidThought:   {Code: "INVALID_THOUGHT"},
		sequent.CodeInvalidSession:   {Code: "INVALID_SESSION_ID"},
		sequent.CodeInvalidQuery:     {Code: "INVALID_QUERY"},
		sequent.CodeSessionNotFound:  {Code: "SESSION_NOT_FOUND", Fix: "omit sessionId to begin a session, or call recall_thinking to list those that exist"},
		sequent.CodeSessionExists:    {Code: "SESSION_EXISTS", Fix: again},
		sequent.CodeRequestKeyReused: {Code: "REQUEST_KEY_REUSED", Fix: "use a new requestKey for a new thought, or repeat the first call unchanged"},
		sequent.CodeLimitExceeded:    {Code: "LIMIT_EXCEEDED"},
		sequent.CodeConflict:         {Code: "CONFLICT", Fix: again},
		sequent.CodeCanceled:         {Code: "CANCELED", Fix: again},
		sequent.CodeBusy:             {Code: "STORE_BUSY", Fix: again},
		sequent.CodeUnavailable:      {Code: "STORE_UNAVAILABLE", Fix: "tell the user; nothing was recorded"},
		sequent.CodeReadOnly:         {Code: "STORE_READ_ONLY", Fix: "tell the user; nothing was recorded"},
		sequent.CodeFull:             {Code: "STORE_FULL", Fix: "tell the user; nothing was recorded"},
		sequent.CodeCorrupt:          {Code: "STORE_CORRUPT", Fix: "tell the user to run: sequent doctor"},
		sequent.CodeNewerSchema:      {Code: "STORE_NEWER_SCHEMA", Fix: "tell the user to update sequent"},
	},
	Fields: map[string]string{"text": "thought", "branch": "branchId"},
}

// A refusal is a [tool.Refusal] on its way out of a change function.
type refusal tool.Refusal

// Error returns the refusal's code and message.
func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// reject words arguments that do not fit the schema.
func reject(err *tool.ArgumentError) (tool.Reply, error) {
	return wording.Argument(codeInvalidArgument, err).Reply(), nil
}

// refuse words an error. An error without words is returned: it is a fault.
func refuse(err error) (tool.Reply, error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return tool.Refusal(*r).Reply(), nil
	}
	r, e, ok := table.Refusal(err)
	if !ok {
		return tool.Reply{}, err
	}
	if e.Field == "cursor" {
		r.Code = codeInvalidCursor
	}
	return r.Reply(), nil
}
