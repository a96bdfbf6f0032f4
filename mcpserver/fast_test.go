package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/tool"
)

const (
	metaModern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	metaOther = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`
)

// callWith returns a request that calls a tool, from the raw parts of its params.
func callWith(id, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + params + `}}`
}

// oddCalls are calls, plain ones and others, in a form that both eras share.
func oddCalls() []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, name := range []string{"note", "args", "refuse", "outside", "fault", "coded", "panic", "broken", "spaced", "unspoken", "empty", "none", ""} {
		add("%s", callWith("1", `"name":"`+name+`","arguments":{"text":"a"}`))
	}
	for _, text := range []string{
		"", "plain", `<b>&amp; 'q' "r" \ /`, "tab\t nl\n cr\r bs\b ff\f nul\x00 esc\x1b del\x7f", "\u2028\u2029\u2027", "é 漢 😀 \ufffd \ufeff", strings.Repeat("long ", 4000),
	} {
		quoted, _ := json.Marshal(text)
		add("%s", callWith("2", `"name":"note","arguments":{"text":`+string(quoted)+`}`))
		add("%s", callWith("2", `"name":"args","arguments":{"text":`+string(appendQuoted(nil, text))+`}`))
	}
	for _, id := range []string{`"x"`, `"\u0041\n"`, `""`, "-1", "1.50", "1e3", "9007199254740993", "01", "1.", "-", "null", "{}", "true", `"é"`, `1 `} {
		add("%s", callWith(id, `"name":"args","arguments":{}`))
	}
	for _, params := range []string{
		`"name":"args"`, `"name":"args","arguments":null`, `"name":"args","arguments":[]`, `"name":"args","arguments":"{}"`, `"name":"args","arguments":7`,
		`"name":"args","arguments":{ "a" : [ 1 , -2.5e+3 , true , null , "\ud800" ] }`, `"arguments":{},"name":"args"`,
		`"name":"args","name":"note","arguments":{"text":"twice"}`, `"name":"args","arguments":{},"arguments":{"a":1}`, `"Name":"args"`,
		`"name":"\u0061rgs"`, `"n\u0061me":"args"`, `"name":7`, `"name":null`, `"arguments":{}`, ``, `"name":"args","x":1`, `"name":"args","requestState":"s"`,
		`"name":"args","inputResponses":{}`, `"name":"args","arguments":{"a":1e999}`, `"name":"args","arguments":{"a":tru}`, `"name":"args","arguments":{"a":"` + "\x01" + `"}`,
		`"name":"args","arguments":{"a":"\x"}`, `"name":"args","arguments":{"a":"\u12g4"}`, `"name":"args","arguments":{"a":1,}`, `"name":"args","arguments":{,}`,
		`"name":"args","arguments":{"a":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`,
		`"name":"args","arguments":{"a":` + strings.Repeat("[", 1200) + strings.Repeat("]", 1200) + `}`,
		`"name":"args","arguments":{"a":"` + "\xff" + `"}`, `"name":"args","arguments":{"a":.5}`, `"name":"args","arguments":{"a":-01}`,
	} {
		add("%s", callWith("3", params))
	}
	for _, meta := range []string{
		`{}`, `{"progressToken":1}`, `{"progressToken":"p"}`, `{"a/b":{"c":[1,"x",null,true]}}`, `{"n":1e999}`, `{"n":123456789012345678901234567890}`,
		`{"progressToken":{}}`, `null`, `7`, `[]`, `{"a":1,"a":2}`, `{"io.modelcontextprotocol/protocolVersion":7}`,
		`{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}`, `{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":7}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":7}}`,
		`{"io.modelcontextprotocol/clientCapabilities":{"roots":7}}`, `{"io.modelcontextprotocol/logLevel":7}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":7},"io.modelcontextprotocol/clientCapabilities":{}}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":3,"io.modelcontextprotocol/clientCapabilities":{}}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","n":1e999,"io.modelcontextprotocol/clientCapabilities":{}}`,
	} {
		add("%s", callWith("4", `"name":"args","_meta":`+meta+`,"arguments":{"a":1}`))
	}
	for _, line := range []string{
		` { "jsonrpc" : "2.0" , "id" : 5 , "method" : "tools/call" , "params" : { "name" : "args" , "arguments" : { } } } `,
		`{"id":5,"params":{"name":"args"},"method":"tools/call","jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":5,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":5,"id":6,"method":"tools/call","params":{"name":"args"}}`, `{"jsonrpc":"1.0","id":5,"method":"tools/call","params":{"name":"args"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools\/call","params":{"name":"args"}}`, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"args"},"x":1}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"args"}}`, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"args"}} x`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"args"}`, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"args"},"result":{}}`, `{"jsonrpc":"2.0","id":5,"method":"tools/list"}`,
	} {
		add("%s", line)
	}
	return lines
}

