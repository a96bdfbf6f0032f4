package classic

import (
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// codeInvalidArgument is the code of an argument that is missing or of another
// type.
const codeInvalidArgument = "INVALID_ARGUMENT"

// table has the words of this contract that differ from the shared ones.
var table = dialect.Table{
	Codes: map[sequent.Code]dialect.Words{
		sequent.CodeInvalidSession:   {Code: "INVALID_SESSION", Fix: "use another scope"},
		sequent.CodeInvalidQuery:     {Fix: dialect.RepeatCall},
		sequent.CodeRequestKeyReused: {Fix: dialect.RepeatCall},
		dialect.CodeScopeRequired:    {Fix: "add ?scope=NAME to the endpoint's URL, or authenticate, or use stdio"},
	},
	Fields:      map[string]string{"text": "thought", "branch": "branchId"},
	SessionFull: "begin another session with thoughtNumber 1",
}

// A refusal has the members of the contract (error and status) and those that help a
// model to correct the call.
type refusal struct {
	Error  string `json:"error"`
	Status string `json:"status"`
	Code   string `json:"code"`
	Field  string `json:"field,omitempty"`
	Fix    string `json:"fix,omitempty"`
}

// reply returns r as a failed reply. It has no structured content: clients check that
// against the output schema, which describes successful replies.
func (r refusal) reply() tool.Reply {
	r.Status = "failed"
	return tool.Reply{Text: tool.JSONReply(r).Text, Failed: true, Code: r.Code}
}

// reject returns the refusal of arguments that do not fit the schema.
func reject(err *tool.ArgumentError) (tool.Reply, error) {
	r := refusal{Code: codeInvalidArgument, Field: err.Field, Fix: err.Fix()}
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

// refuse returns the refusal of an error, or the error itself if it is internal.
func refuse(err error) (tool.Reply, error) {
	said, ok := table.Refusal(err)
	if !ok {
		return tool.Reply{}, err
	}
	r := refusal{Code: said.Code, Field: said.Field, Error: said.Message, Fix: said.Fix}
	if said.Field != said.Cause.Field { // the field is an argument
		if rest, begins := strings.CutPrefix(r.Error, said.Field+" "); begins {
			r.Error = "it " + rest
		}
		r.Error = "Invalid " + said.Field + ": " + r.Error
	}
	if said.SessionFull() {
		r.Field = ""
	}
	return r.reply(), nil
}
