package mcpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
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
