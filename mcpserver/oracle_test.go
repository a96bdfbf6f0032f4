package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The oracle is a server of the same dialect that is built with the official SDK.
// Both get the same requests. A result must be the same JSON, an error must have
// the same code and data, and over HTTP the status must be the same, but for the
// differences in this table.
var differences = []difference{
	{name: "id", request: `"id": ?(1\.50|-?\d+e\d+|1e3|9007199254740993|-0)`,
		reason: "the SDK rounds ids above 2^53 and cuts fractions off; ours come back as they were written"},
	{name: "fault", request: `"(fault|coded|notes://note/fault)"`, theirs: new(0),
		reason: "the SDK gives an error of a tool or a document that is none of the protocol the code 0; ours has -32603"},
	{name: "refused", request: `"notes://note/long"|"note":"none"|"name":"outside"`, theirs: new(0),
		reason: "the SDK gives a wrapped error the code 0; ours finds the refusal in it"},
	{name: "gone", request: `"method":"resources/read"`, era: "handshake", theirs: new(codeInvalidParams),
		reason: "up to 2025-11-25 a document that does not exist is -32002, as those versions say; the SDK has -32602 in all"},
	{name: "escaped", request: `files://日本/my note\.md`,
		reason: "models write URIs as people do: ours are escaped as they should have been, and the SDK finds nothing"},
	{name: "logging", request: `"method":"logging/setLevel"`, era: "handshake",
		reason: "the SDK accepts logging/setLevel although logging is not declared; ours does not find the method"},
	{name: "listen", request: `"method":"subscriptions/listen"`, era: "handshake",
		reason: "the SDK serves subscriptions/listen in the handshake era, too, which does not have it"},
	{name: "subscribe", request: `"method":"resources/subscribe"}`, era: "handshake",
		reason: "the SDK misses the params of a method that is not declared; ours does not find the method"},
	{name: "deep", request: `\[{1000}`,
		reason: "the SDK closes the connection when a message nests more than 1,000 deep; ours may nest 10,000 deep"},
	{name: "large", request: `"n":1e999`,
		reason: "the SDK decodes all of _meta, where a number can be too large for it; ours reads the members that the protocol defines"},
	{name: "early", era: "modern", request: `"io.modelcontextprotocol/protocolVersion":(7|"2025-11-25")`,
		reason: "ours refuses a request that is not of the new era before a handshake, with a code; the SDK has the code 0, or serves it where it keeps no sessions"},
	{name: "space", over: "stdio", era: "handshake", request: `^ `,
		reason: "the SDK does not answer a line that begins with white space"},
	{name: "both eras", over: "stdio", era: "handshake", request: `protocolVersion":"2026-07-28","progressToken":3`,
		reason: "on a connection that has made the handshake the SDK leaves resultType out of a reply to a request of the new era"},
	{name: "text", over: "http", request: `.`, status: http.StatusBadRequest,
		reason: "the SDK answers a request that it cannot handle with a text and the status 400; ours is an error of JSON-RPC"},
	{name: "versions", request: `"method":"server/discover"|"2099-01-01"`,
		reason: "the SDK lists 2025-03-26, which ours does not serve, because it demands batches"},
	{name: "header", over: "http", era: "modern", request: `"method":"(tools/call|prompts/get|resources/read)"`, theirs: new(codeHeaderMismatch),
		reason: "where the SDK cannot read a name in the params it finds that the header differs; ours says what is wrong with the params"},
	{name: "eras", over: "http", era: "handshake", request: `"_meta":\{.*protocolVersion`, theirs: new(codeUnsupportedVersion),
		reason: "the SDK's handler of the handshake era refuses a request that names a version; ours serves both eras and compares the header"},
}

// A difference is one of the ways in which the two differ, and why.
type difference struct {
	name, reason string
	request      string // a regular expression that matches the requests
	era, over    string // "handshake" or "modern"; "stdio" or "http"; empty for both
	theirs       *int   // the code of the SDK's error; nil for any reply
	status       int    // of a reply of the SDK that is no JSON; 0 for any
}

func (d *difference) explains(line, era, over string, theirs said) bool {
	return (d.era == "" || d.era == era) && (d.over == "" || d.over == over) &&
		(d.theirs == nil || theirs.Error != nil && theirs.Error.Code == *d.theirs) &&
		(d.status == 0 || theirs.Error == nil && theirs.Result == nil && theirs.Status == d.status) &&
		regexp.MustCompile(d.request).MatchString(line)
}

