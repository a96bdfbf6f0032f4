package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/drafts"
	"github.com/sequent-dev/sequent/web"
)

// made makes a link and returns it, with its secret and the cookie for it.
func made(t *testing.T, url, token, body string) (s web.Share, secret, cookie string) {
	t.Helper()
	status, text, _ := ask(t, "POST", url+"/api/v1/shares", body, append(bearer(token), "Content-Type", "application/json")...)
	if status != http.StatusOK || json.Unmarshal([]byte(text), &s) != nil {
		t.Fatalf("%d %s", status, text)
	}
	page, secret, _ := strings.Cut(s.Path, "#")
	if page != "/ui/share" || len(secret) < 26 {
		t.Fatalf("the path of the link is %s", s.Path)
	}
	status, text, header := ask(t, "POST", url+"/api/v1/shared", `{"secret":"`+secret+`"}`, "Content-Type", "application/json")
	cookie, attributes, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	if status != http.StatusOK || !strings.Contains(text, s.ID) || strings.Contains(text, secret) ||
		!strings.HasPrefix(attributes, " Path=/api/v1/shared/"+s.ID+"; Max-Age=") || !strings.HasSuffix(attributes, "; HttpOnly; Secure; SameSite=Strict") {
		t.Fatalf("%d %s %s", status, text, header.Get("Set-Cookie"))
	}
	return s, secret, cookie
}

