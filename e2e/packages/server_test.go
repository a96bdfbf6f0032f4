package packages

import (
	"cmp"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// A server is a running process that speaks MCP on standard input and output.
type server struct{ *programtest.Process }

// startServer starts a server in a home directory, which introduces itself with a version.
func startServer(t *testing.T, h *home, version, name string, args ...string) server {
	t.Helper()
	p := server{programtest.StartIn(t, 5*time.Minute, h.dir, h.env, h.look(name), args...)}
	got := p.ask(t, "initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"packages","version":"1"}`)
	if !strings.Contains(got, `"name":"sequent"`) || !strings.Contains(got, `"version":"`+version+`"`) {
		t.Fatalf("the server introduces itself as %s; want sequent %s", got, version)
	}
	p.Send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

// ask sends a request and returns the reply, which has no error.
func (p server) ask(t *testing.T, method, params string) string {
	t.Helper()
	reply := p.Ask(t, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`)
	if !strings.Contains(reply, `"result":`) || strings.Contains(reply, `"isError":true`) {
		t.Fatalf("%s: the reply is %s", method, reply)
	}
	return reply
}

var sessionOf = regexp.MustCompile(`"structuredContent":\{"sessionId":"([0-9a-z]{12})"`)

// think records a thought, in a session unless that is empty, and returns the session.
func (p server) think(t *testing.T, session, thought string) string {
	t.Helper()
	reply := p.ask(t, "tools/call", programtest.Thought(thought, session))
	if m := sessionOf.FindStringSubmatch(reply); m != nil {
		session = cmp.Or(session, m[1])
	}
	return session
}

// recall returns what the server says about a session.
func (p server) recall(t *testing.T, session string) string {
	t.Helper()
	return p.ask(t, "tools/call", `"name":"recall_thinking","arguments":{"sessionId":"`+session+`"}`)
}

// converse starts a server, records a thought, reads it back and ends it.
func converse(t *testing.T, h *home, name string, args ...string) {
	t.Helper()
	p := startServer(t, h, version, name, args...)
	session := p.think(t, "", "Orders fail at noon, when reports run.")
	p.think(t, session, "Reports hold the pool for a minute.")
	if got := p.recall(t, session); !strings.Contains(got, "Orders fail at noon") || !strings.Contains(got, "Reports hold the pool") {
		t.Errorf("recall answers %s", got)
	}
	p.Close(t)
}
