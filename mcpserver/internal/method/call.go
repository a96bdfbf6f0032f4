package method

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/tool"
)

// callTool answers tools/call. The arguments reach the tool as they came, and
// its reply goes out in the bytes that it gave.
func (s *Server) callTool(ctx context.Context, r *Request, result []byte) ([]byte, error) {
	name, args, ok := callParams(r.Params)
	if !ok {
		return nil, badParams(r)
	}
	t := s.tools[string(name)]
	if t == nil {
		return nil, message.InvalidParams("unknown tool %q", name)
	}
	if r.Seen != nil {
		r.Seen.Tool = t.Name
	}
	if err := r.begin(ctx, t.Weight); err != nil {
		return nil, err
	}
	defer r.end(t.Weight)
	reply, err := t.Call(ctx, tool.Call{Args: args, Checked: !r.Lone, Caller: r.Caller, Progress: r.Progress, Text: r.Text})
	if err != nil {
		return nil, err
	}
	if r.Seen != nil {
		r.Seen.Failed, r.Seen.Reason = reply.Failed, reply.Code
	}
	if err := r.room(least(&reply)); err != nil {
		return nil, err
	}
	return appendReply(result, reply)
}

// least returns how many bytes a reply has encoded, or fewer.
func least(reply *tool.Reply) int {
	n := len(reply.Text)
	for _, text := range reply.Beside {
		n += len(text)
	}
	for _, image := range reply.Images {
		n += base64.StdEncoding.EncodedLen(len(image.Data))
	}
	if bytes.IndexByte(reply.JSON, '\n') < 0 { // else white space is taken out
		n += len(reply.JSON)
	}
	return n
}

// Writes reports whether a request may change a session.
func (s *Server) Writes(m *message.Message) bool {
	if m.Method != callTool {
		return false
	}
	name, _, _ := callParams(m.Params)
	t := s.tools[string(name)]
	return t != nil && !t.Annotations.ReadOnly
}

// ReplyKind returns the kind of a request's reply: those of one kind, of a method or of a
// tool, have similar sizes.
func (s *Server) ReplyKind(m *message.Message) string {
	if m.Method == callTool {
		name, _, _ := callParams(m.Params)
		if t := s.tools[string(name)]; t != nil {
			return s.Name() + " " + t.Name
		}
	}
	return s.Name() + " " + m.Method
}

// callParams returns the members of a call, and whether they are of the right
// types.
func callParams(raw json.RawMessage) (name []byte, args json.RawMessage, ok bool) {
	ok = true
	for member, value := range message.Members(raw) {
		switch member {
		case "name":
			if name, ok = jsonscan.TextBytes(value); isNull(value) {
				ok = true
			}
		case "arguments":
			args = value
		}
		if !ok {
			return nil, nil, false
		}
	}
	return name, args, true
}

// appendReply appends what a tool answered to the members of a result.
func appendReply(result []byte, reply tool.Reply) ([]byte, error) {
	result = slices.Grow(result, len(reply.Text)+len(reply.Text)/4+len(reply.JSON)+128)
	result = message.AppendName(result, "content")
	result = append(result, `[{"type":"text","text":`...)
	result = message.AppendQuoted(result, reply.Text)
	for _, text := range reply.Beside {
		result = append(result, `},{"type":"text","text":`...)
		result = message.AppendQuoted(result, text)
	}
	for _, image := range reply.Images {
		result = append(result, `},{"type":"image","mimeType":`...)
		result = message.AppendQuoted(result, image.MediaType)
		result = append(result, `,"data":"`...)
		result = base64.StdEncoding.AppendEncode(result, image.Data)
		result = append(result, '"')
	}
	result = append(result, `}]`...)
	if reply.JSON != nil {
		result = message.AppendName(result, "structuredContent")
		var err error
		if result, err = appendJSON(result, reply.JSON); err != nil {
			return nil, err
		}
	}
	if reply.Failed {
		result = append(result, `,"isError":true`...)
	}
	return result, nil
}

// maxDepth is how deep structured content may nest.
const maxDepth = 10_000

// appendJSON checks a value and appends it without line ends.
func appendJSON(b []byte, raw json.RawMessage) ([]byte, error) {
	s := jsonscan.New(raw, maxDepth)
	s.Value()
	if s.End() != nil {
		return nil, errors.New("the tool's structured content is not JSON")
	}
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return append(b, raw...), nil
	}
	out := bytes.NewBuffer(b)
	err := json.Compact(out, raw)
	return out.Bytes(), err
}
