package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/tool"
)

// FuzzStdioLine feeds any bytes to a server that has made the handshake. It must
// read to the end, write nothing but JSON-RPC, and answer each request that an
// independent reading of the input finds exactly once.
func FuzzStdioLine(f *testing.F) {
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, seed := range []string{
		callLine(1, "note", "a"), callLine(`"x"`, "panic", ""), callLine("1.5", "outside", "b") + "\r\n\r\n" + callLine(2, "note", "c"),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modern + `}}`,
		`{"jsonrpc":"2.0","id":"q\"","method":"subscriptions/listen","params":{"notifications":{},` + modern + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"notes://note/a%20b"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"write"},"argument":{"name":"note","value":"n"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":{},"method":7}`, `[{"id":1}]`, "{\"id\":\"\xff\"}", "\x00", `{"id":1,"id":2}`, helloLine,
		strings.Repeat("[", 2000), callLine(3, "note", strings.Repeat("long ", 1000)), `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"JSONRPC":"2.0","ID":1,"Method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Repeat("[", 1200) + strings.Repeat("]", 1200) + `}`,
	} {
		f.Add([]byte(seed))
	}
	const maxLine = 4096
	d := newNotebook().Dialect()
	d.Tools = slices.DeleteFunc(d.Tools, func(t tool.Tool) bool { return t.Name == "wait" })
	s := New(Config{Dialect: d, MaxLine: maxLine})

	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		in := append([]byte(helloLine+"\n"), input...)
		if err := s.ServeStdio(t.Context(), bytes.NewReader(in), &out); err != nil {
			t.Fatalf("ServeStdio(%q) = %v", input, err)
		}

		// What the input asks for.
		due := make(map[string]int) // replies, by the bytes of the id
		due["0"]++                  // to helloLine
		known := map[string]bool{"null": true}
		cancels := false
		for line := range bytes.SplitSeq(input, []byte("\n")) {
			cancels = cancels || bytes.Contains(line, []byte("cancel")) || bytes.Contains(line, []byte(`\u`))
			var m map[string]json.RawMessage
			if len(line) > maxLine {
				known = nil // its id may be found, or not
				continue
			}
			if json.Unmarshal(line, &m) != nil {
				continue
			}
			id := string(m["id"])
			if known != nil {
				known[id] = true
			}
			var version, method string
			var anyID any
			isString := json.Unmarshal(m["jsonrpc"], &version) == nil && m["jsonrpc"][0] == '"' &&
				json.Unmarshal(m["method"], &method) == nil && m["method"][0] == '"'
			if m["id"] == nil || !isString || version != "2.0" || !utf8.Valid(line) {
				continue
			}
			switch _ = json.Unmarshal(m["id"], &anyID); anyID.(type) {
			case string, float64:
				due[id]++
			}
			if anyID == nil && id[0] != 'n' {
				due[id]++ // a number that no float64 holds
			}
		}

		// What came.
		got := make(map[string]int)
		lines := bufio.NewScanner(&out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			line := lines.Bytes()
			var m struct {
				Version string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
				Method  string          `json:"method"`
				Result  json.RawMessage `json:"result"`
				Error   *struct {
					Code    int    `json:"code"`
					Message string `json:"message"`
				} `json:"error"`
			}
			if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" || !utf8.Valid(line) {
				t.Fatalf("server wrote %q (%v) for %q", line, err, input)
			}
			if m.Method != "" {
				continue
			}
			if (m.Result == nil) == (m.Error == nil) || m.Error != nil && (m.Error.Code == 0 || m.Error.Message == "") {
				t.Fatalf("server wrote %q for %q, want a result or an error", line, input)
			}
			if id := string(m.ID); m.Error == nil || due[id] > got[id] {
				got[id]++
			} else if known != nil && !known[id] {
				t.Fatalf("server wrote %q, an id that is not in %q", line, input)
			}
		}
		for id, n := range due {
			if got[id] != n && !(cancels && got[id] < n) {
				t.Fatalf("%d replies to id %s, want %d, for %q", got[id], id, n, input)
			}
		}
		for id, n := range got {
			if n > due[id] {
				t.Fatalf("%d replies to id %s, want %d, for %q", n, id, due[id], input)
			}
		}
	})
}
