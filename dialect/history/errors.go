package history

import (
	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
)

// codeInvalidArgument is the only code of this contract itself: an argument is missing
// or of another type.
const codeInvalidArgument = "INVALID_ARGUMENT"

// table has the words that differ from the shared ones.
var table = wording.Table{
	Codes: map[sequent.Code]wording.Words{
		sequent.CodeInvalidSession: {Fix: "pass the sessionId of a reply, or leave it out to begin a session"},
	},
	Fields:    map[string]string{"text": "thought", "branch": "branchId"},
	Uncertain: "do not repeat the call: thoughtHistory in the next reply shows whether the thought was recorded",
}

// reject returns the refusal of arguments that do not fit the schema.
func reject(err *tool.ArgumentError) (tool.Reply, error) {
	return wording.Argument(codeInvalidArgument, err).Reply(), nil
}

// refuse returns the refusal of an error, or the error itself if it is internal.
func refuse(err error) (tool.Reply, error) {
	r, ok := table.Refusal(err)
	if !ok {
		return tool.Reply{}, err
	}
	return r.Reply(), nil
}
