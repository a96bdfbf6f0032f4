package status

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/internal/implicit"
	"github.com/sequent-dev/sequent/dialect/internal/wording"
	"github.com/sequent-dev/sequent/tool"
)

// Codes of JSON-RPC: this contract has no others.
const (
	codeInvalidParams = -32602
	codeInternalError = -32603
)

// What a code of the engine is in this contract.
const (
	params   = "params"   // the caller can correct it
	internal = "internal" // the caller can repeat it, or tell somebody
)

const (
	again    = "repeat the call"
	tellUser = "tell the user; nothing was recorded"
)

// table has the words of this contract for the engine's.
var table = wording.Table{
	Codes: map[sequent.Code]wording.Words{
		sequent.CodeInvalidThought:   {Code: params},
		sequent.CodeInvalidSession:   {Code: params},
		sequent.CodeInvalidQuery:     {Code: params},
		sequent.CodeRequestKeyReused: {Code: params},
		sequent.CodeLimitExceeded:    {Code: params},
		sequent.CodeSessionNotFound:  {Code: internal, Fix: again},
		sequent.CodeSessionExists:    {Code: internal, Fix: again},
		sequent.CodeConflict:         {Code: internal, Fix: again},
		sequent.CodeCanceled:         {Code: internal, Fix: again},
		sequent.CodeBusy:             {Code: internal, Fix: again},
		sequent.CodeUnavailable:      {Code: internal, Fix: tellUser},
		sequent.CodeReadOnly:         {Code: internal, Fix: tellUser},
		sequent.CodeFull:             {Code: internal, Fix: tellUser},
		sequent.CodeCorrupt:          {Code: internal, Fix: "tell the user to run: sequent doctor"},
		sequent.CodeNewerSchema:      {Code: internal, Fix: "tell the user to update sequent"},
	},
	Fields: map[string]string{"text": "thought", "note": "thought", "branch": "branch_id", "sessionId": "session_id"},
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
	if errors.Is(err, implicit.ErrNoScope) {
		return w.invalid(implicit.ErrNoScope.Error() + "; " + implicit.Remedies)
	}
	if e, ok := errors.AsType[*ModelError](err); ok {
		return internalError(e.Error())
	}
	said, e, ok := table.Refusal(err)
	if !ok {
		return err
	}
	text := said.Message
	if e.Code == sequent.CodeLimitExceeded && e.Field == "thought" {
		said.Fix = "pass another session_id"
	}
	if said.Fix != "" {
		text += "; " + said.Fix
	}
	if said.Code == params {
		return w.invalid(text)
	}
	return internalError(text)
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