// comparing returns a dialect that answers in some more ways, for both paths.
func comparing(sdkOnly bool) *Server {
	d := newNotebook().dialect()
	d.Tools = slices.DeleteFunc(d.Tools, func(t tool.Tool) bool { return t.Name == "wait" })
	add := func(name string, reply tool.Reply) {
		d.Tools = append(d.Tools, tool.Tool{
			Spec: tool.Spec{Name: name, Description: "More.", InputSchema: json.RawMessage(noteSchema)},
			Call: func(context.Context, tool.Call) (tool.Reply, error) { return reply, nil },
		})
	}
	add("spaced", tool.Reply{Text: "bad \xff utf-8 \u2028", JSON: json.RawMessage(" { \"a\" : \"<\u2028>\" , \"b\" : [ ] }\n")})
	add("unspoken", tool.Reply{Text: "x", JSON: json.RawMessage("\"\xff\"")})
	add("empty", tool.Reply{JSON: json.RawMessage{}})
	return New(Config{Dialect: d, Version: `v1 <"2">`, SDKOnly: sdkOnly, Caller: tool.Caller{Owner: "o"}})
}

var someFault = regexp.MustCompile(`internal error \(id [a-z0-9]{8}\)`)

// compare gives both paths the same input and compares every byte of what comes.
func compare(t *testing.T, input string) {
	t.Helper()
	var got [2]string
	for i, sdkOnly := range []bool{false, true} {
		got[i] = someFault.ReplaceAllString(converse(t, comparing(sdkOnly), input), "internal error (id)")
	}
	if got[0] == got[1] {
		return
	}
	fast, sdk := strings.Split(got[0], "\n"), strings.Split(got[1], "\n")
	for i := range min(len(fast), len(sdk)) {
		if fast[i] != sdk[i] {
			t.Fatalf("reply %d is\n%.600q\nwith the SDK\n%.600q\ninput %.600q", i, fast[i], sdk[i], input)
		}
	}
	t.Fatalf("%d replies, with the SDK %d; input %.600q", len(fast), len(sdk), input)
}

func TestFastPathRepliesAsTheSDK(t *testing.T) {
	t.Parallel()
	legacy := hello + "\n" + opened + "\n"
	for i, line := range oddCalls() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			compare(t, legacy+line+"\n"+line+"\n")
			compare(t, line+"\n") // before the handshake
			for _, meta := range []string{metaModern, metaOther} {
				modern := strings.Replace(line, `"params":{`, `"params":{`+meta+`,`, 1)
				modern = strings.Replace(modern, ",}", "}", 1)
				compare(t, modern+"\n"+modern+"\n"+line+"\n"+modern+"\n")
				compare(t, legacy+callWith("1", meta+`,"name":"args"`)+"\n"+modern+"\n"+line+"\n")
			}
		})
	}
}

