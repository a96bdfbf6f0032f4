package tool

import (
	"context"
	"encoding/json"
	"errors"
)

// A Function is a tool in the hands of an agent in the same process: who calls is
// settled, arguments and answers are JSON. It is safe for concurrent use if the
// tool is.
//
// Name, Description and Call are what several Go frameworks call a tool; with
// InputSchema and CallJSON it is a function that any model can be offered.
type Function struct {
	tool   Tool
	caller Caller
}

// Function returns the tool as c calls it. A tool that keeps a session for those
// who name none needs a Scope in c to keep it for: a name that no other agent over
// the same engine has.
func (t Tool) Function(c Caller) *Function { return &Function{t, c} }

// Name returns the tool's name, as a model calls it.
func (f *Function) Name() string { return f.tool.Name }

// Description returns what a model is told about the tool.
func (f *Function) Description() string { return f.tool.Description }

// InputSchema returns the JSON Schema of the arguments.
func (f *Function) InputSchema() json.RawMessage { return f.tool.InputSchema }

// CallJSON answers a call with an object: the tool's structured answer or, where
// it has none, {"text": …}. What the model can correct is an answer too,
// {"error": …}; an error is a fault that the model can do nothing about.
func (f *Function) CallJSON(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	reply, err := f.call(ctx, args)
	switch {
	case err != nil || reply.JSON != nil:
		return reply.JSON, err
	case reply.Failed:
		return JSONReply(struct {
			Error string `json:"error"`
		}{reply.Text}).JSON, nil
	}
	return JSONReply(struct {
		Text string `json:"text"`
	}{reply.Text}).JSON, nil
}

// Call is CallJSON for frameworks that pass strings: it answers with the text that
// is meant for a model.
func (f *Function) Call(ctx context.Context, args string) (string, error) {
	reply, err := f.call(ctx, json.RawMessage(args))
	return reply.Text, err
}

// call answers an error of the protocol as a refusal: there is no protocol here,
// and the model can act on it.
func (f *Function) call(ctx context.Context, args json.RawMessage) (Reply, error) {
	reply, err := f.tool.Call(ctx, Call{Args: args, Caller: f.caller})
	p, ok := errors.AsType[*ProtocolError](err)
	if !ok {
		return reply, err
	}
	var said struct {
		Error struct {
			Code    int             `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data,omitempty"`
		} `json:"error"`
	}
	said.Error.Code, said.Error.Message, said.Error.Data = p.Code, p.Message, p.Data
	reply = JSONReply(said)
	reply.Failed = true
	return reply, nil
}
