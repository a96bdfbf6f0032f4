package mcpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
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
		_, err := c.Append(sequent.Draft{Number: c.Session().Len() + 1, Text: "a thought", Final: true})
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
		p.send(helloLine, openedLine)
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
			// None is taken up before: one was unsubscribed, and one is gone.
			if got := p.line(); strings.Contains(got, "error") != (i >= maxWatched) {
				t.Errorf("subscription %d: %s", i, got)
			}
		}
		_ = p.in.Close()
		p.ended()
	})
}

// listening returns a request of subscriptions/listen.
func listenTo(id, uris string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":` +
		uris + `},` + modernMeta + `}}`
}

// told returns the notification about a document, or the acknowledgement if there is
// none.
func told(id, uri string, agreed ...string) string {
	meta := `"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}`
	if uri != "" {
		return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + meta + `,"uri":"` + uri + `"}}`
	}
	list, _ := json.Marshal(agreed)
	return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + meta + `,"notifications":{"resourceSubscriptions":` + string(list) + `}}}`
}

// over returns the reply that ends a subscription.
func over(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"sequent","version":"dev"},` +
		`"io.modelcontextprotocol/subscriptionId":` + id + `},"resultType":"complete"}}`
}

// In a bubble, which fails if anything is left behind. A subscription lasts and
// holds up nothing: not the calls after it, not a cancellation, not the end.
func TestListenOnStdio(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, e := thinking()
		think(t, e, "one")
		think(t, e, "two")
		p := dial(t, s)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`)
		if got := p.line(); !strings.Contains(got, `"resources":{"subscribe":true}`) {
			t.Errorf("discover offers %s, want to subscribe", got)
		}
		const one, two, first, second = "sequent://sessions/one", "sequent://sessions/two/json", `"a\"b"`, "9007199254740993"
		p.send(listenTo(first, `["`+one+`","sequent://sessions/none","`+one+`"]`), listenTo(second, `["`+one+`","`+two+`"]`))
		p.want(told(first, "", one))
		p.want(told(second, "", one, two))
		think(t, e, "two")
		p.want(told(second, two))
		think(t, e, "one")
		if got := []string{p.line(), p.line()}; !slices.Contains(got, told(first, one)) || !slices.Contains(got, told(second, one)) {
			t.Errorf("of the change both are told %q", got)
		}
		p.send(callWith("2", `"name":"recall_thinking","arguments":{},`+modernMeta))
		if got := p.line(); !strings.Contains(got, `"id":2,`) {
			t.Errorf("a call beside the subscriptions is answered with %s", got)
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + first + `}}`)
		synctest.Wait()
		think(t, e, "one")
		p.want(told(second, one)) // and nothing for the other, not even a reply
		if err := e.Delete(t.Context(), "two"); err != nil {
			t.Fatal(err)
		}
		p.want(told(second, two))
		_ = p.in.Close()
		p.want(over(second))
		p.ended()
	})
}

// Nothing to wait for is over at once, and so is what cannot be.
func TestListenRefused(t *testing.T) {
	t.Parallel()
	s, _ := thinking()
	many, _ := json.Marshal(slices.Repeat([]string{"sequent://sessions/x"}, maxWatched+1))
	for _, tt := range []struct{ line, want string }{
		{listenTo("1", `["sequent://sessions","nonsense"]`), `"notifications":{}}}`},
		{listenTo("1", string(many)), `"code":-32602,"message":"a subscription may name 100 resources`},
		{listenTo("1", `[7]`), `"code":-32602,"message":"invalid params: they are not what subscriptions/listen takes"`},
		{listenTo("1", `"x"`), `"code":-32602`},
		{`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}`, `"code":-32600,"message":"invalid request: send initialize`},
	} {
		if got := converse(t, s, tt.line+"\n"); !strings.Contains(got, tt.want) || !strings.Contains(got, `"id":1`) {
			t.Errorf("to %.200s came %s, want %s in it", tt.line, got, tt.want)
		}
	}
}

func TestListenOverHTTP(t *testing.T) {
	t.Parallel()
	s, e := thinking()
	think(t, e.Owned("alice"), "one")
	think(t, e.Owned("bob"), "two")
	w := serveHTTP(t, HTTPConfig{Servers: []*Server{s}, Auth: testAuth})
	const uri = "sequent://sessions/one"
	head := "POST /mcp/standard\nAuthorization: Bearer token-a\nMcp-Protocol-Version: 2026-07-28\nMcp-Method: subscriptions/listen\n"
	body := "\n" + listenTo("7", `["`+uri+`","sequent://sessions/two"]`)
	w.want(head+"Accept: application/json\n"+body, http.StatusNotAcceptable, "Accept it")
	open := func() (next func() string, hangUp func()) {
		res := w.open(head + body)
		read := events(res.Body)
		return func() string {
			got, err := read()
			if err != nil {
				t.Errorf("the stream ends with %q, %v", got, err)
			}
			return got
		}, func() { _ = res.Body.Close() }
	}
	next, hangUp := open()
	other, hangUpOther := open()
	defer hangUpOther()
	for _, read := range []func() string{next, other} {
		// What belongs to another does not exist.
		if got, want := read(), told("7", "", uri); got != want {
			t.Fatalf("first came %s, want %s", got, want)
		}
	}
	for range 3 {
		think(t, e.Owned("bob"), "one") // which is another session
		think(t, e.Owned("alice"), "one")
		for _, read := range []func() string{next, other} {
			if got, want := read(), told("7", uri); got != want {
				t.Fatalf("then came %s, want %s", got, want)
			}
		}
	}
	hangUp()
	think(t, e.Owned("alice"), "one")
	if got, want := other(), told("7", uri); got != want {
		t.Errorf("after another has hung up came %s, want %s", got, want)
	}
	w.stop()
	if got, want := other(), over("7"); got != want {
		t.Errorf("at the end of the server came %s, want %s", got, want)
	}
	w.ended()
}

// A stream ends with its session, and when its token is revoked: then it does not tell of what comes after that.
func TestSubscribeOverHTTP(t *testing.T) {
	t.Parallel()
	for _, revoked := range []bool{false, true} {
		subscribeOverHTTP(t, revoked)
	}
}

func subscribeOverHTTP(t *testing.T, revoked bool) {
	tokens := &revocable{authTable: testAuth}
	s, e := thinking()
	think(t, e.Owned("alice"), "one")
	think(t, e.Owned("bob"), "two")
	w := serveHTTP(t, HTTPConfig{Servers: []*Server{s}, Auth: tokens})
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
	if tokens.revoked.Store(revoked); revoked {
		think(t, e.Owned("alice"), "one")
	} else {
		w.want("DELETE /mcp/standard"+head, http.StatusNoContent)
	}
	if got, err := next(); err == nil {
		t.Errorf("after the end came %s", got)
	}
}
