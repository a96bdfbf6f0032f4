package status

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
)

// Codes of JSON-RPC: this contract has no others.
const (
	codeInvalidParams = -32602
	codeInternalError = -32603
)

// table has what this contract says in other words than the rest.
var table = wording.Table{
	Fields:      map[string]string{"text": "thought", "note": "thought", "branch": "branch_id", "sessionId": "session_id"},
	SessionFull: "pass another session_id",
}

// words are what differs between the errors of the two tools.
type words struct {
	tool    string // its name
	subject string // what its params are called
}

var (
	plainWords    = words{tool: "sequential_thinking", subject: "sequential thinking"}
	externalWords = words{tool: "sequential_thinking_external", subject: "sequential thinking external"}
)

// reject words arguments that do not fit the schema.
func (w words) reject(err *tool.ArgumentError) (tool.Reply, error) {
	return tool.Reply{}, w.word(err)
}

// word puts an error into the contract. An error without words is returned: it is
// a fault.
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
	if said.Action == wording.Correct {
		return w.invalid(said.Text())
	}
	return internalError(said.Text())
}

func (w words) invalid(details string) error {
	return invalidParams("Invalid " + w.subject + " params: " + details)
}

func invalidParams(data string) error {
	return &tool.ProtocolError{Code: codeInvalidParams, Message: "Invalid params", Data: tool.JSONReply(data).JSON}
}

func internalError(data string) error {
	return &tool.ProtocolError{Code: codeInternalError, Message: "Internal error", Data: tool.JSONReply(data).JSON}
}

// none reports whether a call has no arguments at all.
func none(args json.RawMessage) bool {
	args = bytes.TrimSpace(args)
	return len(args) == 0 || string(args) == "null"
}
