package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/tool"
)

// A callResult is the result of tools/call.
type callResult struct {
	Content []any           `json:"content"`
	JSON    json.RawMessage `json:"structuredContent,omitempty"`
	Failed  bool            `json:"isError,omitempty"`
}

// A textContent is a block of text.
type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// An imageContent is a block with an image.
type imageContent struct {
	Type      string `json:"type"`
	MediaType string `json:"mimeType"`
	Data      []byte `json:"data"`
}

// callTool answers tools/call. The arguments reach the tool as they came, and
// its reply goes out in the bytes that it gave, without white space.
func (s *Server) callTool(ctx context.Context, r *request) (any, error) {
	name, args, ok := callParams(r.Params)
	if !ok {
		return nil, badParams(r)
	}
	t := s.tools[string(name)]
	if t == nil {
		return nil, invalidParams("unknown tool %q", name)
	}
	if t.Heavy || len(args) >= longMessage {
		if err := r.Turn.Take(ctx); err != nil {
			return nil, err
		}
	}
	call := tool.Call{Args: args, Checked: !r.Lone, Caller: r.Caller}
	if p := r.progress(); p != nil {
		call.Progress, call.Text = p.report, p.write
		defer p.end()
	}
	reply, err := t.Call(ctx, call)
	if err != nil {
		return nil, err
	}
	if r.Seen != nil {
		r.Seen.Failed, r.Seen.Reason = reply.Failed, reply.Code
	}
	return resultOf(&reply)
}

// resultOf returns what a tool answered as a result.
func resultOf(reply *tool.Reply) (any, error) {
	result := callResult{JSON: reply.JSON, Failed: reply.Failed}
	result.Content = append(make([]any, 0, 1), textContent{"text", reply.Text})
	for _, text := range reply.Beside {
		result.Content = append(result.Content, textContent{"text", text})
	}
	for _, image := range reply.Images {
		result.Content = append(result.Content, imageContent{"image", image.MediaType, image.Data})
	}
	if reply.JSON != nil && (!json.Valid(reply.JSON) || !utf8.Valid(reply.JSON)) {
		return nil, errors.New("the tool's structured content is not JSON")
	}
	return result, nil
}

// writes reports whether a request may change a session.
func (s *Server) writes(m *message) bool {
	if m.Method != methodCall {
		return false
	}
	name, _, _ := callParams(m.Params)
	t := s.tools[string(name)]
	return t != nil && !t.Annotations.ReadOnly
}

// callParams returns the members of a call, and whether they are of the right
// types.
func callParams(raw json.RawMessage) (name []byte, args json.RawMessage, ok bool) {
	for member, value := range jsonscan.Members(raw) {
		switch string(member) {
		case "name":
			if name, ok = jsonscan.Text(value); !ok && !isNull(value) {
				return nil, nil, false
			}
		case "arguments":
			args = value
		}
	}
	return name, args, true
}
