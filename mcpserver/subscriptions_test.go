package mcpserver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/dialect/standard"
)

// thinking returns a server of the default dialect, and its engine.
func thinking() (*Server, *sequent.Engine) {
	e := sequent.New(sequent.Config{})
	return New(Config{Dialect: standard.New(standard.Config{Engine: e, Render: standard.Render{
		Markdown: archive.Markdown,
		JSON:     func(s *sequent.Session) string { return string(archive.JSON(s)) },
		Mermaid:  archive.Mermaid,
	}})}), e
}

func think(t *testing.T, e *sequent.Engine, id sequent.ID) {
	t.Helper()
	if _, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: c.Session().Len() + 1, Text: "a thought"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func subscription(id int, verb, uri string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/%s","params":{"uri":%q}}`, id, verb, uri)
}

func updated(uri string) string {
	return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
}

// In a bubble, which fails if anything is left behind.
func TestSubscribeOnStdio(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, e := thinking()
		think(t, e, "one")
		think(t, e, "two words")
		p := dial(t, s)
		p.send(hello, opened)
		if got := p.line(); !strings.Contains(got, `"resources":{"subscribe":true}`) {
			t.Errorf("the handshake offers %s, want to subscribe", got)
		}
		const one, two = "sequent://sessions/one/json", "sequent://sessions/two%20words"
		p.send(subscription(1, "subscribe", one), subscription(2, "subscribe", one), subscription(3, "subscribe", two))
		for id := 1; id <= 3; id++ {
			p.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id))
		}
		think(t, e, "one")
		p.want(updated(one))
		think(t, e, "two words")
		p.want(updated(two))

		p.send(subscription(4, "unsubscribe", one), subscription(5, "unsubscribe", "sequent://sessions/none"))
		p.want(`{"jsonrpc":"2.0","id":4,"result":{}}`)
		p.want(`{"jsonrpc":"2.0","id":5,"result":{}}`)
		think(t, e, "one")
		if err := e.Delete(t.Context(), "two words"); err != nil {
			t.Fatal(err)
		}
		p.want(updated(two)) // the last of it, and nothing of the other

		for i, uri := range []string{"sequent://sessions/none", "sequent://sessions", "sequent://sessions/one/xml", "nonsense", "sequent://sessions/%zz"} {
			p.send(subscription(10+i, "subscribe", uri))
			if got := p.line(); !strings.Contains(got, `"code":-32002`) || !strings.Contains(got, "Resource not found") {
				t.Errorf("to a subscription to %s came %s, want that it is not found", uri, got)
			}
		}
		for i := range maxWatched + 5 {
			think(t, e, sequent.ID(fmt.Sprint("many", i)))
			p.send(subscription(100+i, "subscribe", fmt.Sprint("sequent://sessions/many", i)))
			// Two are taken up before: one that was unsubscribed is not, and one that is gone is.
			if got := p.line(); strings.Contains(got, "error") != (i >= maxWatched-1) {
				t.Errorf("subscription %d: %s", i, got)
			}
		}
		_ = p.in.Close()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
	})
}

// Newer clients are not offered what they would not get.
func TestNoSubscriptionForNewerClients(t *testing.T) {
	t.Parallel()
	s, e := thinking()
	think(t, e, "one")
	p := dial(t, s)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`)
	if got := p.line(); strings.Contains(got, `"subscribe":true`) || !strings.Contains(got, `"resources":{`) {
		t.Errorf("discover says %s", got)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["sequent://sessions/one"]},` + modernMeta + `}}`)
	if got := p.line(); !strings.Contains(got, "acknowledged") || strings.Contains(got, "sequent://") {
		t.Errorf("the subscription is answered with %s, want that nothing was agreed", got)
	}
	if got := p.line(); !strings.Contains(got, `"id":2`) {
		t.Errorf("then came %s, want the end of it", got)
	}
	p.send(hello) // and older ones still are
	if got := p.line(); !strings.Contains(got, `"subscribe":true`) {
		t.Errorf("the handshake offers %s, want to subscribe", got)
	}
}

func TestSubscribeOverHTTP(t *testing.T) {
	t.Parallel()
	s, e := thinking()
	think(t, e.Owned("alice"), "one")
	think(t, e.Owned("bob"), "two")
	w := serveHTTP(t, HTTPConfig{Servers: []*Server{s}, Auth: testAuth})
	session := w.handshake("/mcp/standard", "Authorization: Bearer token-a")
	head := "\nAuthorization: Bearer token-a\nMcp-Session-Id: " + session + "\n\n"
	res := w.open("GET /mcp/standard" + head)
	defer res.Body.Close()
	next := events(res.Body)
	const uri = "sequent://sessions/one"
	w.want("POST /mcp/standard"+head+subscription(1, "subscribe", uri), http.StatusOK, `"result":{}`)
	// What belongs to another does not exist.
	w.want("POST /mcp/standard"+head+subscription(2, "subscribe", "sequent://sessions/two"), http.StatusOK, "Resource not found")
	think(t, e.Owned("bob"), "one") // which is another session
	for range 3 {
		think(t, e.Owned("alice"), "one")
		if got, err := next(); err != nil || got != updated(uri) {
			t.Fatalf("the stream has %s (%v), want %s", got, err, updated(uri))
		}
	}
	w.want("DELETE /mcp/standard"+head, http.StatusNoContent)
	if got, err := next(); err == nil {
		t.Errorf("after the session ended came %s", got)
	}
	s.watches.mu.Lock()
	defer s.watches.mu.Unlock()
	if len(s.watches.by) > 0 {
		t.Errorf("%d sessions are still told of changes", len(s.watches.by))
	}
}
