package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver/internal/mcptest"
	"github.com/sequent-dev/sequent/tool"
)

// TestLoneSurrogate sends escapes of half a surrogate pair to a tool that decodes its
// arguments with tool.New.
func TestLoneSurrogate(t *testing.T) {
	t.Parallel()
	type args struct {
		Text string `json:"text"`
	}
	spec := tool.Spec{Name: "echo", InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}
	echo := tool.New(spec, func(_ context.Context, _ tool.Call, in args) (tool.Reply, error) {
		return tool.Reply{Text: "echo " + in.Text}, nil
	}, func(e *tool.ArgumentError) (tool.Reply, error) {
		return tool.Reply{Text: e.Error(), Failed: true}, nil
	})
	s := New(Config{Dialect: dialect.Dialect{Name: "echo", Tools: []tool.Tool{echo}}})
	for _, tt := range []struct{ params, want string }{
		{`"name":"echo","arguments":{"text":"\ud83e\uddf5"}`, "echo 🧵"},
		{`"name":"echo","arguments":{"text":"a\ud83e"}`, "the arguments are not valid UTF-8"},
		{`"name":"echo","arguments":"{\"text\":\"\ud83e\"}"`, "the arguments are not valid UTF-8"},
		{`"name":"echo","arguments":"{\"text\":\"\\ud83e\"}"`, "the arguments are not valid UTF-8"},
		{`"name":"echo","arguments":{"text":"a"},"x":"\ud83e"`, "echo a"},
	} {
		if got := converse(t, s, mcptest.Hello+"\n"+mcptest.CallWith("1", tt.params)+"\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.params, got, tt.want)
		}
	}
}
