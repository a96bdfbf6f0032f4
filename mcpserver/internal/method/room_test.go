package method

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/tool"
)

// TestRoom checks that the size of a reply is told before it is encoded, and that the
// reply is an error if there is no room for it.
func TestRoom(t *testing.T) {
	t.Parallel()
	text, content := strings.Repeat("x", 1000), `{"a":"`+strings.Repeat("y", 500)+`"}`
	type args struct{}
	large := tool.New(tool.Spec{Name: "large", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
		func(context.Context, tool.Call, args) (tool.Reply, error) {
			return tool.Reply{Text: text, Beside: []string{"beside"}, JSON: json.RawMessage(content)}, nil
		}, func(e *tool.ArgumentError) (tool.Reply, error) { return tool.Reply{}, e })
	s := New(Config{Dialect: dialect.Dialect{
		Name: "large", Tools: []tool.Tool{large},
		Resources: []dialect.Resource{{URI: "a://b", Name: "b", Read: func(context.Context, tool.Caller) (string, error) { return text, nil }}},
	}})
	for _, tt := range []struct {
		method, params string
		least          int
	}{
		{callTool, `{"name":"large","arguments":{}}`, len(text) + len("beside") + len(content)},
		{read, `{"uri":"a://b"}`, len(text)},
	} {
		for _, full := range []bool{false, true} {
			told := 0
			r := &Request{
				Message: &message.Message{ID: []byte("1"), Method: tt.method, Params: json.RawMessage(tt.params)},
				Room: func(n int) *message.Error {
					told = n
					if full {
						return &message.Error{Code: message.CodeFull, Message: "no room"}
					}
					return nil
				},
			}
			line, fault := s.Answer(t.Context(), nil, r)
			if told != tt.least || (fault != nil) != full || full != (len(line) < 200) {
				t.Errorf("%s, full: %t: told %d bytes, reply of %d bytes, %v; want %d bytes", tt.method, full, told, len(line), fault, tt.least)
			}
		}
	}
}
