package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

const aCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{"text":"a"}}}`

// FuzzParse compares the reading of a message with one by encoding/json.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		aCall, `{"jsonrpc":"2.0","id":"a","method":"x","params":{"_meta":{"progressToken":1,"` + metaVersion + `":"2026-07-28","` + metaCapabilities + `":{},"` + metaClient + `":{}}}}`,
		`{"i\u0064":1,"method":"a\/b","jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"x","params":[1e5,-0.1,true,null,{}]}`,
		`{"jsonrpc":"2.0","result":{}}`, `[1]`, `7`, `{"a":01}`, `{"a":"\x"}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", strings.Repeat("[", 11_000), `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":7}} `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m := parseMessage(line)
		if !json.Valid(line) {
			if m.Kind != kindRefused || m.Fault != errNotJSON {
				t.Fatalf("%q is read as %+v, and is not JSON", line, m)
			}
			return
		}
		if m.Fault == errNotJSON {
			t.Fatalf("%q is refused, and is JSON", line)
		}
		if !bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("{")) {
			if m.Kind != kindRefused {
				t.Fatalf("%q is read as %+v, and is no object", line, m)
			}
			return
		}
		want := exact(t, line)
		if m.Kind != kindRequest {
			return
		}
		version, _ := stringIn(want["jsonrpc"])
		method, named := stringIn(want["method"])
		if version != "2.0" || !named || method != m.Method || !bytes.Equal(m.ID, want["id"]) || !bytes.Equal(m.Params, want["params"]) || !utf8.Valid(line) {
			t.Fatalf("%q is read as %+v, want the members %q", line, m, want)
		}
		meta := exact(t, exact(t, want["params"])["_meta"])
		if named, _ := stringIn(meta[metaVersion]); named != m.Meta.Version || !bytes.Equal(m.Meta.ProgressToken, meta[metaProgress]) ||
			!bytes.Equal(m.Meta.Capabilities, meta[metaCapabilities]) || !bytes.Equal(m.Meta.Client, meta[metaClient]) {
			t.Fatalf("%q has the meta %+v, want %q", line, m.Meta, meta)
		}
	})
}

// exact returns the members of an object, as encoding/json reads them.
func exact(t *testing.T, raw []byte) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

func stringIn(raw json.RawMessage) (string, bool) {
	var s *string
	err := json.Unmarshal(raw, &s)
	if err != nil || s == nil {
		return "", false
	}
	return *s, true
}

// A client is told that a call may have recorded something, also when the cause is
// left to the log.
func TestUncertainFault(t *testing.T) {
	s := New(Config{Dialect: dialect.Dialect{Name: "test"}})
	for _, test := range []struct {
		uncertain bool
		want      string // in the message
	}{
		{true, "may or may not have recorded"},
		{false, "internal error (id "},
	} {
		fault := s.guard(t.Context(), &request{message: message{Method: methodCall}}, func() error {
			return &sequent.Error{Code: sequent.CodeInternal, Uncertain: test.uncertain, Err: errors.New("secret")}
		})
		if !strings.Contains(fault.Message, test.want) || strings.Contains(fault.Message, "secret") ||
			strings.Contains(fault.Message, "may or may not") != test.uncertain {
			t.Errorf("the fault of an error with Uncertain %t is %q, want it to contain %q", test.uncertain, fault.Message, test.want)
		}
	}
}

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
		if got := converse(t, s, helloLine+"\n"+callWith("1", tt.params)+"\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.params, got, tt.want)
		}
	}
}
