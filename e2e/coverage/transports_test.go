package coverage

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/tool"
)

// A transport is a way in which a client reaches a dialect.
type transport struct {
	name  string
	scope string // of steps that name none; empty means that the transport has none
	// serve returns what sends requests to a dialect.
	serve func(testing.TB, dialect.Dialect) sender
}

// A sender sends a request of a caller and returns the message that answers it.
type sender func(c tool.Caller, method string, params map[string]any) []byte

const (
	stdio    = "standard input"
	sessions = "sessions"
	scoped   = "scope"
	unscoped = "no scope"
)

var transports = []transport{
	{stdio, "test", serveStdio},
	{sessions, "test", serveSessions},
	{scoped, "test", serveStateless},
	{unscoped, "", serveStateless},
}

// An answer is what a client reads of a reply.
type answer struct {
	Result struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
		Contents          []struct{ Text string }
		Messages          []struct{ Content struct{ Text string } }
		Tools             []listedTool
		Resources         []struct{ URI string }
	}
	Error *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

type listedTool struct {
	Name        string
	InputSchema json.RawMessage
}

// remote returns the dialect as a client sees it: its tools, documents and prompts are asked
// for over the transport. Those that the transport lists are those of the dialect.
func remote(t testing.TB, d dialect.Dialect, send sender) dialect.Dialect {
	ask := func(c tool.Caller, method string, params map[string]any) (answer, error) {
		var a answer
		message := send(c, method, params)
		if err := json.Unmarshal(message, &a); err != nil {
			t.Fatalf("%s is answered with %q: %v", method, message, err)
		}
		if e := a.Error; e != nil {
			return a, &tool.ProtocolError{Code: e.Code, Message: e.Message, Data: e.Data}
		}
		return a, nil
	}
	listed, err := ask(tool.Caller{}, "tools/list", map[string]any{})
	if err != nil || !slices.EqualFunc(d.Tools, listed.Result.Tools, func(a tool.Tool, b listedTool) bool {
		return a.Name == b.Name && plain(a.InputSchema) == plain(b.InputSchema)
	}) {
		t.Fatalf("the transport lists the tools %+v, %v", listed.Result.Tools, err)
	}
	if len(d.Resources) > 0 {
		listed, err := ask(tool.Caller{}, "resources/list", map[string]any{})
		if err != nil || len(listed.Result.Resources) == 0 || listed.Result.Resources[0].URI != d.Resources[0].URI {
			t.Fatalf("the transport lists the resources %+v, %v", listed.Result.Resources, err)
		}
	}
	d.Tools, d.Resources, d.Prompts, d.Templates = slices.Clone(d.Tools), slices.Clone(d.Resources), slices.Clone(d.Prompts), slices.Clone(d.Templates)
	for i, tl := range d.Tools {
		d.Tools[i].Call = func(_ context.Context, call tool.Call) (tool.Reply, error) {
			params := map[string]any{"name": tl.Name}
			if len(call.Args) > 0 {
				params["arguments"] = call.Args
			}
			a, err := ask(call.Caller, "tools/call", params)
			if err != nil {
				return tool.Reply{}, err
			}
			r := tool.Reply{JSON: a.Result.StructuredContent, Failed: a.Result.IsError}
			for i, c := range a.Result.Content {
				if i == 0 {
					r.Text = c.Text
				} else {
					r.Beside = append(r.Beside, c.Text)
				}
			}
			return r, nil
		}
	}
	read := func(c tool.Caller, uri string) (string, error) {
		a, err := ask(c, "resources/read", map[string]any{"uri": uri})
		if err != nil || len(a.Result.Contents) != 1 {
			return "", err
		}
		return a.Result.Contents[0].Text, nil
	}
	for i, r := range d.Resources {
		d.Resources[i].Read = func(_ context.Context, c tool.Caller) (string, error) { return read(c, r.URI) }
	}
	for i, tmpl := range d.Templates {
		before, after, _ := strings.Cut(tmpl.URI, "{")
		_, after, _ = strings.Cut(after, "}")
		d.Templates[i].Read = func(_ context.Context, c tool.Caller, value string) (string, error) {
			return read(c, before+(&url.URL{Path: value}).EscapedPath()+after)
		}
	}
	for i, p := range d.Prompts {
		d.Prompts[i].Get = func(_ context.Context, c tool.Caller, args map[string]string) (string, error) {
			a, err := ask(c, "prompts/get", map[string]any{"name": p.Name, "arguments": args})
			if err != nil || len(a.Result.Messages) != 1 {
				return "", err
			}
			return a.Result.Messages[0].Content.Text, nil
		}
	}
	return d
}

