package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/web"
)

// made makes a link and returns it, with its secret and the cookie for it.
func made(t *testing.T, url, token, body string) (s web.Link, secret, cookie string) {
	t.Helper()
	status, text, _ := ask(t, "POST", url+"/api/v1/links", body, append(bearer(token), "Content-Type", "application/json")...)
	if status != http.StatusOK || json.Unmarshal([]byte(text), &s) != nil {
		t.Fatalf("%d %s", status, text)
	}
	page, secret, _ := strings.Cut(s.Path, "#")
	if page != "/ui/link" || len(secret) < 26 {
		t.Fatalf("the path of the link is %s", s.Path)
	}
	status, text, header := ask(t, "POST", url+"/api/v1/linked", `{"secret":"`+secret+`"}`, "Content-Type", "application/json")
	cookie, attributes, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	if status != http.StatusOK || !strings.Contains(text, s.ID) || strings.Contains(text, secret) ||
		!strings.HasPrefix(attributes, " Path=/api/v1/linked/"+s.ID+"; Max-Age=") || !strings.HasSuffix(attributes, "; HttpOnly; Secure; SameSite=Strict") {
		t.Fatalf("%d %s %s", status, text, header.Get("Set-Cookie"))
	}
	return s, secret, cookie
}

// A link opens its session and nothing else.
func TestLinkBoundary(t *testing.T) {
	t.Parallel()
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	url := serve(t, web.Config{Engine: e, Store: store, Auth: scoped{"alice": auth.Write, "bob": auth.Write, "reader": auth.Read, "lead": auth.Admin}})
	ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin {
		return sequent.Origin{Client: "code", Project: "/home/alice.smith/plans", Agent: "alices-agent"}
	})
	if _, err := e.Owned("alice").Begin(ctx, "plan-7", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "Shown to all."})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Owned("alice").Update(ctx, "plan-7", func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 1, Kind: sequent.Wrong, Text: "No.", From: "alice"})
	}); err != nil {
		t.Fatal(err)
	}
	think(t, e.Owned("alice"), "other", "A secret.")
	link, secret, cookie := made(t, url, "alice", `{"id":"plan-7"}`)
	if d := link.Expires.Sub(link.Created); d != web.DefaultLifetime {
		t.Errorf("the link lasts for %s", d)
	}
	base := url + "/api/v1/linked/" + link.ID + "/"
	for _, name := range []string{"session", "session?line="} {
		for _, id := range []string{"", "id=other", "id=plan-7&owner=alice"} {
			name, query, _ := strings.Cut(name, "?")
			status, body, _ := ask(t, "GET", base+name+"?"+query+"&"+id, "", "Cookie", cookie)
			if status != http.StatusOK || strings.Contains(body, "secret") || strings.Contains(body, "alice") || strings.Contains(body, "plan-7") {
				t.Errorf("%s?%s: %d %s", name, id, status, body)
			}
		}
		for who, headers := range map[string][]string{
			"nobody": nil, "the owner of another": bearer("bob"), "the owner": bearer("alice"), "a guess": {"Cookie", "__Secure-sequent-link=" + link.ID},
		} {
			if status, body, _ := ask(t, "GET", base+name, "", headers...); status != http.StatusUnauthorized {
				t.Errorf("%s by %s: %d %s", name, who, status, body)
			}
		}
		if status, body, _ := ask(t, "GET", base+name, "", "Cookie", cookie, "Origin", "https://evil.example"); status != http.StatusForbidden {
			t.Errorf("%s from another page: %d %s", name, status, body)
		}
	}
	next := events(t, base+"events?id=other", "", "Cookie", cookie)
	if event, _, data := next(); event != "session" || strings.Contains(data, "alice") || strings.Contains(data, "plan-7") || !strings.Contains(data, "Shown") {
		t.Errorf("the stream begins with %s %s", event, data)
	}
	if strings.Contains(link.ID, secret[:8]) {
		t.Error("the id has a part of the secret")
	}

	// The cookie is of no use elsewhere, and neither is the secret.
	other, _, _ := made(t, url, "alice", `{"id":"other","seconds":60}`)
	name, _, _ := strings.Cut(cookie, "=")
	for _, path := range []string{
		"sessions", "search?q=a", "session?id=plan-7", "events", "events?id=plan-7", "export?id=plan-7", "links",
		"linked/" + other.ID + "/session", "linked/" + link.ID + "/search?q=a", "linked/" + link.ID + "/sessions", "linked/" + link.ID + "/export",
	} {
		for _, headers := range [][]string{{"Cookie", cookie}, {"Cookie", "__Host-sequent=" + secret}, {"Authorization", "Bearer " + secret}, {"Cookie", name + "=" + secret}} {
			if status, body, _ := ask(t, "GET", url+"/api/v1/"+path, "", headers...); status != http.StatusUnauthorized && status != http.StatusNotFound || strings.Contains(body, "Shown") {
				t.Errorf("%s with %q: %d %s", path, headers, status, body)
			}
		}
	}
	for path, body := range map[string]string{"notes": `{"id":"plan-7","seq":1,"kind":"wrong"}`, "links": `{"id":"plan-7"}`, "store/load": `{}`} {
		if status, text, _ := ask(t, "POST", url+"/api/v1/"+path, body, "Cookie", cookie, "Content-Type", "application/json"); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	for body, want := range map[string]int{`{"secret":"` + link.ID + `"}`: 401, `{"secret":"plan-7"}`: 401, `{"secret":""}`: 401, `{}`: 401, `{`: 400} {
		if status, text, _ := ask(t, "POST", url+"/api/v1/linked", body, "Content-Type", "application/json"); status != want {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}

	// Only those who may write a session may make a link to it.
	for token, want := range map[string]int{"bob": 404, "reader": 403, "": 401} {
		if status, body, _ := ask(t, "POST", url+"/api/v1/links", `{"id":"plan-7"}`, append(bearer(token), "Content-Type", "application/json")...); status != want {
			t.Errorf("a link by %q: %d %s", token, status, body)
		}
	}
	if status, body, _ := ask(t, "POST", url+"/api/v1/links?owner=alice", `{"id":"plan-7"}`, append(bearer("lead"), "Content-Type", "application/json")...); status != http.StatusForbidden {
		t.Errorf("a link by the administrator: %d %s", status, body)
	}
	for _, seconds := range []string{"-1", "31536001", "9223372036854775807"} {
		if status, body, _ := ask(t, "POST", url+"/api/v1/links", `{"id":"plan-7","seconds":`+seconds+`}`, append(bearer("alice"), "Content-Type", "application/json")...); status != http.StatusBadRequest {
			t.Errorf("for %s s: %d %s", seconds, status, body)
		}
	}
}

// A link that is revoked ends its open streams within a second. Its owner revokes it, or an
// administrator, and nobody else.
func TestLinkRevoked(t *testing.T) {
	t.Parallel()
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	url := serve(t, web.Config{Engine: e, Store: store, Auth: scoped{"alice": auth.Write, "bob": auth.Write, "lead": auth.Admin}})
	think(t, e.Owned("alice"), "plan", "One.")
	for _, by := range []string{"alice", "lead"} {
		link, secret, cookie := made(t, url, "alice", `{"id":"plan"}`)
		base := url + "/api/v1/linked/" + link.ID + "/"
		next := events(t, base+"events", "", "Cookie", cookie)
		next()
		think(t, e.Owned("alice"), "plan", "It goes on.")
		for event, _, data := next(); !strings.Contains(data, "It goes on."); event, _, data = next() {
			if event != "session" {
				t.Fatal(event, data)
			}
		}
		if status, body, _ := ask(t, "DELETE", url+"/api/v1/links/"+link.ID, "", bearer("bob")...); status != http.StatusNotFound {
			t.Errorf("bob revokes: %d %s", status, body)
		}
		if _, body, _ := ask(t, "GET", url+"/api/v1/links", "", bearer("bob")...); body != `{"links":[]}`+"\n" {
			t.Errorf("bob sees %s", body)
		}
		if status, body, _ := ask(t, "GET", url+"/api/v1/links?all=true", "", bearer("bob")...); status != http.StatusForbidden {
			t.Errorf("bob sees all: %d %s", status, body)
		}
		query := map[string]string{"alice": "?id=plan", "lead": "?all=true"}[by]
		if status, body, _ := ask(t, "GET", url+"/api/v1/links"+query, "", bearer(by)...); status != http.StatusOK || !strings.Contains(body, link.ID) || strings.Contains(body, secret) {
			t.Errorf("%s sees %d %s", by, status, body)
		}
		if status, body, _ := ask(t, "DELETE", url+"/api/v1/links/"+link.ID, "", bearer(by)...); status != http.StatusOK {
			t.Fatalf("%s revokes: %d %s", by, status, body)
		}
		begin := time.Now()
		event, _, data := next()
		for event == "session" {
			event, _, data = next()
		}
		if event != "revoked" {
			t.Errorf("after the revocation: %s %s", event, data)
		}
		t.Logf("the stream ended after %s", time.Since(begin))
		for _, path := range []string{"session", "events"} {
			if status, body, _ := ask(t, "GET", base+path, "", "Cookie", cookie); status != http.StatusUnauthorized {
				t.Errorf("%s after that: %d %s", path, status, body)
			}
		}
	}
}

// A link that expires ends its open streams, and opens nothing any more.
func TestLinkExpires(t *testing.T) {
	t.Parallel()
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	url := serve(t, web.Config{Engine: e, Store: store})
	think(t, e, "plan", "One.")
	link, secret, cookie := made(t, url, "", `{"id":"plan","seconds":1}`)
	next := events(t, url+"/api/v1/linked/"+link.ID+"/events", "", "Cookie", cookie)
	event, _, data := next()
	for event == "session" {
		event, _, data = next()
	}
	if event != "revoked" || time.Now().Before(link.Expires) {
		t.Errorf("%s %s", event, data)
	}
	for _, path := range []string{"session", "article?at=1", "events"} {
		if status, body, _ := ask(t, "GET", url+"/api/v1/linked/"+link.ID+"/"+path, "", "Cookie", cookie); status != http.StatusUnauthorized {
			t.Errorf("%s after that: %d %s", path, status, body)
		}
	}
	if status, body, _ := ask(t, "POST", url+"/api/v1/linked", `{"secret":"`+secret+`"}`, "Content-Type", "application/json"); status != http.StatusUnauthorized {
		t.Errorf("the secret after that: %d %s", status, body)
	}
	// A viewer that ends with its window makes no links.
	key := web.NewKey()
	own := serve(t, web.Config{Engine: e, Store: store, Key: key})
	if status, body, _ := ask(t, "POST", own+"/api/v1/links", `{"id":"plan"}`, append(bearer(key.String()), "Content-Type", "application/json")...); status != http.StatusNotFound {
		t.Errorf("a link to a viewer: %d %s", status, body)
	}
}

// A link shows no secret in any document or event, nor those that come later, nor one
// that only a later thought reveals to be one.
func TestLinkMasked(t *testing.T) {
	t.Parallel()
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	board := web.NewDrafts()
	url := serve(t, web.Config{Engine: e, Store: store, Drafts: board, Auth: scoped{"alice": auth.Write}})
	alice := e.Owned("alice")
	const key, mail = "AKIAIOSFODNN7EXAMPLE", "npm_Ab3xAb3xAb3xAb3xAb3xAb3xAb3xAb3xAb3x" // no real ones
	change := func(f func(c *sequent.Change) error) {
		t.Helper()
		if _, err := alice.Ensure(t.Context(), "plan", f); err != nil {
			t.Fatal(err)
		}
	}
	add := func(d sequent.Draft) {
		t.Helper()
		change(func(c *sequent.Change) error { _, err := c.Append(d); return err })
	}
	add(sequent.Draft{Text: "Why does " + key + " not work? Ask " + mail + ".", Note: "of " + mail, Branch: ""})
	add(sequent.Draft{Number: 2, Text: "hunter2-hunter2 fails.", Branch: "by " + mail, From: sequent.To(1)})
	change(func(c *sequent.Change) error { c.Conclude("Use " + key + "."); return nil })
	change(func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 1, Kind: sequent.Wrong, Text: "Not " + key + " of " + mail})
	})
	clean := func(what, body string) {
		t.Helper()
		if strings.Contains(body, key) || strings.Contains(body, "Ab3x") || strings.Contains(body, "IOSFODNN") {
			t.Errorf("%s has a secret: %s", what, body)
		}
	}
	link, _, cookie := made(t, url, "alice", `{"id":"plan"}`)
	base := url + "/api/v1/linked/" + link.ID + "/"
	documents := func() {
		t.Helper()
		status, body, _ := ask(t, "GET", base+"session", "", "Cookie", cookie)
		if status != http.StatusOK || !strings.Contains(body, "[redacted]") {
			t.Errorf("the document is %d %s", status, body)
		}
		clean("the document", body)
		for _, article := range []string{"article?at=1", "article?line=&line=by+%5Bredacted%5D"} {
			status, body, _ = ask(t, "GET", base+article, "", "Cookie", cookie)
			if status != http.StatusOK || !strings.Contains(body, "[redacted]") {
				t.Errorf("the %s is %d %s", article, status, body)
			}
			clean("the "+article, body)
		}
	}
	documents()
	next := events(t, base+"events", "", "Cookie", cookie)
	until := func(want string) {
		t.Helper()
		for {
			event, _, data := next()
			if event == "writing" {
				t.Fatalf("before %s: %s %s", want, event, data)
			}
			clean("the event "+event, data)
			if strings.Contains(event+data, want) {
				return
			}
		}
	}
	until("fails.")
	// A thought that arrives while the stream is open, after a model has begun to write it.
	if piece, _ := board.Begin(sequent.Key{Owner: "alice", ID: "plan"}, "", 3); piece != nil {
		t.Error("a draft is kept that no client follows")
	}
	own := events(t, url+"/api/v1/events?id=plan", "", bearer("alice")...) // which has what is being written
	own()
	piece, written := board.Begin(sequent.Key{Owner: "alice", ID: "plan"}, "", 3)
	piece("Later: AKIAIOSF")
	add(sequent.Draft{Number: 3, Text: "Later: " + key + " again."})
	for event, _, data := own(); !strings.Contains(data, "AKIAIOSF\""); event, _, data = own() {
		if event == "" {
			t.Fatal("the owner's stream has ended")
		}
	}
	written()
	until("Later: [redacted] again.")
	documents()
	change(func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 3, Kind: sequent.Wrong, Text: "Ask " + mail})
	})
	until("session")
	documents()
	// Now an earlier text is one, too: the page reads all again.
	add(sequent.Draft{Number: 4, Text: "Use postgres://app:hunter2-hunter2@db/app"})
	until("replaced")
	documents()
	if _, body, _ := ask(t, "GET", base+"session", "", "Cookie", cookie); strings.Contains(body, "hunter2") {
		t.Errorf("a text that is known to be a password is shown: %s", body)
	}
	// A name that has a secret cannot be masked: then nothing is shown.
	change(func(c *sequent.Change) error { c.SetLabel(mail, "1"); return nil })
	if status, body, _ := ask(t, "GET", base+"session", "", "Cookie", cookie); status != http.StatusForbidden || !strings.Contains(body, "not_maskable") {
		t.Errorf("with a label that cannot be masked: %d %s", status, body)
	}
}

// A session that is too large to be masked in memory is refused, and others are not.
func TestLinkTooLarge(t *testing.T) {
	t.Parallel()
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store, Limits: sequent.Limits{Bytes: -1}})
	url := serve(t, web.Config{Engine: e, Store: store})
	text := strings.Repeat("A long thought. ", 4096) // 64 KiB
	texts := make([]string, 130)
	for i := range texts {
		texts[i] = text
	}
	think(t, e, "large", texts...)
	think(t, e, "plan", "One.")
	for id, want := range map[string]int{"large": http.StatusForbidden, "plan": http.StatusOK} {
		link, _, cookie := made(t, url, "", `{"id":"`+id+`"}`)
		for range 2 {
			if status, body, _ := ask(t, "GET", url+"/api/v1/linked/"+link.ID+"/session", "", "Cookie", cookie); status != want || want != http.StatusOK && !strings.Contains(body, "too_large") {
				t.Errorf("%s: %d %.200s", id, status, body)
			}
		}
	}
}
