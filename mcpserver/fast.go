package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/tool"
)

// The SDK spends ten times as long on a call as a tool does. What follows answers
// plain calls of our own tools without it, byte for byte as it would be answered
// with it. There is a test that compares the two.

// A judged client is what requests of the modern era say about theirs, in bytes
// that the SDK has accepted on this connection.
type judged struct {
	known                bool
	capabilities, client json.RawMessage
}

func (j *judged) accepts(p *plainCall) bool {
	return j.known && bytes.Equal(j.capabilities, p.capabilities) && bytes.Equal(j.client, p.client)
}

// tool returns which of our tools a request is a plain call of; nil if it is not
// one, or if the SDK has to see it.
func (c *stdio) tool(it *item) *tool.Tool {
	if !it.plain.ok || it.modern && !c.client.accepts(&it.plain) {
		return nil
	}
	return c.server.toolNamed(it.plain.name)
}

// call answers a plain call of a tool.
func (c *stdio) call(t *tool.Tool, it *item) []byte {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	c.in.begin(it, cancel)
	s := c.server
	p := c.progress(it)
	defer p.end()
	begun := time.Now()
	args := tool.Call{Args: it.plain.args, Caller: s.caller, Progress: p.reporter()}
	if t.Overlaps {
		args.Queued = func() {
			if c.in.letGo(it) {
				runtime.Gosched() // so that those which are here come along
			}
		}
	}
	reply, fault := s.callPlain(ctx, t, args)
	c.reading.took(time.Since(begun))
	if fault != nil {
		return errorLine(it.id, s.wireError(methodCallTool, fault))
	}
	line, err := s.appendReply(slices.Grow(it.room, s.roomFor(&it.envelope, reply)), &it.envelope, reply)
	if err != nil {
		return errorLine(it.id, s.wireError(methodCallTool, s.internal(methodCallTool, t.Name, err)))
	}
	return line
}

// callPlain does what [Server.receive] and [Server.callTool] do.
func (s *Server) callPlain(ctx context.Context, t *tool.Tool, c tool.Call) (reply tool.Reply, fault *jsonrpc.Error) {
	defer func() {
		if p := recover(); p != nil {
			fault = s.panicked(methodCallTool, t.Name, p)
		}
	}()
	reply, err := t.Call(ctx, c)
	if err != nil {
		req := &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: t.Name}}
		return tool.Reply{}, s.clientError(ctx, methodCallTool, req, err)
	}
	return reply, nil
}

// roomFor returns about how long a reply is as a line.
func (s *Server) roomFor(e *envelope, reply tool.Reply) int {
	return len(e.id) + len(reply.JSON) + len(reply.Text) + len(reply.Text)/4 + len(s.modernMeta) + 160
}

// appendReply appends the reply to a call as a line.
func (s *Server) appendReply(line []byte, e *envelope, reply tool.Reply) ([]byte, error) {
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = append(line, e.id...)
	line = append(line, `,"result":{`...)
	if e.modern {
		line = append(line, s.modernMeta...)
	}
	line = append(line, `"content":[{"type":"text","text":`...)
	line = appendQuoted(line, reply.Text)
	line = append(line, `}]`...)
	if reply.JSON != nil {
		line = append(line, `,"structuredContent":`...)
		if compact(reply.JSON) {
			line = append(line, reply.JSON...)
		} else {
			b := bytes.NewBuffer(line)
			if !utf8.Valid(reply.JSON) || json.Compact(b, reply.JSON) != nil {
				return nil, errors.New("the tool's structured content is not JSON")
			}
			line = b.Bytes()
		}
	}
	if reply.Failed {
		line = append(line, `,"isError":true`...)
	}
	if e.modern {
		line = append(line, `,"resultType":"complete"`...)
	}
	return append(line, "}}\n"...), nil
}

// appendQuoted appends a string as encoding/json writes it without escapes for
// HTML.
func appendQuoted(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				b = append(append(b, s[start:i]...), `\ufffd`...)
			case r == '\u2028' || r == '\u2029':
				b = append(append(b, s[start:i]...), `\u202`...)
				b = append(b, digits[r&0xf])
			default:
				i += n
				continue
			}
			i += n
			start = i
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		}
		i++
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
