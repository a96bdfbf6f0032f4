package history

import (
	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
)

// table has the words that differ from the shared ones.
var table = dialect.Table{
	Codes: map[sequent.Code]dialect.Words{
		sequent.CodeInvalidSession: {Fix: "pass the sessionId of a reply, or leave it out to begin a session"},
	},
	Fields:    map[string]string{"text": "thought", "branch": "branchId"},
	Uncertain: "do not repeat the call: thoughtHistory in the next reply shows whether the thought was recorded",
}
