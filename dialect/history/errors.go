package history

import (
	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
)

// codeInvalidArgument is the one code that this contract adds to the engine's:
// an argument is missing or of another type.
const codeInvalidArgument = "INVALID_ARGUMENT"

// table has what this contract says in other words than the rest.
var table = wording.Table{
	Codes: map[sequent.Code]wording.Words{
		sequent.CodeInvalidSession: {Fix: "pass the sessionId of a reply, or leave it out to begin a session"},
	},
	Fields: map[string]string{"text": "thought", "branch": "branchId"},
}

// reject words arguments that do not fit the schema.
func reject(err *tool.ArgumentError) (tool.Reply, error) {
	return wording.Argument(codeInvalidArgument, err).Reply(), nil
}

// refuse words an error. An error without words is returned: it is a fault.
func refuse(err error) (tool.Reply, error) {
	r, ok := table.Refusal(err)
	if !ok {
		return tool.Reply{}, err
	}
	return r.Reply(), nil
}
