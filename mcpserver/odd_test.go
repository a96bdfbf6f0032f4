package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

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
		plain, _ := marshal(text)
		add("%s", callWith("2", `"name":"note","arguments":{"text":`+string(quoted)+`}`))
		add("%s", callWith("2", `"name":"args","arguments":{"text":`+string(plain)+`}`))
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
