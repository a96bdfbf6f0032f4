package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// JSONReply returns a Reply that is v as compact JSON, for a program and, in the
// same bytes, for a model. Characters of HTML stay as they are: nothing here is
// read by a browser, and escapes cost a model tokens.
//
// v is a reply type of a dialect, made of strings, finite numbers, booleans and
// slices, maps and structs of these, for which encoding cannot fail; JSONReply
// panics if it does.
func JSONReply(v any) Reply {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("tool: a reply cannot be encoded: %v", err))
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return Reply{Text: string(raw), JSON: raw}
}

// A Refusal says why a call was refused, in words that a model can act on.
type Refusal struct {
	Code    string `json:"code"`            // stable, upper case: SESSION_NOT_FOUND
	Field   string `json:"field,omitempty"` // the argument at fault, as the schema spells it
	Message string `json:"message"`         // what is wrong, in one sentence without a full stop
	Fix     string `json:"fix,omitempty"`   // what to do next, in the imperative, lower case
}

// Reply returns r as a failed Reply. Its text is one line, "CODE: message; fix";
// its JSON is {"error": r}. Contracts that word refusals in a way of their own
// do not use it.
func (r Refusal) Reply() Reply {
	reply := JSONReply(struct {
		Error Refusal `json:"error"`
	}{r})
	reply.Text = r.Code + ": " + r.Message
	if r.Fix != "" {
		reply.Text += "; " + r.Fix
	}
	reply.Text = strings.ReplaceAll(reply.Text, "\n", " ")
	reply.Failed = true
	return reply
}