// requests are those of all methods, good and bad, in a form that both eras share:
// the era is added to their params.
func requests() []string {
	var lines []string
	add := func(method string, params ...string) {
		for _, p := range params {
			if p != "" {
				p = `,"params":` + p
			}
			lines = append(lines, `{"jsonrpc":"2.0","id":"r","method":"`+method+`"`+p+`}`)
		}
	}
	for _, list := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
		add(list, ``, `{}`, `null`, `{"cursor":"nonsense"}`, `{"cursor":""}`, `{"cursor":7}`, `[]`, `{"x":1}`)
	}
	add("resources/read", ``, `{}`, `{"uri":"notes://about"}`, `{"uri":"notes://zz"}`, `{"uri":"notes://note/a"}`, `{"uri":"notes://note/a%20b%2F%3Cc%3E"}`,
		`{"uri":"notes://note/x/json"}`, `{"uri":"notes://note/none"}`, `{"uri":"notes://note/"}`, `{"uri":"notes://note/a/b"}`, `{"uri":"notes://note/long"}`,
		`{"uri":"notes://note/fault"}`, `{"uri":"files://a/b/c.md"}`, `{"uri":"files://"}`, `{"uri":"files://100%"}`, `{"uri":"files://日本/my note.md"}`, `{"uri":7}`, `{"uri":null}`, `7`)
	add("prompts/get", ``, `{}`, `{"name":"again"}`, `{"name":"absent"}`, `{"name":"write"}`, `{"name":"write","arguments":{"topic":"<cats>","other":"x"}}`,
		`{"name":"write","arguments":{"topic":"a","note":"none"}}`, `{"name":"write","arguments":{"topic":7}}`, `{"name":7}`, `{"name":"again","arguments":[]}`, `{"name":"again","arguments":null}`)
	ref := func(ref, argument string) string { return `{"ref":` + ref + `,"argument":` + argument + `}` }
	id, note := `{"type":"ref/resource","uri":"notes://note/{id}"}`, `{"type":"ref/prompt","name":"write"}`
	add("completion/complete", ``, `{}`, ref(id, `{"name":"id","value":"n14"}`), ref(id, `{"name":"id","value":"n"}`), ref(id, `{"name":"id","value":"none"}`), ref(note, `{"name":"note","value":"n149"}`),
		ref(note, `{"name":"topic","value":""}`), ref(note, `{"name":"absent","value":""}`), ref(note, `{"value":""}`), ref(note, `{"name":7,"value":""}`), ref(`{"type":"ref/other"}`, `{"name":"id","value":""}`),
		ref(`{"type":"ref/prompt","name":"absent"}`, `{"name":"note","value":""}`), ref(`{"type":"ref/resource","uri":"notes://other/{id}"}`, `{"name":"id","value":""}`), ref(`null`, `{"name":"id","value":""}`), ref(`7`, `{}`))
	add("ping", ``, `{}`, `null`)
	add("logging/setLevel", `{"level":"debug"}`)
	add("server/discover", ``, `{}`)
	add("resources/subscribe", `{"uri":"notes://zz"}`, ``)
	add("resources/unsubscribe", `{"uri":"notes://zz"}`)
	add("subscriptions/listen", `{"notifications":{}}`, `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["notes://zz"]}}`, `{}`, ``, `{"notifications":7}`, `{"notifications":{"resourceSubscriptions":[7]}}`, `{"notifications":{"toolsListChanged":7}}`)
	add("notifications/initialized", ``)
	add("notifications/cancelled", `{"requestId":1}`)
	add("no/such", ``, `{}`)
	add("", ``)
	for _, line := range oddCalls() {
		if m := parseMessage([]byte(line)); m.Kind == kindRequest && !strings.Contains(line, `"name":"panic"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

// modern returns a request of 2026-07-28, and false if its params or their _meta
// are no object.
func modern(line string) (string, bool) {
	m := parseMessage([]byte(line))
	params, meta := string(m.Params), strings.TrimSuffix(modernMeta, "}")
	switch {
	case params == "" || params == "null":
		params = `{` + meta + `}}`
	case strings.Contains(params, `"_meta":{`):
		params = strings.Replace(params, `"_meta":{`, meta+`,`, 1)
	case !strings.HasPrefix(params, "{") || strings.Contains(params, `"_meta"`):
		return "", false
	default:
		params = strings.Replace(params, "{", "{"+meta+"},", 1)
	}
	params = strings.ReplaceAll(params, ",}", "}")
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, m.ID, m.Method, params), true
}

// A said is the reply to a request.
type said struct {
	Status int // over HTTP
	Result any
	Error  *struct {
		Code int
		Data any
	}
	ID json.RawMessage
}

func (s said) String() string {
	b, _ := json.Marshal(s)
	return fmt.Sprintf("%.900s", b)
}

// reply reads the reply among messages; zero if there is none.
func reply(status int, messages ...string) said {
	s := said{Status: status}
	for _, m := range messages {
		var one struct {
			Method string
			said
		}
		if json.Unmarshal([]byte(m), &one) == nil && one.Method == "" && (one.Result != nil || one.Error != nil) {
			s = one.said
			s.Status = status
		}
	}
	return s
}

// sameReply compares two replies.
func sameReply(a, b said) bool {
	if a.Status != b.Status || !reflect.DeepEqual(plain(a.ID), plain(b.ID)) || (a.Error == nil) != (b.Error == nil) {
		return false
	}
	if a.Error != nil {
		return a.Error.Code == b.Error.Code && reflect.DeepEqual(a.Error.Data, b.Error.Data)
	}
	return reflect.DeepEqual(sorted(a.Result), sorted(b.Result))
}

// plain returns an id as encoding/json reads it, a number in its own digits.
func plain(id json.RawMessage) any {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	return string(id)
}

// sorted returns a result with its lists in the order of their bytes: the SDK sorts
// them by name, and ours are in the order of the dialect.
func sorted(result any) any {
	object, ok := result.(map[string]any)
	if !ok {
		return result
	}
	object = maps.Clone(object)
	for _, name := range []string{"tools", "resources", "resourceTemplates", "prompts"} {
		list, ok := object[name].([]any)
		if !ok {
			continue
		}
		var texts []string
		for _, item := range list {
			text, _ := json.Marshal(item)
			texts = append(texts, string(text))
		}
		slices.Sort(texts)
		object[name] = texts
	}
	return object
}

// askOracle sends lines to a server of the SDK, one after the other, and returns
// the reply to the last.
func askOracle(t *testing.T, lines ...string) said {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	session, err := oracle(comparingDialect()).Connect(ctx, &mcp.IOTransport{Reader: inR, Writer: outW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = inW.Close(); _ = outR.Close(); _ = session.Wait() }()
	defer context.AfterFunc(ctx, func() { _ = outR.Close() })()
	in := bufio.NewReader(outR)
	last := said{}
	for _, line := range lines {
		go func() { _, _ = io.WriteString(inW, line+"\n") }()
		if m := parseMessage([]byte(line)); m.Kind == kindNotification {
			continue
		}
		for last = (said{}); last.Result == nil && last.Error == nil; {
			got, err := in.ReadString('\n')
			if err != nil {
				return said{} // it has closed the connection
			}
			last = reply(0, got)
		}
	}
	return last
}

// compareAll compares the replies to all requests in both eras.
func compareAll(t *testing.T, over string, ask func(era, line string) (ours, theirs said)) {
	used := make(map[string]bool)
	for _, line := range requests() {
		newer, ok := modern(line)
		for era, line := range map[string]string{"handshake": line, "modern": newer} {
			if era == "modern" && !ok {
				continue
			}
			ours, theirs := ask(era, line)
			if sameReply(ours, theirs) {
				continue
			}
			at := slices.IndexFunc(differences, func(d difference) bool { return d.explains(line, era, over, theirs) })
			if at < 0 {
				t.Errorf("%s, %s: %.400s\nours   %s\ntheirs %s", over, era, line, ours, theirs)
				continue
			}
			used[differences[at].name] = true
		}
	}
	for _, d := range differences {
		if !used[d.name] && (d.over == "" || d.over == over) {
			t.Errorf("over %s nothing differs any more as in %q", over, d.name)
		}
	}
}

func TestOracleOnStdio(t *testing.T) {
	t.Parallel()
	compareAll(t, "stdio", func(era, line string) (ours, theirs said) {
		before := []string{helloLine, openedLine}
		if era == "modern" {
			before = nil
		}
		lines := append(before, line)
		out := strings.Split(strings.TrimSpace(converse(t, New(Config{Dialect: comparingDialect(), Version: "v1.2.3"}), strings.Join(lines, "\n")+"\n")), "\n")
		// A ping overtakes the handshake.
		out = slices.DeleteFunc(out, func(l string) bool { return len(lines) > 1 && strings.HasPrefix(l, `{"jsonrpc":"2.0","id":0,"result"`) })
		return reply(0, out...), askOracle(t, lines...)
	})
}

func TestOracleOverHTTP(t *testing.T) {
	t.Parallel()
	h, err := NewHTTP(HTTPConfig{Servers: []*Server{New(Config{Dialect: comparingDialect(), Version: "v1.2.3"})}, Rate: -1})
	if err != nil {
		t.Fatal(err)
	}
	sdk := oracle(comparingDialect())
	theirs := map[string]http.Handler{
		"handshake": mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, &mcp.StreamableHTTPOptions{JSONResponse: true}),
		"modern":    mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true}),
	}
	compareAll(t, "http", func(era, line string) (said, said) {
		return post(t, h, era, line), post(t, theirs[era], era, line)
	})
}

// post sends a request, in the handshake era after a handshake.
func post(t *testing.T, h http.Handler, era, line string) said {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	send := func(body string, header http.Header) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		maps.Copy(r.Header, header)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	m := parseMessage([]byte(line))
	header := make(http.Header)
	if era == "modern" {
		header.Set("Mcp-Protocol-Version", m.Meta.Version)
		header.Set("Mcp-Method", m.Method)
		for _, member := range []string{"name", "uri"} {
			var params map[string]json.RawMessage
			var text string
			if json.Unmarshal(m.Params, &params) == nil && json.Unmarshal(params[member], &text) == nil {
				header.Set("Mcp-Name", text)
			}
		}
	} else {
		header.Set(headerSession, send(helloLine, nil).Header().Get(headerSession))
		header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	w := send(line, header)
	body := w.Body.String()
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		next, messages := events(strings.NewReader(body)), []string(nil)
		for e, err := next(); err == nil; e, err = next() {
			messages = append(messages, e)
		}
		return reply(w.Code, messages...)
	}
	return reply(w.Code, body)
}
