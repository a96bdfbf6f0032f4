package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// JSONReply returns v as compact JSON, in JSON and in Text. It does not escape HTML
// characters, because no browser reads a reply and escapes cost a model tokens.
//
// v consists of strings, finite numbers, booleans, and slices, maps and structs of
// these, which can always be encoded. JSONReply panics if encoding fails.
func JSONReply(v any) Reply {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("tool: cannot encode a reply: %v", err))
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return Reply{Text: string(raw), JSON: raw}
}

// A Refusal is the reason for refusing a call, in words that a model can act on.
type Refusal struct {
	Code    string `json:"code"`            // stable, upper case: SESSION_NOT_FOUND
	Field   string `json:"field,omitempty"` // the argument at fault, as the schema spells it
	Message string `json:"message"`         // what is wrong, in one sentence without a full stop
	Fix     string `json:"fix,omitempty"`   // what to do next, in the imperative, lower case
}

// Reply returns r as a failed Reply. Its Text is one line, "CODE: message; fix", and
// its JSON is {"error": r}.
func (r Refusal) Reply() Reply {
	reply := JSONReply(struct {
		Error Refusal `json:"error"`
	}{r})
	reply.Text = strings.ReplaceAll(r.Code+": "+r.Text(), "\n", " ")
	reply.Failed, reply.Code = true, r.Code
	return reply
}

// Text returns the message and the fix, for contracts whose refusals are texts.
func (r Refusal) Text() string {
	if r.Fix == "" {
		return r.Message
	}
	return r.Message + "; " + r.Fix
}
