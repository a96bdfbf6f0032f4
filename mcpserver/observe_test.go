package mcpserver

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// An observerLog is an Observer that writes down what it is told.
type observerLog chan string

func newObserverLog() observerLog { return make(observerLog, 100) }

func (o observerLog) observe(ctx context.Context, x *Exchange) (context.Context, func()) {
	if x.Bare {
		return ctx, func() { o <- fmt.Sprintf("other %s %s %d %s", x.Via.Verb, x.Via.Protocol, x.Status, x.Reason) }
	}
	return ctx, func() {
		o <- fmt.Sprintf("%s %s%s id %s version %q %s %s %v session %t parent %q link %q code %d failed %t",
			x.Method, x.Tool, x.Prompt, x.ID, x.Protocol, x.Via.Transport, x.Via.Protocol+x.Via.Version, x.Via.Client.IsValid(),
			x.Via.Session != "", x.Parent.Parent, x.Via.Link.Parent, x.Code, x.Failed)
	}
}

// checkObserved waits for what is observed, in any order: an exchange over HTTP ends when its
// reply is sent, so that the next one can overtake it.
func checkObserved(t *testing.T, o observerLog, want ...string) {
	t.Helper()
	var got []string
	for range want {
		got = append(got, await(t, fmt.Sprintf("an exchange after %q", got), (<-chan string)(o)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(o) > 0 {
		t.Errorf("observed, and %d more:\n%s\nwant:\n%s", len(o), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const observedMeta = `"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestObserverOnPipe(t *testing.T) {
	o := newObserverLog()
	s := New(Config{Dialect: newNotebook().Dialect(), Observer: o.observe})
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{"text":"x"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"my thought","arguments":{"text":"x"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"my thought"}`,
		`{"jsonrpc":"2.0","id":"four","method":"tools/call","params":{"name":"note","arguments":{"text":"x"},` + observedMeta + `}}`,
		`nonsense`,
	}, "\n") + "\n"
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	const tail = ` pipe  false session false parent "" link "" code `
	checkObserved(t, o,
		`initialize  id 0 version "2025-06-18"`+tail+`0 failed false`,
		`tools/call note id 1 version "2025-06-18"`+tail+`0 failed false`,
		`tools/call  id 2 version "2025-06-18"`+tail+`-32602 failed false`,
		`  id 3 version "2025-06-18"`+tail+`-32601 failed false`,
		`tools/call note id "four" version "2026-07-28" pipe  false session false parent "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" link "" code 0 failed false`,
		`other   0 `,
	)
}

func TestObserverOverHTTP(t *testing.T) {
	t.Parallel()
	o := newObserverLog()
	d := newNotebook().Dialect()
	d.Name = "seen"
	w := serveHTTP(t, HTTPConfig{Auth: testAuth, Servers: []*Server{New(Config{Dialect: d, Observer: o.observe})}})
	const link = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	const path, bearer = "/mcp/seen", "Authorization: Bearer token-a"
	w.want(modernCall(path, "note", "x", bearer, link), http.StatusOK)
	w.want(modernCall(path, "note", "x", "Authorization: Bearer read-a"), http.StatusForbidden)
	w.want(strings.Replace(modernCall(path, "note", "x", bearer), "Mcp-Name: note", "Mcp-Name: other", 1), http.StatusBadRequest)
	w.want(modernCall(path, "note", "x"), http.StatusUnauthorized) // before its message is read
	id := w.handshake(path, bearer)
	w.want("POST "+path+"\n"+bearer+"\nMcp-Session-Id: "+id+"\n\n"+callLine(2, "note", "x"), http.StatusOK)
	w.want("DELETE "+path+"\n"+bearer+"\nMcp-Session-Id: "+id+"\n", http.StatusNoContent)
	w.want("GET "+path+"\n"+bearer+"\nOrigin: https://evil.example\n", http.StatusForbidden)
	w.want("GET /favicon.ico\n", http.StatusNotFound)
	w.want("POST "+path+"\n"+bearer+"\n\n[]", http.StatusBadRequest)
	c := w.connect(t, "/ws/seen", nil, bearer)
	c.send(wireCall(3, "note", `{"text":"x"}`, true))
	c.want(`"id":3`)
	const none = `tcp http1.1 true session false parent "" link "" code `
	checkObserved(t, o,
		`tools/call note id 1 version "2026-07-28" tcp http1.1 true session false parent "" link "`+strings.TrimPrefix(link, "traceparent: ")+`" code 0 failed false`,
		`tools/call note id 1 version "2026-07-28" `+none+`-32600 failed false`,
		`tools/call note id 1 version "2026-07-28" `+none+`-32020 failed false`,
		`initialize  id 0 version "2025-11-25" tcp http1.1 true session true parent "" link "" code 0 failed false`,
		`tools/call note id 2 version "2025-11-25" tcp http1.1 true session true parent "" link "" code 0 failed false`,
		`other POST http 401 token_required`,
		`other DELETE http 204 `,
		`other GET http 403 foreign_origin`,
		`other POST http 400 `,
		`other GET websocket 101 `,
		`tools/call note id 3 version "2026-07-28" tcp websocket1.1 true session false parent "" link "" code 0 failed false`,
	)
}
