package message

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

const aCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{"text":"a"}}}`

// FuzzIDFinder compares the reading of a line that goes by with that of one that
// is kept.
func FuzzIDFinder(f *testing.F) {
	for _, seed := range []string{
		aCall, `{"a":[{"id":1}],"id":"x\"\\","b":{}}`, `{"id":1,"id":{}}`, `{"i\u0064" : -1.5e3 }`, `{}`, `{"id":null}`,
	} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, line []byte, cut int) {
		if !json.Valid(line) || len(line) > MaxFoundID {
			return
		}
		var want json.RawMessage
		for name, value := range Members(line) {
			if name == "id" {
				want = nil
				if IsID(value) {
					want = value
				}
			}
		}
		var finder IDFinder
		cut = min(max(cut, 0), len(line))
		finder.Feed(line[:cut])
		finder.Feed(line[cut:])
		if got := finder.Found(); !bytes.Equal(got, want) {
			t.Errorf("found %q, want %q, in %q", got, want, line)
		}
		// And both with the standard library's, where that is as strict with names.
		var m map[string]json.RawMessage
		if json.Unmarshal(line, &m) == nil && utf8.Valid(line) && m["id"] != nil && IsID(m["id"]) && !bytes.Equal(m["id"], want) {
			t.Errorf("Members found %q, encoding/json %q, in %q", want, m["id"], line)
		}
	})
}

func FuzzQuoted(f *testing.F) {
	f.Add("a\"b\\c\n\u2028\xff<")
	f.Fuzz(func(t *testing.T, s string) {
		want, err := Marshal(s)
		if got := AppendQuoted(nil, s); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q is quoted %q, want %q", s, got, want)
		}
	})
}

// FuzzParse compares the reading of a message with one by encoding/json.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		aCall, `{"jsonrpc":"2.0","id":"a","method":"x","params":{"_meta":{"progressToken":1,"` + MetaVersion + `":"2026-07-28","` + MetaCapabilities + `":{},"` + MetaClient + `":{}}}}`,
		`{"i\u0064":1,"method":"a\/b","jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"x","params":[1e5,-0.1,true,null,{}]}`,
		`{"jsonrpc":"2.0","result":{}}`, `[1]`, `7`, `{"a":01}`, `{"a":"\x"}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", strings.Repeat("[", 11_000), `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":7}} `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m := Parse(line)
		if !json.Valid(line) {
			if m.Kind != Refused || m.Fault != errNotJSON {
				t.Fatalf("%q is read as %+v, and is not JSON", line, m)
			}
			return
		}
		if m.Fault == errNotJSON {
			t.Fatalf("%q is refused, and is JSON", line)
		}
		if !bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("{")) {
			if m.Kind != Refused {
				t.Fatalf("%q is read as %+v, and is no object", line, m)
			}
			return
		}
		want := exact(t, line)
		if m.Kind != Request {
			return
		}
		version, _ := text(want["jsonrpc"])
		method, named := text(want["method"])
		if version != "2.0" || !named || method != m.Method || !bytes.Equal(m.ID, want["id"]) || !bytes.Equal(m.Params, want["params"]) || !utf8.Valid(line) {
			t.Fatalf("%q is read as %+v, want the members %q", line, m, want)
		}
		meta := exact(t, exact(t, want["params"])["_meta"])
		if named, _ := text(meta[MetaVersion]); named != m.Meta.Version || !bytes.Equal(m.Meta.ProgressToken, meta[metaProgress]) ||
			!bytes.Equal(m.Meta.Capabilities, meta[MetaCapabilities]) || !bytes.Equal(m.Meta.Client, meta[MetaClient]) {
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

func text(raw json.RawMessage) (string, bool) {
	var s *string
	err := json.Unmarshal(raw, &s)
	if err != nil || s == nil {
		return "", false
	}
	return *s, true
}