// The handshake of an older client. Its name is what wiki signs thoughts with where no agent is named.
const (
	version = "2025-11-25"
	hello   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`
	opened  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// request returns a message, a line.
func request(method string, params map[string]any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}); err != nil {
		panic(err) // arguments of a transcript are valid JSON
	}
	return b.Bytes()
}

// serveStdio gives each request a connection of its own: the scope is the caller's.
func serveStdio(t testing.TB, d dialect.Dialect) sender {
	return func(c tool.Caller, method string, params map[string]any) []byte {
		c.Scope.Exclusive = true
		var out bytes.Buffer
		in := io.MultiReader(strings.NewReader(hello+"\n"+opened+"\n"), bytes.NewReader(request(method, params)))
		server := mcpserver.New(mcpserver.Config{Dialect: d, Caller: c, Agent: c.Agent})
		if err := server.ServeStdio(t.Context(), in, &out); err != nil {
			t.Error(err)
		}
		_, reply, _ := bytes.Cut(out.Bytes(), []byte("\n"))
		return reply
	}
}

// names authenticates callers whose token is their name.
type names struct{}

func (names) Identify(_ context.Context, token string) (auth.Identity, error) {
	return auth.Identity{Subject: token, Scope: auth.Write}, nil
}

// An endpoint is a dialect over HTTP, for the local user and for callers with tokens.
type endpoint struct{ local, others http.Handler }

func listen(t testing.TB, d dialect.Dialect) endpoint {
	serve := func(a auth.Authenticator) http.Handler {
		server := mcpserver.New(mcpserver.Config{Dialect: d})
		h, err := mcpserver.NewHTTP(mcpserver.HTTPConfig{Servers: []*mcpserver.Server{server}, Auth: a, Rate: -1})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	return endpoint{serve(nil), serve(names{})}
}

// post sends a message for a caller, with parts of the URL's query and header lines.
func (e endpoint) post(c tool.Caller, scope string, header map[string]string, message []byte) (body []byte, answered http.Header) {
	query := make(url.Values)
	if scope != "" {
		query.Set("scope", scope)
	}
	if c.Agent != "" {
		query.Set("agent", c.Agent)
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp?"+query.Encode(), bytes.NewReader(message))
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	handler := e.local
	if c.Owner != "" {
		handler = e.others
		r.Header.Set("Authorization", "Bearer "+c.Owner)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Body.Bytes(), w.Header()
}

// serveStateless serves requests of 2026-07-28. The scope of a caller is in the URL.
func serveStateless(t testing.TB, d dialect.Dialect) sender {
	e := listen(t, d)
	return func(c tool.Caller, method string, params map[string]any) []byte {
		name, ok := params["name"].(string)
		if !ok {
			name, _ = params["uri"].(string)
		}
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
		body, _ := e.post(c, c.Scope.Name, map[string]string{
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
		}, request(method, params))
		return body
	}
}

// serveSessions serves clients of before 2026-07-28, each of which has a session of the protocol.
// That session is the scope of its calls. The dialect is told the caller's name for it, which
// transcripts have in their logs, after a check that no two scopes have become one.
func serveSessions(t testing.TB, d dialect.Dialect) sender {
	var current string
	known := make(map[string]string) // the caller's name of each scope
	d.Tools = slices.Clone(d.Tools)
	for i, tl := range d.Tools {
		d.Tools[i].Call = func(ctx context.Context, c tool.Call) (tool.Reply, error) {
			of, seen := known[c.Caller.Scope.Name]
			if seen && of != current || c.Caller.Scope.Name == "" {
				t.Errorf("a call in the scope %s has the scope %q of %s", current, c.Caller.Scope.Name, of)
			}
			known[c.Caller.Scope.Name] = current
			c.Caller.Scope.Name = current
			return tl.Call(ctx, c)
		}
	}
	e := listen(t, d)
	ids := make(map[tool.Caller]string)
	return func(c tool.Caller, method string, params map[string]any) []byte {
		current = c.Scope.Name
		header := map[string]string{"Mcp-Protocol-Version": version, "Mcp-Session-Id": ids[c]}
		if ids[c] == "" {
			_, answered := e.post(c, "", nil, []byte(hello))
			ids[c] = answered.Get("Mcp-Session-Id")
			header["Mcp-Session-Id"] = ids[c]
			e.post(c, "", header, []byte(opened))
		}
		body, _ := e.post(c, "", header, request(method, params))
		return body
	}
}
