package history

import (
	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/internal/wording"
	"github.com/sequent-dev/sequent/tool"
)

// codeInvalidArgument is the one code that this contract adds to the engine's:
// an argument is missing or of another type.
const codeInvalidArgument = "INVALID_ARGUMENT"

const (
	again    = "repeat the call"
	tellUser = "tell the user; nothing was recorded"
)

// table has the words of this contract for the engine's.
var table = wording.Table{
	Codes: map[sequent.Code]wording.Words{
		sequent.CodeInvalidThought:   {Code: "INVALID_THOUGHT"},
		sequent.CodeInvalidSession:   {Code: "INVALID_SESSION_ID", Fix: "pass the sessionId of a reply, or leave it out to begin a session"},
		sequent.CodeInvalidQuery:     {Code: "INVALID_QUERY"},
		sequent.CodeSessionNotFound:  {Code: "SESSION_NOT_FOUND", Fix: again},
		sequent.CodeSessionExists:    {Code: "SESSION_EXISTS", Fix: again},
		sequent.CodeRequestKeyReused: {Code: "REQUEST_KEY_REUSED"},
		sequent.CodeLimitExceeded:    {Code: "LIMIT_EXCEEDED"},
		sequent.CodeConflict:         {Code: "CONFLICT", Fix: again},
		sequent.CodeCanceled:         {Code: "CANCELED", Fix: again},
		sequent.CodeBusy:             {Code: "STORE_BUSY", Fix: again},
		sequent.CodeUnavailable:      {Code: "STORE_UNAVAILABLE", Fix: tellUser},
		sequent.CodeReadOnly:         {Code: "STORE_READ_ONLY", Fix: tellUser},
		sequent.CodeFull:             {Code: "STORE_FULL", Fix: tellUser},
		sequent.CodeCorrupt:          {Code: "STORE_CORRUPT", Fix: "tell the user to run: sequent doctor"},
		sequent.CodeNewerSchema:      {Code: "STORE_NEWER_SCHEMA", Fix: "tell the user to update sequent"},
	},
	Fields: map[string]string{"text": "thought", "branch": "branchId"},
}

// reject words arguments that do not fit the schema.
func reject(err *tool.ArgumentError) (tool.Reply, error) {
	return wording.Argument(codeInvalidArgument, err).Reply(), nil
}

// refuse words an error. An error without words is returned: it is a fault.
func refuse(err error) (tool.Reply, error) {
	r, _, ok := table.Refusal(err)
	if !ok {
		return tool.Reply{}, err
	}
	return r.Reply(), nil
}
