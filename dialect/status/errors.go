package status

import (
	"errors"
	"strings"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// The codes of this contract are those of JSON-RPC.
const (
	codeInvalidParams = -32602
	codeInternalError = -32603
)

// table has the words of this contract that differ from the shared ones.
var table = dialect.Table{
	Fields:      map[string]string{"text": "thought", "note": "thought", "branch": "branch_id", "sessionId": "session_id"},
	SessionFull: "pass another session_id",
}

// words is the name of a tool, which its errors have.
type words string

// word returns an error of the contract, or err itself if it is internal.
func (w words) word(err error) error {
	if e, ok := errors.AsType[*tool.ArgumentError](err); ok {
		if e.Missing {
			return invalidParams("Missing required field: " + e.Field)
		}
		return w.invalid(e.Error())
	}
	if e, ok := errors.AsType[*ModelError](err); ok {
		return internalError(e.Error())
	}
	said, ok := table.Refusal(err)
	if !ok {
		return err
	}
	if said.Action == dialect.Correct {
		return w.invalid(said.Text())
	}
	return internalError(said.Text())
}

func (w words) invalid(details string) error {
	return invalidParams("Invalid " + strings.ReplaceAll(string(w), "_", " ") + " params: " + details)
}

func invalidParams(data string) error {
	return &tool.ProtocolError{Code: codeInvalidParams, Message: "Invalid params", Data: tool.JSONReply(data).JSON}
}

func internalError(data string) error {
	return &tool.ProtocolError{Code: codeInternalError, Message: "Internal error", Data: tool.JSONReply(data).JSON}
}