// The table must not compare the SDK with itself: this counts who answered.
func TestFastPathIsTaken(t *testing.T) {
	t.Parallel()
	plainMeta := callWith("1", `"_meta":{"progressToken":7},"name":"args","arguments":{"text":"a"}`)
	modern := callWith("1", metaModern+`,"name":"args","arguments":{"text":"a"}`)
	other := callWith("1", metaOther+`,"name":"args","arguments":{"text":"a"}`)
	for _, tt := range []struct {
		line   string
		judged string // a request before it
		fast   bool
	}{
		{call(1, "args", "a"), "", true},
		{plainMeta, "", true},
		{modern, modern, true},
		{modern, "", false},
		{modern, other, false},
		{call(1, "none", "a"), "", false},
		{callWith("1", `"name":"args","x":1`), "", false},
	} {
		s := comparing(false)
		c := &stdio{server: s, initialized: true}
		if tt.judged != "" {
			var e envelope
			var p plainCall
			if !glance([]byte(tt.judged), &e, &p) {
				t.Fatalf("%s is not plain", tt.judged)
			}
			c.client = judged{true, p.capabilities, p.client}
		}
		it := new(item)
		if !glance([]byte(tt.line), &it.envelope, &it.plain) {
			it.envelope = parse([]byte(tt.line))
		}
		if got := c.tool(it) != nil; got != tt.fast {
			t.Errorf("fast = %t, want %t, for %s after %q", got, tt.fast, tt.line, tt.judged)
		}
	}
}

// FuzzFastPath does what the table does with any line.
func FuzzFastPath(f *testing.F) {
	for _, line := range oddCalls() {
		f.Add([]byte(line))
	}
	f.Add([]byte(callWith("1", metaModern+`,"name":"note","arguments":{"text":"a"}`)))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.Contains(line, []byte("listen")) || bytes.Contains(line, []byte(`\u`)) && !bytes.Contains(line, []byte("tools/call")) {
			return // a subscription, whose notices come when they come
		}
		compare(t, hello+"\n"+callWith(`"m"`, metaModern+`,"name":"args"`)+"\n"+string(line)+"\n"+string(line)+"\n")
	})
}

// FuzzGlance checks that what is taken for a plain call is one to those who read
// with care, and is read in the same way.
func FuzzGlance(f *testing.F) {
	for _, line := range oddCalls() {
		f.Add([]byte(line))
		f.Add([]byte(strings.Replace(line, `"params":{`, `"params":{`+metaModern+`,`, 1)))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var e envelope
		var p plainCall
		if !glance(line, &e, &p) {
			if p.ok || e.kind != ignored || e.id != nil {
				t.Errorf("what is not plain left %+v %+v", e, p)
			}
			return
		}
		want := parse(line)
		if e.kind != want.kind || !bytes.Equal(e.id, want.id) || e.method != want.method || !bytes.Equal(e.params, want.params) ||
			e.modern != want.modern || e.modern && e.says != want.says {
			t.Fatalf("%q is read as %+v, want %+v", line, e, want)
		}
		var params struct {
			Name      string
			Arguments json.RawMessage
		}
		if err := json.Unmarshal(e.params, &params); err != nil || params.Name != p.name || !bytes.Equal(params.Arguments, p.args) {
			t.Fatalf("%q has params %+v (%v), read as %q, %q", line, params, err, p.name, p.args)
		}
	})
}

// FuzzCompact checks that what is taken for compact is what encoding/json makes
// of it.
func FuzzCompact(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x y",null]}`, `{"a": 1}`, "\"\u2028 \xff\"", `[-0.5e+7,true]`, `{"a":1} `, `01`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b bytes.Buffer
		if compact(raw) && (json.Compact(&b, raw) != nil || !bytes.Equal(b.Bytes(), raw) || !utf8.Valid(raw)) {
			t.Errorf("%q was taken for compact, it is %q", raw, b.Bytes())
		}
	})
}

func FuzzQuoted(f *testing.F) {
	f.Add("a\"b\\c\n\u2028\xff<")
	f.Fuzz(func(t *testing.T, s string) {
		want, err := marshal(s)
		if got := appendQuoted(nil, s); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q is quoted %q, want %q", s, got, want)
		}
	})
}
