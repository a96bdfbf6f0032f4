package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/tool"
)

// Interfaces of frameworks.
var _ interface {
	Name() string
	Description() string
	Call(ctx context.Context, input string) (string, error)
} = (*tool.Function)(nil)

func TestFunction(t *testing.T) {
	fault := errors.New("fault")
	tests := []struct {
		name       string
		reply      tool.Reply
		err        error
		json, text string
	}{
		{"structured", tool.JSONReply(map[string]int{"n": 1}), nil, `{"n":1}`, `{"n":1}`},
		{"text", tool.Reply{Text: "a <b>"}, nil, `{"text":"a <b>"}`, "a <b>"},
		{"refusal", tool.Refusal{Code: "NO", Message: "not so"}.Reply(), nil, `{"error":{"code":"NO","message":"not so"}}`, "NO: not so"},
		{"refusal in text", tool.Reply{Text: "not so", Failed: true}, nil, `{"error":"not so"}`, "not so"},
		{
			"error of the protocol", tool.Reply{},
			fmt.Errorf("wrapped: %w", &tool.ProtocolError{Code: -32602, Message: "Invalid params", Data: json.RawMessage(`"why"`)}),
			`{"error":{"code":-32602,"message":"Invalid params","data":"why"}}`,
			`{"error":{"code":-32602,"message":"Invalid params","data":"why"}}`,
		},
		{"fault", tool.Reply{}, fault, "", ""},
	}
	for _, tt := range tests {
		var seen tool.Call
		f := tool.Tool{
			Spec: tool.Spec{Name: "n", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Call: func(_ context.Context, c tool.Call) (tool.Reply, error) { seen = c; return tt.reply, tt.err },
		}.Function(tool.Caller{Owner: "alice", Scope: tool.Scope{Name: "s"}})
		if f.Name() != "n" || f.Description() != "d" || string(f.InputSchema()) != `{"type":"object"}` {
			t.Errorf("the function is %s, %s, %s", f.Name(), f.Description(), f.InputSchema())
		}
		raw, err := f.CallJSON(t.Context(), json.RawMessage(`{"a":1}`))
		text, textErr := f.Call(t.Context(), `{"a":1}`)
		same, refused, sameErr := f.CallText(t.Context(), json.RawMessage(`{"a":1}`))
		if wantRefused := strings.HasPrefix(tt.json, `{"error"`); same != text || refused != wantRefused || sameErr != textErr {
			t.Errorf("%s: CallText = %q, %t, %v, want refused %t", tt.name, same, refused, sameErr, wantRefused)
		}
		if string(raw) != tt.json || text != tt.text {
			t.Errorf("%s: got %s and %s, want %s and %s", tt.name, raw, text, tt.json, tt.text)
		}
		if wantFault := tt.json == ""; wantFault != errors.Is(err, fault) || wantFault != errors.Is(textErr, fault) {
			t.Errorf("%s: got %v and %v", tt.name, err, textErr)
		}
		if seen.Caller.Owner != "alice" || seen.Caller.Scope.Name != "s" || string(seen.Args) != `{"a":1}` {
			t.Errorf("%s: the tool sees %+v", tt.name, seen)
		}
	}
}
