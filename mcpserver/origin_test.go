package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/tool"
)

// whereServer returns a server with a tool that tells where its call comes from.
func whereServer(place Place, noOrigin bool) *Server {
	return New(Config{
		Dialect: dialect.Dialect{Name: "where", Tools: []tool.Tool{{
			Spec: tool.Spec{Name: "where", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Call: func(ctx context.Context, c tool.Call) (tool.Reply, error) {
				b, err := json.Marshal(sequent.OriginOf(ctx))
				return tool.Reply{Text: string(b) + " scope of " + c.Caller.Scope.Project}, err
			},
		}}},
		Caller: tool.Caller{Scope: tool.Scope{Name: "test", Exclusive: true, Project: "/cwd"}},
		Place:  place, NoOrigin: noOrigin,
	})
}

// text returns the text of the reply to a call.
func textOf(t *testing.T, line string) string {
	t.Helper()
	var reply struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(line), &reply); err != nil || len(reply.Result.Content) != 1 {
		t.Fatalf("got %s", line)
	}
	return reply.Result.Content[0].Text
}

const (
	callWhere    = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"where"}}`
	helloOfCodex = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{%s},"clientInfo":{"name":"codex","version":"1.2"}}}`
	initialized  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func git(dir string) (project string, head func() (branch, commit string)) {
	switch dir {
	case "":
		return "https://me:s3cret@h/own", func() (string, string) { return "main", "c1" }
	case "/home/a b":
		return "https://h/other", func() (string, string) { return "side", "c2" }
	}
	return "", nil
}