// A link opens its session and nothing else.
func TestShareBoundary(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e, Auth: scoped{"alice": auth.Write, "bob": auth.Write, "reader": auth.Read, "lead": auth.Admin}})
	ctx := sequent.WithContext(t.Context(), sequent.Context{Client: "code", Project: "/home/alice.smith/plans", Agent: "alices-agent"})
	if _, err := e.Owned("alice").Begin(ctx, "plan-7", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "Shown to all.", More: true})
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
	share, secret, cookie := made(t, url, "alice", `{"id":"plan-7"}`)
	if d := share.Expires.Sub(share.Created); d != sequent.DefaultShare {
		t.Errorf("the link lasts for %s", d)
	}
	base := url + "/api/v1/shared/" + share.ID + "/"
	for _, name := range []string{"session", "outline", "thoughts?from=1", "chain", "tree"} {
		for _, id := range []string{"", "id=other", "id=plan-7&owner=alice"} {
			name, query, _ := strings.Cut(name, "?")
			status, body, _ := ask(t, "GET", base+name+"?"+query+"&"+id, "", "Cookie", cookie)
			if status != http.StatusOK || strings.Contains(body, "secret") || strings.Contains(body, "alice") || strings.Contains(body, "plan-7") {
				t.Errorf("%s?%s: %d %s", name, id, status, body)
			}
		}
		for who, headers := range map[string][]string{
			"nobody": nil, "the owner of another": bearer("bob"), "the owner": bearer("alice"), "a guess": {"Cookie", "__Secure-sequent-share=" + share.ID},
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
	if event, _, data := next(); event != "session" || strings.Contains(data, "alice") || strings.Contains(data, "plan-7") {
		t.Errorf("the stream begins with %s %s", event, data)
	}
	if event, _, data := next(); event != "thoughts" || !strings.Contains(data, "Shown") {
		t.Errorf("the stream goes on with %s %s", event, data)
	}
	if strings.Contains(share.ID, secret[:8]) {
		t.Error("the id has a part of the secret")
	}

	// The cookie is of no use elsewhere, and neither is the secret.
	other, _, _ := made(t, url, "alice", `{"id":"other","seconds":60}`)
	name, _, _ := strings.Cut(cookie, "=")
	for _, path := range []string{
		"sessions", "search?q=a", "session?id=plan-7", "outline?id=plan-7", "events", "events?id=plan-7", "export?id=plan-7", "shares",
		"shared/" + other.ID + "/session", "shared/" + share.ID + "/search?q=a", "shared/" + share.ID + "/sessions", "shared/" + share.ID + "/export",
	} {
		for _, headers := range [][]string{{"Cookie", cookie}, {"Cookie", "__Host-sequent=" + secret}, {"Authorization", "Bearer " + secret}, {"Cookie", name + "=" + secret}} {
			if status, body, _ := ask(t, "GET", url+"/api/v1/"+path, "", headers...); status != http.StatusUnauthorized && status != http.StatusNotFound || strings.Contains(body, "Shown") {
				t.Errorf("%s with %q: %d %s", path, headers, status, body)
			}
		}
	}
	for path, body := range map[string]string{"notes": `{"id":"plan-7","seq":1,"kind":"wrong"}`, "shares": `{"id":"plan-7"}`, "store/load": `{}`} {
		if status, text, _ := ask(t, "POST", url+"/api/v1/"+path, body, "Cookie", cookie, "Content-Type", "application/json"); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	for body, want := range map[string]int{`{"secret":"` + share.ID + `"}`: 401, `{"secret":"plan-7"}`: 401, `{"secret":""}`: 401, `{}`: 401, `{`: 400} {
		if status, text, _ := ask(t, "POST", url+"/api/v1/shared", body, "Content-Type", "application/json"); status != want {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}

	// Only those who may write a session may share it.
	for token, want := range map[string]int{"bob": 404, "reader": 403, "": 401} {
		if status, body, _ := ask(t, "POST", url+"/api/v1/shares", `{"id":"plan-7"}`, append(bearer(token), "Content-Type", "application/json")...); status != want {
			t.Errorf("%q shares: %d %s", token, status, body)
		}
	}
	if status, body, _ := ask(t, "POST", url+"/api/v1/shares?owner=alice", `{"id":"plan-7"}`, append(bearer("lead"), "Content-Type", "application/json")...); status != http.StatusForbidden {
		t.Errorf("the administrator shares: %d %s", status, body)
	}
	for _, seconds := range []string{"-1", "31536001", "9223372036854775807"} {
		if status, body, _ := ask(t, "POST", url+"/api/v1/shares", `{"id":"plan-7","seconds":`+seconds+`}`, append(bearer("alice"), "Content-Type", "application/json")...); status != http.StatusBadRequest {
			t.Errorf("for %s s: %d %s", seconds, status, body)
		}
	}
}

// A link that is revoked ends its open streams within a second. Its owner revokes it, or an
// administrator, and nobody else.
func TestShareRevoked(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e, Auth: scoped{"alice": auth.Write, "bob": auth.Write, "lead": auth.Admin}})
	think(t, e.Owned("alice"), "plan", "One.")
	for _, by := range []string{"alice", "lead"} {
		share, secret, cookie := made(t, url, "alice", `{"id":"plan"}`)
		base := url + "/api/v1/shared/" + share.ID + "/"
		next := events(t, base+"events", "", "Cookie", cookie)
		next()
		next()
		think(t, e.Owned("alice"), "plan", "It goes on.")
		for event, _, data := next(); !strings.Contains(data, "It goes on."); event, _, data = next() {
			if event != "session" && event != "thoughts" {
				t.Fatal(event, data)
			}
		}
		if status, body, _ := ask(t, "DELETE", url+"/api/v1/shares/"+share.ID, "", bearer("bob")...); status != http.StatusNotFound {
			t.Errorf("bob revokes: %d %s", status, body)
		}
		if _, body, _ := ask(t, "GET", url+"/api/v1/shares", "", bearer("bob")...); body != `{"shares":[]}`+"\n" {
			t.Errorf("bob sees %s", body)
		}
		if status, body, _ := ask(t, "GET", url+"/api/v1/shares?all=true", "", bearer("bob")...); status != http.StatusForbidden {
			t.Errorf("bob sees all: %d %s", status, body)
		}
		query := map[string]string{"alice": "?id=plan", "lead": "?all=true"}[by]
		if status, body, _ := ask(t, "GET", url+"/api/v1/shares"+query, "", bearer(by)...); status != http.StatusOK || !strings.Contains(body, share.ID) || strings.Contains(body, secret) {
			t.Errorf("%s sees %d %s", by, status, body)
		}
		if status, body, _ := ask(t, "DELETE", url+"/api/v1/shares/"+share.ID, "", bearer(by)...); status != http.StatusOK {
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

// A link that expires ends its open streams.
func TestShareExpires(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e})
	think(t, e, "plan", "One.")
	share, _, cookie := made(t, url, "", `{"id":"plan","seconds":1}`)
	next := events(t, url+"/api/v1/shared/"+share.ID+"/events", "", "Cookie", cookie)
	event, _, data := next()
	for event == "session" || event == "thoughts" {
		event, _, data = next()
	}
	if event != "revoked" || time.Now().Before(share.Expires) {
		t.Errorf("%s %s", event, data)
	}
	// A viewer that ends with its window makes no links.
	key := web.NewKey()
	own := serve(t, web.Config{Engine: e, Key: key})
	if status, body, _ := ask(t, "POST", own+"/api/v1/shares", `{"id":"plan"}`, append(bearer(key.String()), "Content-Type", "application/json")...); status != http.StatusNotFound {
		t.Errorf("a link to a viewer: %d %s", status, body)
	}
}

// A link that masks shows no secret in any document or event, nor those that come later, nor one
// that only a later thought reveals to be one.
func TestShareMasked(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	board := drafts.New()
	url := serve(t, web.Config{Engine: e, Drafts: board, Auth: scoped{"alice": auth.Write}})
	alice := e.Owned("alice")
	const key, mail = "AKIAIOSFODNN7EXAMPLE", "ann@example.com"
	change := func(f func(c *sequent.Change) error) {
		t.Helper()
		if _, err := alice.Ensure(t.Context(), "plan", f); err != nil {
			t.Fatal(err)
		}
	}
	add := func(d sequent.Draft) {
		t.Helper()
		d.More = true
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
		if strings.Contains(body, key) || strings.Contains(body, "ann@") || strings.Contains(body, "IOSFODNN") {
			t.Errorf("%s has a secret: %s", what, body)
		}
	}
	share, _, cookie := made(t, url, "alice", `{"id":"plan","secrets":true,"redact":["[a-z]+@example[.]com","password is (\\S+)"]}`)
	if !share.Masked {
		t.Error("the link is not said to mask")
	}
	if _, body, _ := ask(t, "GET", url+"/api/v1/shares", "", bearer("alice")...); !strings.Contains(body, `"masked":true`) || strings.Contains(body, "example") {
		t.Errorf("the list is %s", body)
	}
	base := url + "/api/v1/shared/" + share.ID + "/"
	names := []string{"session", "outline", "thoughts?from=1&to=9", "chain", "tree", "chain?line=by+%5Bredacted%5D"}
	documents := func() {
		t.Helper()
		for _, name := range names {
			status, body, _ := ask(t, "GET", base+name, "", "Cookie", cookie)
			if status != http.StatusOK {
				t.Errorf("%s: %d %s", name, status, body)
			}
			clean(name, body)
			if !strings.HasPrefix(name, "chain") && name != "tree" && !strings.Contains(body, "[redacted]") {
				t.Errorf("%s masks nothing: %s", name, body)
			}
		}
	}
	documents()
	if _, body, _ := ask(t, "GET", base+"chain?line=by+%5Bredacted%5D", "", "Cookie", cookie); !strings.Contains(body, `"seq":2`) {
		t.Errorf("a line with a masked name is %s", body)
	}
	next := events(t, base+"events", "", "Cookie", cookie)
	until := func(want string) {
		t.Helper()
		for {
			event, _, data := next()
			if event == "" || event == "writing" {
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
	add(sequent.Draft{Number: 4, Text: "The password is hunter2-hunter2"})
	until("masked")
	documents()
	if _, body, _ := ask(t, "GET", base+"thoughts?from=1&to=9", "", "Cookie", cookie); strings.Contains(body, "hunter2") {
		t.Errorf("a text that is known to be a password is shown: %s", body)
	}
	// Without masks the same session is as it is, and expressions that cannot mask are refused.
	plain, _, other := made(t, url, "alice", `{"id":"plan"}`)
	if _, body, _ := ask(t, "GET", url+"/api/v1/shared/"+plain.ID+"/thoughts?from=1&to=9", "", "Cookie", other); !strings.Contains(body, key) {
		t.Errorf("without masks: %s", body)
	}
	for body, want := range map[string]string{
		`{"id":"plan","redact":["("]}`: "invalid regular expression", `{"id":"plan","redact":["` + strings.Repeat("a", 17<<10) + `"]}`: "limit_exceeded",
		`{"id":"nosuch","secrets":true}`: "session_not_found",
	} {
		if status, text, _ := ask(t, "POST", url+"/api/v1/shares", body, append(bearer("alice"), "Content-Type", "application/json")...); status == http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%.40s: %d %s", body, status, text)
		}
	}
	// A name that has a secret cannot be masked: then nothing is shown.
	change(func(c *sequent.Change) error { c.SetLabel(mail, "1"); return nil })
	for _, name := range names {
		if status, body, _ := ask(t, "GET", base+name, "", "Cookie", cookie); status != http.StatusForbidden || !strings.Contains(body, "not_maskable") {
			t.Errorf("%s with a label that cannot be masked: %d %s", name, status, body)
		}
	}
}
