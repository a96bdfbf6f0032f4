package status

import (
	"bytes"
	"encoding/json"
	"errors"

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

// words has the words that differ between the errors of the two tools.
type words struct {
	tool    string // name
	subject string // name of its arguments in errors
}

var (
	plainWords    = words{tool: "sequential_thinking", subject: "sequential thinking"}
	externalWords = words{tool: "sequential_thinking_external", subject: "sequential thinking external"}
	batchWords    = words{tool: "sequential_thinking_batch", subject: "sequential thinking batch"}
	analyzeWords  = words{tool: "analyze_thinking", subject: "analyze thinking"}
)

// reject returns the error for arguments that do not fit the schema.
func (w words) reject(err *tool.ArgumentError) (tool.Reply, error) {
	return tool.Reply{}, w.word(err)
}

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
