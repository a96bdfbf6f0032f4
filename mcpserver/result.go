package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A toolResult is a result of tools/call that is encoded as the tool gave it:
// the SDK's own type escapes the characters of HTML, in structured content too.
type toolResult struct {
	mcp.ResultBase
	text     string
	json     json.RawMessage
	failed   bool
	complete bool // say resultType, which 2026-07-28 requires
}

// newToolResult takes over what [Server.callTool] returned. Content that is not
// JSON is a fault of the tool; the SDK would not answer such a call at all.
func newToolResult(r *mcp.CallToolResult, modern bool) (*toolResult, error) {
	out := &toolResult{failed: r.IsError, complete: modern}
	out.Meta = r.Meta
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			out.text = t.Text
		}
	}
	if raw, ok := r.StructuredContent.(json.RawMessage); ok {
		if !utf8.Valid(raw) || !json.Valid(raw) {
			return nil, errors.New("the tool's structured content is not JSON")
		}
		out.json = raw
	}
	return out, nil
}

// MarshalJSON returns the result in the protocol's form.
func (r *toolResult) MarshalJSON() ([]byte, error) {
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	return marshal(struct {
		Meta              mcp.Meta        `json:"_meta,omitempty"`
		Content           []block         `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
		IsError           bool            `json:"isError,omitempty"`
		ResultType        string          `json:"resultType,omitempty"`
	}{
		Meta:              r.Meta,
		Content:           []block{{Type: "text", Text: r.text}},
		StructuredContent: r.json,
		IsError:           r.failed,
		ResultType:        resultType(r.complete),
	})
}

func resultType(complete bool) string {
	if complete {
		return "complete"
	}
	return ""
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
