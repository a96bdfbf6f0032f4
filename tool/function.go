package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// A Function is a tool for an agent in the same process. The caller is fixed, and
// arguments and replies are JSON or text. It is safe for concurrent use if the
// tool is.
//
// Name, Description and Call are what several Go frameworks require of a tool.
// With InputSchema and CallJSON or CallText it is a function that any model can be
// offered. The three ways to call it differ in what they return: CallJSON an
// object, Call a text, and CallText a text and whether the call was refused.
type Function struct {
	tool   Tool
	caller Caller
}

// Function returns the tool for one caller. A tool that keeps the current session of
// a conversation needs a Scope in c: a name that no other agent with the same
// engine has.
func (t Tool) Function(c Caller) *Function { return &Function{t, c} }

// Name returns the tool's name, as a model calls it.
func (f *Function) Name() string { return f.tool.Name }

// Description returns the description of the tool for a model.
func (f *Function) Description() string { return f.tool.Description }

// InputSchema returns the JSON Schema of the arguments.
func (f *Function) InputSchema() json.RawMessage { return f.tool.InputSchema }

// CallJSON answers a call with an object: the tool's structured reply or, if it has
// none, {"text": …}. A refusal, which the model can correct, is {"error": …}. The
// error is an internal failure that the model cannot resolve.
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

// CallText answers a call with the text for a model, and reports whether the call
// was refused. The error is an internal failure that the model cannot resolve.
func (f *Function) CallText(ctx context.Context, args json.RawMessage) (text string, refused bool, err error) {
	reply, err := f.call(ctx, args)
	return strings.Join(append([]string{reply.Text}, reply.Beside...), "\n"), reply.Failed, err
}

// Call is CallText for frameworks that pass strings and report failures only as errors. A
// refusal is a text without an error.
func (f *Function) Call(ctx context.Context, args string) (string, error) {
	text, _, err := f.CallText(ctx, json.RawMessage(args))
	return text, err
}

// call returns an error of the protocol as a refusal, because there is no protocol and
// the model can correct the call.
func (f *Function) call(ctx context.Context, args json.RawMessage) (Reply, error) {
	reply, err := f.tool.Call(ctx, Call{Args: args, Caller: f.caller})
	p, ok := errors.AsType[*ProtocolError](err)
	if !ok {
		return reply, err
	}
	var body struct {
		Error struct {
			Code    int             `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data,omitempty"`
		} `json:"error"`
	}
	body.Error.Code, body.Error.Message, body.Error.Data = p.Code, p.Message, p.Data
	reply = JSONReply(body)
	reply.Failed = true
	return reply, nil
}