// Over stdio a call comes from the client's first root, and otherwise from the working
// directory.
func TestOriginOverStdio(t *testing.T) {
	const own = `{"client":"codex","clientVersion":"1.2","agent":"codex","project":"https://h/own","gitBranch":"main","commit":"c1"} scope of https://h/own`
	for name, test := range map[string]struct {
		place    Place
		noOrigin bool
		lines    []string // after the handshake; "" stands for a request of the server
		want     string
	}{
		"the working directory": {git, false, nil, own},
		"nothing":               {nil, false, nil, `{"client":"codex","clientVersion":"1.2","agent":"codex"} scope of /cwd`},
		"without origin":        {git, true, nil, `{} scope of /cwd`},
		"a root": {git, false, []string{"", `{"jsonrpc":"2.0","id":"roots-1","result":{"roots":[{"uri":"x:y"},{"uri":"file:///home/a%20b/"}]}}`},
			`{"client":"codex","clientVersion":"1.2","agent":"codex","project":"https://h/other","gitBranch":"side","commit":"c2"} scope of https://h/other`},
		"a root without a repository": {git, false, []string{"", `{"jsonrpc":"2.0","id":"roots-1","result":{"roots":[{"uri":"file:///srv"}]}}`},
			`{"client":"codex","clientVersion":"1.2","agent":"codex","project":"/srv"} scope of /srv`},
		"other roots": {git, false, []string{"", `{"jsonrpc":"2.0","id":"roots-1","result":{"roots":[{"uri":"file:///srv"}]}}`,
			`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, "", `{"jsonrpc":"2.0","id":"roots-2","result":{"roots":[{"uri":"file:///opt"}]}}`},
			`{"client":"codex","clientVersion":"1.2","agent":"codex","project":"/opt"} scope of /opt`},
		"a model":           {git, false, nil, strings.Replace(own, `"project"`, `"model":"gpt-5.4","project"`, 1)},
		"no root":           {git, false, []string{"", `{"jsonrpc":"2.0","id":"roots-1","result":{"roots":[]}}`}, own},
		"an error":          {git, false, []string{"", `{"jsonrpc":"2.0","id":"roots-1","error":{"code":-1,"message":"no"}}`}, own},
		"nonsense":          {git, false, []string{"", `{"jsonrpc":"2.0","id":"roots-1","result":[7,{"roots":"x"}]}`}, own},
		"relative":          {git, false, []string{"", `{"jsonrpc":"2.0","id":"roots-1","result":{"roots":[{"uri":"file:srv"},{"uri":"file:///a%00b"},{}]}}`}, own},
		"another reply":     {git, false, []string{"", `{"jsonrpc":"2.0","id":"roots-2","result":{"roots":[{"uri":"file:///srv"}]}}`}, own},
		"a reply of no one": {git, false, []string{"", `{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///srv"}]}}`}, own},
		"an early call":     {git, false, []string{"", callWhere, `{"jsonrpc":"2.0","id":"roots-1","result":{"roots":[{"uri":"file:///srv"}]}}`}, own},
		"no reply":          {git, false, []string{""}, own},
		"a reply before":    {git, false, []string{`{"jsonrpc":"2.0","id":"roots-0","result":{"roots":[{"uri":"file:///srv"}]}}`}, own},
	} {
		t.Run(name, func(t *testing.T) {
			p := dial(t, whereServer(test.place, test.noOrigin))
			roots := ""
			if len(test.lines) > 0 && test.lines[0] == "" {
				roots = `"roots":{"listChanged":true}`
			}
			p.send(fmt.Sprintf(helloOfCodex, roots))
			p.line()
			p.send(initialized)
			for _, line := range test.lines {
				switch line {
				case "":
					if got := p.line(); !strings.Contains(got, `"method":"roots/list"`) {
						t.Fatalf("got %s, want a request for the roots", got)
					}
				case callWhere:
					p.send(line)
					p.line()
				default:
					p.send(line)
				}
			}
			call := callWhere
			if strings.Contains(test.want, "gpt") {
				call = strings.Replace(call, `{"name"`, `{"_meta":{"x-codex-turn-metadata":{"model":"gpt-5.4"}},"name"`, 1)
			}
			p.send(call)
			if got := textOf(t, p.line()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Branch and commit are read when a session begins, and by no other call.
func TestHeadIsReadOnce(t *testing.T) {
	heads := 0
	p := dial(t, New(Config{
		Dialect: standard.New(standard.Config{Engine: sequent.New(sequent.Config{})}),
		Caller:  tool.Caller{Scope: tool.Scope{Name: "test", Exclusive: true}},
		Place: func(string) (string, func() (string, string)) {
			return "/p", func() (string, string) { heads++; return "main", "c1" }
		},
	}))
	p.send(fmt.Sprintf(helloOfCodex, ""))
	p.line()
	for n, call := range []string{
		`"sequentialthinking","arguments":{"thought":"a","nextThoughtNeeded":true}`,
		`"sequentialthinking","arguments":{"thought":"b","nextThoughtNeeded":true,"thoughtNumber":2}`,
		`"recall_thinking"`, `"recall_thinking","arguments":{"query":"a"}`,
	} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s}}`, n+2, call))
		if text := textOf(t, p.line()); heads != 1 {
			t.Errorf("%s: got %s; branch and commit were read %d times, want once", call, text, heads)
		}
	}
}

// Over HTTP the URL names agent and project, and a client of the newer era tells who it is
// with each request.
func TestOriginOverHTTP(t *testing.T) {
	w := serveHTTP(t, HTTPConfig{Servers: []*Server{whereServer(func(dir string) (string, func() (string, string)) {
		if dir == "" {
			t.Error("the server's own directory is no project of a client over HTTP")
		}
		return "", func() (string, string) { return "main", "" }
	}, false)}})
	modern := func(query, client string) string {
		t.Helper()
		request := modernPost("/mcp/where"+query, methodCall, "where", `"name":"where"`)
		if client != "" {
			request = strings.Replace(request, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/clientInfo":`+client+`,`, 1)
		}
		return textOf(t, w.want(request, 200).body)
	}
	for _, test := range []struct{ query, client, want string }{
		{"", "", `{} scope of `},
		{"", `{"name":"claude-code","version":"2.1"}`, `{"client":"claude-code","clientVersion":"2.1","agent":"claude-code"} scope of `},
		{"?agent=reviewer&project=https%3A%2F%2Fme%3As3cret%40h%2Fa", `{"name":"claude-code","version":"2.1"}`,
			`{"client":"claude-code","clientVersion":"2.1","agent":"reviewer","project":"https://h/a"} scope of https://h/a`},
		{"?agent=%00%E2%80%AE%0Ax&project=", "", `{"agent":"x"} scope of `},
		{"?agent=" + strings.Repeat("a", 5000), "", `{"agent":"` + strings.Repeat("a", 1024) + `"} scope of `},
	} {
		if got := modern(test.query, test.client); got != test.want {
			t.Errorf("%.80s: got %.300s\nwant %.300s", test.query, got, test.want)
		}
	}

	hello := w.ask("POST /mcp/where\n\n" + fmt.Sprintf(helloOfCodex, `"roots":{}`))
	id := hello.header.Get(headerSession)
	stream := w.open("GET /mcp/where\n" + headerSession + ": " + id)
	defer stream.Body.Close()
	next := events(stream.Body)
	post := func(query, line string, status int) answer {
		t.Helper()
		return w.want("POST /mcp/where"+query+"\n"+headerSession+": "+id+"\n\n"+line, status)
	}
	post("", initialized, 202)
	if line, err := next(); err != nil || !strings.Contains(line, `"roots/list"`) {
		t.Fatalf("got %s, %v; want a request for the roots", line, err)
	}
	post("", `{"jsonrpc":"2.0","id":"roots-1","result":{"roots":[{"uri":"file:///srv"}]}}`, 202)
	for query, want := range map[string]string{
		"":                   `{"client":"codex","clientVersion":"1.2","agent":"codex","project":"/srv","gitBranch":"main"} scope of /srv`,
		"?project=a&agent=b": `{"client":"codex","clientVersion":"1.2","agent":"b","project":"a"} scope of a`,
	} {
		if got := textOf(t, post(query, callWhere, 200).body); got != want {
			t.Errorf("%s: got %s\nwant %s", query, got, want)
		}
	}
}
